"""The ladder of interventions: what may be done about a call, from watching it to holding it back.

Four rungs are built in; `[intervention.TOKEN]` adds others. A rung says whether the call is made,
and whether the agent gets a result that stands for it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from dos.errors import BadInput
from dos.fields import BadValue, Count, Table
from dos.text import quote

Words = tuple[str, ...]
BUILT_IN_RUNGS = {"OBSERVE": 0, "WARN": 10, "BLOCK": 20, "DEFER": 30}
PASS = "PASS"  # nothing is done


class Rung(Table, frozen=True, kw_only=True):
    """[intervention.TOKEN]: one more rung on the ladder of interventions of `dos hook-exit`."""

    rank: Count
    """How much it disturbs the agent; OBSERVE is 0, WARN 10, BLOCK 20, DEFER 30."""
    summary: str = ""
    """What it means, for `dos hook-exit`."""
    actuation: str = ""
    """What your program does for it; printed with --explain."""
    dispatches: bool = True
    """Whether the call is made."""
    returns_synthetic: bool = False
    """Whether the agent gets a result in place of that of a call that is not made."""
    see_also: Words = ()
    """What else to read, for `dos hook-exit --json`."""

    def __post_init__(self) -> None:
        if self.returns_synthetic and self.dispatches:
            raise BadValue(
                ("returns_synthetic",),
                "a call that is dispatched has a real result, not a synthetic one",
                "Add dispatches = false, or remove returns_synthetic.",
            )


_BUILT_IN = {
    "OBSERVE": Rung(rank=0, summary="it is noted"),
    "WARN": Rung(rank=10, summary="the agent is warned, and the call is made"),
    "BLOCK": Rung(
        rank=20,
        summary="the call is not made, and the agent is told why",
        dispatches=False,
        returns_synthetic=True,
    ),
    "DEFER": Rung(rank=30, summary="the call is not made, and a person is asked", dispatches=False),
}
NO_RUNGS: Mapping[str, Rung] = MappingProxyType({})
# What the exit code of another program's hook means without a mapping.
_FIXED = {0: PASS, 2: "BLOCK"}
_OTHERWISE = "WARN"


class HookExit(Struct, frozen=True, kw_only=True):
    """What the exit code of a hook means, with the keys that dos-kernel gave it."""

    code: int
    intervention: str
    reason: str
    matched: bool  # False: nothing says what the code means
    rung: Rung | None = None  # None: nothing is done
    answer: str = PASS  # PASS, or the built-in rung that does the same


def ladder(own: Mapping[str, Rung] = NO_RUNGS) -> dict[str, Rung]:
    """Return all rungs by token, the least disturbing first."""
    rungs = {**_BUILT_IN, **own}
    return dict(sorted(rungs.items(), key=lambda entry: entry[1].rank))


def read_mapping(words: list[str], rungs: Mapping[str, Rung]) -> dict[int, str]:
    """Return what `C=TOKEN,...` says of exit codes. Raises BadInput for what cannot be meant."""
    found: dict[int, str] = {}
    for entry in ",".join(words).split(","):
        if not entry.strip():
            continue
        number, _, token = (part.strip() for part in entry.partition("="))
        code = _exit_code(number, entry)
        if token.upper() not in (*rungs, PASS):
            raise BadInput(
                f"--map {quote(entry)}: {quote(token)} is no intervention",
                hint=f"Use one of: {', '.join((PASS, *rungs))}. [intervention] declares others.",
            )
        if found.setdefault(code, token.upper()) != token.upper():
            raise BadInput(
                f"--map names {code} twice: {found[code]} and {token.upper()}",
                hint="Keep one of them.",
            )
    return found


def _exit_code(number: str, entry: str) -> int:
    """Return the code of an entry; raises BadInput for one that is none, or that is fixed."""
    if not number.isascii() or not number.isdigit() or int(number) > 255:
        raise BadInput(
            f"--map {quote(entry)} names no exit code", hint="For example: --map 7=DEFER,9=OBSERVE"
        )
    if int(number) in _FIXED:
        raise BadInput(
            f"--map {quote(entry)}: {number} always means {_FIXED[int(number)]}",
            hint="Agent programs read 0 and 2 so themselves. Map another code.",
        )
    return int(number)


def judge_exit(code: int, mapping: Mapping[int, str], rungs: Mapping[str, Rung]) -> HookExit:
    """Return what an exit code means: 0 passes, 2 blocks, others by the mapping, else a warning."""
    token = _FIXED.get(code) or mapping.get(code)
    if token == PASS:
        return HookExit(
            code=code, intervention=PASS, matched=True, reason=f"exit code {code}: nothing is done"
        )
    intervention = token or _OTHERWISE
    rung = rungs[intervention]
    meaning = rung.summary or f"rank {rung.rank}"
    reason = f"exit code {code}: {meaning}"
    if token is None:
        reason = f"exit code {code} has no meaning of its own: {meaning}"
    return HookExit(
        code=code,
        intervention=intervention,
        matched=token is not None,
        reason=reason,
        rung=rung,
        answer=_equivalent(rung),
    )


def _equivalent(rung: Rung) -> str:
    """Return the built-in rung that has the same effect on the call."""
    if rung.returns_synthetic:
        return "BLOCK"
    if not rung.dispatches:
        return "DEFER"
    if rung.rank < BUILT_IN_RUNGS["WARN"]:
        return "OBSERVE"
    return "WARN"


def as_json(verdict: HookExit) -> dict[str, Any]:
    """Return the verdict with the released keys, and what its rung says."""
    data: dict[str, Any] = {
        "code": verdict.code,
        "intervention": verdict.intervention,
        "reason": verdict.reason,
        "matched": verdict.matched,
    }
    if verdict.rung is not None:
        data |= {
            "rank": verdict.rung.rank,
            "dispatches": verdict.rung.dispatches,
            "returns_synthetic": verdict.rung.returns_synthetic,
            "actuation": verdict.rung.actuation,
            "see_also": list(verdict.rung.see_also),
        }
    return data
