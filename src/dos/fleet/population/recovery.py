"""What does a supervisor find when it comes, and what becomes of each?"""

from collections.abc import Collection

from msgspec import Struct


class Left(Struct, frozen=True, kw_only=True):
    """A lane on which a worker was at work when the journal was last written."""

    lane: str
    holder: str = ""  # who has the lease; empty: nobody
    process_gone: bool = False  # by the system's word
    iterations: int = 0  # the last one that its run committed
    unit: str = ""  # begun, and not committed
    landed: bool = False  # the unit is on the target branch, or its landing was under way


class Found(Struct, frozen=True, kw_only=True):
    """In words, but for the lanes and units themselves."""

    adopted: list[str]
    fenced: list[str]
    resumed: list[str]
    repeated: list[str]
    skipped: list[str]
    adopted_lanes: list[str] = []

    @property
    def is_empty(self) -> bool:
        return not (self.adopted or self.fenced or self.resumed or self.repeated or self.skipped)


def plan(left: Collection[Left]) -> Found:
    dead = [each for each in left if not each.holder or each.process_gone]
    live = [each for each in left if each.holder and not each.process_gone]
    return Found(
        adopted=[f"{each.lane}: {each.holder}" for each in live],
        adopted_lanes=[each.lane for each in live],
        fenced=[
            f"{each.lane}: {each.holder} is gone"
            for each in left
            if each.holder and each.process_gone
        ],
        resumed=[
            f"{each.lane}: after iteration {each.iterations}" for each in dead if each.iterations
        ],
        repeated=[each.unit for each in dead if each.unit and not each.landed],
        skipped=[each.unit for each in dead if each.unit and each.landed],
    )
