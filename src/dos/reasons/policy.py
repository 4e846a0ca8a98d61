"""[reasons]: the reasons that a workspace declares, and how undeclared tokens are classified."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from dos.fields import Table

if TYPE_CHECKING:  # the whole table of reasons, which most verbs never need
    from dos.reasons.table import Registry

Category = Literal["TRUE_DRAIN", "OPERATOR_GATE", "STALE_CLAIM", "MISROUTE", "UNCLASSIFIED"]


class Reason(Table, frozen=True, kw_only=True):
    """[reasons.TOKEN]: a refusal reason that the workspace declares."""

    category: Category
    """Category that the reason belongs to."""
    refusal: bool = True
    """`dos man` shows that it refuses a launch; false: that a run stops for it. Decides nothing."""
    fix: str = ""
    """What clears it, as `dos man` shows it."""
    summary: str = ""
    """What it means, as `dos man` shows it."""
    see_also: tuple[str, ...] = ()
    """Related pages of `dos man`; `dos lint` checks those of the form `lane NAME`."""


class MorphologyRule(Table, frozen=True, kw_only=True):
    """[[reasons.morphology]]: the category of undeclared tokens that contain these words."""

    substring: Annotated[str, Meta(min_length=1)]
    """Whole words that a token contains one after the other, such as `LEASE_HELD`."""
    category: Category
    """Category of such a token; the first rule that fits decides."""


def _rules(category: Category, *substrings: str) -> tuple[MorphologyRule, ...]:
    """Return one rule for each of the word sequences, all with the same category."""
    return tuple(MorphologyRule(substring=substring, category=category) for substring in substrings)


# The order matters: the first rule that fits decides, so narrow words come before wide ones.
MORPHOLOGY = (
    *_rules(
        "STALE_CLAIM", "FALSE_SHIPPED", "FALSE_SHIP", "STALE_STAMP", "STAMP_DRIFT", "STAMPING_DRIFT"
    ),
    *_rules("OPERATOR_GATE", "OPERATOR", "SOAK"),
    *_rules("STALE_CLAIM", "INFLIGHT", "IN_FLIGHT"),
    *_rules("OPERATOR_GATE", "LEASE_HELD", "GATE", "GATED"),
    *_rules("TRUE_DRAIN", "DRAINED", "DRAIN", "NO_DISPATCHABLE"),
    *_rules("MISROUTE", "MISROUTE", "MISROUTED", "MIS_ROUTE", "MIS_ROUTED"),
)


def built_in_tokens() -> frozenset[str]:
    """Return the tokens of the built-in reasons, which a workspace cannot declare again."""
    from dos.reasons import table

    return frozenset(reason.token.upper() for reason in table.TABLE)


def registry(declared: Mapping[str, Reason]) -> "Registry":
    """Return the built-in reasons and the declared ones, which are cleared by a person.

    Raises ValueError for a token that a built-in reason has already.
    """
    from dos.reasons import table
    from dos.reasons.reason import Kind

    return table.BUILT_IN.extend(
        table.Reason(
            token=token,
            category=table.Category(reason.category),
            message=reason.summary,
            kind=Kind.REFUSAL if reason.refusal else Kind.STOP,
            fix=reason.fix,
            refusal=reason.refusal,
            see_also=reason.see_also,
        )
        for token, reason in declared.items()
    )
