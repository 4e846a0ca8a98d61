"""What is known of a reason: what it means, what clears it, who has to be asked for that."""

from enum import StrEnum

from msgspec import Struct


class Needs(StrEnum):
    """Who has to do something before it is over."""

    NOBODY = "nobody"  # it is over, or it clears itself
    OPERATOR = "operator"  # a person
    TIME = "time"
    ENVIRONMENT = "environment"  # something on this machine


class ClearsBy(StrEnum):
    """What clears it; this alone says whether to stop, to try another unit or to replan."""

    REPLAN = "replan"
    OPERATOR = "operator"  # a person decides or corrects something
    TIME = "time"
    OTHER_WORKER = "other-worker"  # another worker finishes or gives way
    CODE_FIX = "code-fix"  # it comes back until what produces it is mended
    NOBODY = "nobody"  # there is nothing to clear


NEEDS = {
    ClearsBy.REPLAN: Needs.NOBODY,
    ClearsBy.OPERATOR: Needs.OPERATOR,
    ClearsBy.TIME: Needs.TIME,
    ClearsBy.OTHER_WORKER: Needs.TIME,
    ClearsBy.CODE_FIX: Needs.OPERATOR,
    ClearsBy.NOBODY: Needs.NOBODY,
}


class Category(StrEnum):
    TRUE_DRAIN = "TRUE_DRAIN"  # nothing is left to do
    OPERATOR_GATE = "OPERATOR_GATE"  # somebody has to act, or to finish, first
    STALE_CLAIM = "STALE_CLAIM"  # what was claimed and what is true differ
    MISROUTE = "MISROUTE"  # it was asked of the wrong place
    RENDERER_BUG = "RENDERER_BUG"  # what was written down is not what was meant
    UNCLASSIFIED = "UNCLASSIFIED"


class Kind(StrEnum):
    """What it is a reason for."""

    REFUSAL = "refusal"  # a lane or a launch was refused
    HOLD = "hold"  # a unit is not offered
    CAUSE = "cause"  # a gate is blocked
    RESULT = "result"  # an agent ended without a result of its own
    STOP = "stop"  # a run stopped


class Reason(Struct, frozen=True, kw_only=True):
    token: str
    category: Category
    message: str
    kind: Kind = Kind.REFUSAL
    needs: Needs = Needs.OPERATOR
    clears_by: ClearsBy = ClearsBy.OPERATOR
    retryable: bool = False  # the same request can succeed later, with nothing changed by a person
    fix: str = ""
    refusal: bool = True  # False: it refuses nothing, a run only stopped for it
    see_also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.token.strip():
            raise ValueError("a reason has no token")
        if self.category not in list(Category):
            raise ValueError(f"reason {self.token}: {self.category!r} is none of {', '.join(Category)}")


def reason(
    kind: Kind,
    token: str,
    category: Category,
    clears_by: ClearsBy,
    message: str,
    fix: str,
    *see_also: str,
    needs: Needs | None = None,
    retryable: bool | None = None,
) -> Reason:
    """A row; who is needed and whether trying again helps follow from what clears it, unless they are given."""
    again = clears_by in (ClearsBy.TIME, ClearsBy.OTHER_WORKER, ClearsBy.REPLAN)
    return Reason(
        token=token,
        kind=kind,
        category=category,
        message=message,
        needs=NEEDS[clears_by] if needs is None else needs,
        clears_by=clears_by,
        retryable=again if retryable is None else retryable,
        fix=fix,
        refusal=kind is not Kind.STOP,
        see_also=see_also,
    )
