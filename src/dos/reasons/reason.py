"""A reason: why something was refused, held, blocked or stopped, and what clears it.

The rows are in `rows` and `stops`; `table` finds them by their tokens.
"""

from enum import StrEnum

from msgspec import Struct


class Needs(StrEnum):
    """Who has to act before the reason is gone.

    JSON has these values; people read `loop.tokens.needs_words`.
    """

    NOBODY = "nobody"  # it is over, or it clears by itself
    OPERATOR = "operator"  # a person
    TIME = "time"
    ENVIRONMENT = "environment"  # something on this machine


class ClearsBy(StrEnum):
    """What clears the reason. The loop decides by this alone whether to stop, retry or replan.

    It says what has to happen; `Needs` says who has to act, which follows from it in most rows.
    """

    REPLAN = "replan"
    OPERATOR = "operator"  # a person decides or corrects something
    TIME = "time"
    OTHER_WORKER = "other-worker"  # another worker finishes or releases its lane
    CODE_FIX = "code-fix"  # it comes back until its cause is fixed
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
    """The categories of dos-kernel, by which its scripts tell reasons apart.

    Nothing in dos decides by them. They are kept in JSON, and a dos.toml may declare reasons by
    them.
    """

    TRUE_DRAIN = "TRUE_DRAIN"  # nothing is left to do
    OPERATOR_GATE = "OPERATOR_GATE"  # a person or another worker has to act first
    STALE_CLAIM = "STALE_CLAIM"  # a claim differs from what git shows
    MISROUTE = "MISROUTE"  # the request was made of the wrong lane
    RENDERER_BUG = "RENDERER_BUG"  # a packet is not what its writer meant
    UNCLASSIFIED = "UNCLASSIFIED"


class Kind(StrEnum):
    """What the reason is for; docs/troubleshooting.md groups the reasons by it."""

    REFUSAL = "refusal"  # a lane or a launch was refused
    HOLD = "hold"  # a unit is not offered
    CAUSE = "cause"  # a gate is blocked
    RESULT = "result"  # an agent ended without a result
    STOP = "stop"  # a run stopped
    CALL = "call"  # a tool call was refused, left to a person, or noted


class Reason(Struct, frozen=True, kw_only=True):
    """One reason: its token for scripts, and what people need to know about it.

    Raises ValueError for an empty token and for an unknown category.
    """

    token: str
    category: Category
    message: str
    kind: Kind = Kind.REFUSAL
    needs: Needs = Needs.OPERATOR
    clears_by: ClearsBy = ClearsBy.OPERATOR
    retryable: bool = False  # the same request can succeed later, without a person
    fix: str = ""
    refusal: bool = True  # False: it refuses no launch
    see_also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.token.strip():
            raise ValueError("a reason has no token")
        if self.category not in list(Category):
            raise ValueError(
                f"reason {self.token}: {self.category!r} is none of {', '.join(Category)}"
            )


def make_reason(  # noqa: PLR0913
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
    """Return a reason. Who has to act, and whether a retry helps, follow from what clears it.

    Both can be given where they do not.
    """
    if needs is None:
        needs = NEEDS[clears_by]
    if retryable is None:
        retryable = clears_by in (ClearsBy.TIME, ClearsBy.OTHER_WORKER, ClearsBy.REPLAN)
    return Reason(
        token=token,
        kind=kind,
        category=category,
        message=message,
        needs=needs,
        clears_by=clears_by,
        retryable=retryable,
        fix=fix,
        refusal=kind not in (Kind.STOP, Kind.CALL),
        see_also=see_also,
    )
