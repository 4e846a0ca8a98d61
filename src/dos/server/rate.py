"""How many requests are answered: each client has a bucket that refills with time."""

from collections import OrderedDict


class Rate:
    """Allows `per_second` requests of each client, and `burst` at once.

    The clients that asked longest ago are forgotten: their buckets are full again by then.
    """

    def __init__(self, *, per_second: float, burst: float, most_clients: int = 1000) -> None:
        self._per_second = per_second
        self._burst = burst
        self._most_clients = most_clients
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()

    def used(self, client: object, now: float) -> float:
        """Return how much of its burst a client has used at this time (in seconds)."""
        left, since = self._buckets.get(client, (self._burst, now))
        return max(0.0, self._burst - left - max(0.0, now - since) * self._per_second)

    def allows(self, client: object, now: float) -> bool:
        """Whether a client may ask at this time (in seconds); it is counted if it may."""
        left = self._burst - self.used(client, now)
        is_allowed = left >= 1
        self._buckets[client] = (left - 1 if is_allowed else left, now)
        self._buckets.move_to_end(client)
        while len(self._buckets) > self._most_clients:
            self._buckets.popitem(last=False)
        return is_allowed


class SharedRate:
    """A bucket for each client, and one for all of them together.

    Who has asked little of late is answered also when the common one is empty: those who emptied
    it do not shut out the others.
    """

    def __init__(self, *, each: Rate, all_together: Rate, little: float) -> None:
        self._each = each
        self._all_together = all_together
        self._little = little

    def allows(self, client: object, now: float) -> bool:
        """Whether a client may ask at this time (in seconds); it is counted if it may."""
        is_quiet = self._each.used(client, now) < self._little
        if not self._each.allows(client, now):
            return False
        has_room = self._all_together.allows("", now)
        return has_room or is_quiet
