"""The virtual clock of a simulation: it moves only when the scheduler takes the next entry."""

from msgspec import Struct

BEGIN_MS = 1_700_000_000_000  # the wall-clock time at which a simulation begins


class VirtualClock(Struct):
    """The clock of the store. A host's clock may be minutes off; the store's is not."""

    now_ms: int = 0
    wrong_by_ms: int = 0  # set only by a planted bug

    def wall_ms(self) -> int:
        return BEGIN_MS + self.now_ms

    def lease_ms(self) -> int:
        return self.now_ms + self.wrong_by_ms

    def boot(self) -> str:
        return "simulated"
