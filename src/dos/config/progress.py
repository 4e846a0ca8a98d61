"""The tables that say when work that goes on counts as going nowhere."""

from typing import Annotated, Literal

from msgspec import Meta

from dos.config.checks import BadValue, Count, Positive, Table

Ratio = Annotated[float, Meta(ge=0, le=1_000_000)]


class Productivity(Table, frozen=True, kw_only=True):
    """How little a step may do before its work counts as fading."""

    min_steps: Count = 3
    floor: Count = 500


class Efficiency(Table, frozen=True, kw_only=True):
    """How much work a token has to buy, once enough of them are spent to tell."""

    min_tokens: Count = 1000
    floor: Ratio = 0.0


class Improve(Table, frozen=True, kw_only=True):
    """Which changes of a loop that improves its own work are kept, and when a person is asked."""

    max_consecutive_reverts: Positive = 3
    efficiency_floor: Ratio = 0.0
    min_tokens_for_efficiency: Count = 1000


class Breaker(Table, frozen=True, kw_only=True):
    """How many failures of a kind are too many, and who is asked then; 0 switches a limit off."""

    max_consecutive: Count = 3
    max_total: Count = 20
    on_trip: Literal["none", "judge", "human"] = "none"

    def __post_init__(self) -> None:
        if not self.max_consecutive and not self.max_total:
            raise BadValue(
                ("max_consecutive",),
                "max_consecutive and max_total are both 0, so the breaker never trips",
                "Give at least one of them a number.",
            )


class Marker(Table, frozen=True, kw_only=True):
    """How often a turn is held open to wait."""

    max_streak: Count = 4
    arm_on_env: tuple[str, ...] = ("DOS_LOOP", "CID_RUN_ID")
    respect_stop_hook_active: bool = True


class NoopStreak(Table, frozen=True, kw_only=True):
    """How many turns in a row may do nothing."""

    max_streak: Count = 4
