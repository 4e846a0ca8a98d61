"""How long to wait before something that failed is tried again."""

from collections.abc import Iterator

from msgspec import Struct


class Backoff(Struct, frozen=True):
    """The waits after the first, the second, ... failure in a row; the last one is also for all that follow.

    In whatever unit of time its maker names.
    """

    delays: tuple[float, ...]

    def delay(self, failures: int) -> float:
        """How long to wait after so many failures in a row: not at all before the first."""
        if failures <= 0:
            return 0
        return self.delays[min(failures, len(self.delays)) - 1]

    def delays_before_attempts(self, tries: int) -> Iterator[float]:
        """How long to wait before each of so many tries, the first of which is made at once."""
        return (self.delay(failures) for failures in range(tries))


def exponential_backoff(first: float, *, cap: float, factor: float = 2.0) -> Backoff:
    """Each wait is `factor` times as long as the one before, and none is longer than the cap."""
    delays = [min(first, cap)]
    while 0 < delays[-1] < cap:
        delays.append(min(delays[-1] * factor, cap))
    return Backoff(tuple(delays))
