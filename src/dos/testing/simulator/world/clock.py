"""The one clock of a simulation: it moves only when the heap of what is due says so."""

from msgspec import Struct

BEGIN_MS = 1_700_000_000_000  # what people's clocks show when a simulation begins


class VirtualClock(Struct):
    """What the store reads. A host's clock may be minutes off; the store's is not."""

    now_ms: int = 0
    wrong_by_ms: int = 0  # only a planted bug sets it

    def wall_ms(self) -> int:
        return BEGIN_MS + self.now_ms

    def lease_ms(self) -> int:
        return self.now_ms + self.wrong_by_ms

    def boot(self) -> str:
        return "simulated"
