"""Does a commit name units besides the one that it was made for?

One commit that names six units would ship six, five of them without their acceptance.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from dos.verify.naming import Message, Name, Rung, trailers, words

# By these a commit ships a unit alone. Any other way counts where the changed files speak for it: they are asked.
_PLAIN = frozenset(
    {Rung.DIRECT, Rung.GIT_TRAILER, Rung.TRAILER, Rung.RELEASE_PREFIX, Rung.BODY_MENTION}
)
# What may be the name of a unit: plan/phase, or an id with a number in it, alone or after its plan.
_NAME = re.compile(r"[^\s/]+(?:/[^\s/]+)+|(?:[\w.'\-]+:?[ \t]+)?(?=\D*\d)[\w.'\-]+")


class Named(Struct, frozen=True, kw_only=True):
    plainly: tuple[str, ...] = ()  # the other units, as their plans or the trailers call them
    faintly: tuple[tuple[str, str], ...] = ()  # plan and phase of those that it may ship


def others(message: Message, claimed: Name, declared: Iterable[Name]) -> Named:
    """The units besides the claimed one that a message names. A unit that is spoken of in prose is not named."""
    said = words(f"{message.subject}\n{message.body}")
    plainly: dict[str, None] = {}
    known = [claimed]  # the units whose names in the trailers need no second look
    faintly: list[tuple[str, str]] = []
    for unit in declared:
        if unit.is_of(claimed.plan, claimed.phase) or not any(
            needle <= said for needle in unit.needles()
        ):
            continue
        naming = unit.named_by(message)
        if naming is None or naming.negated:
            continue
        if naming.rung in _PLAIN and not naming.faint:
            plainly[f"{unit.plan}/{unit.phase}"] = None
            known.append(unit)
        else:
            faintly.append((unit.plan, unit.phase))
    for listed, faint in trailers(message):
        # Also one that no plan declares yet: it would be done before anybody asked for it.
        foreign = (
            name
            for name in listed
            if _NAME.fullmatch(name) and not any(_is_meant(each, name) for each in known)
        )
        plainly |= {} if faint else dict.fromkeys(foreign)
    return Named(plainly=tuple(plainly), faintly=tuple(faintly))


def _is_meant(unit: Name, name: str) -> bool:
    """Whether a name in a trailer is that of the unit, or its id without the plan: which is careless, and no lie."""
    return unit.is_called(name) or name.casefold() in {
        spelling.casefold() for spelling in unit.spellings
    }
