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

    def allows(self, client: object, now: float) -> bool:
        """Whether a client may ask at this time (in seconds); it is counted if it may."""
        left, since = self._buckets.pop(client, (self._burst, now))
        left = min(self._burst, left + max(0.0, now - since) * self._per_second)
        is_allowed = left >= 1
        self._buckets[client] = (left - 1 if is_allowed else left, now)
        while len(self._buckets) > self._most_clients:
            self._buckets.popitem(last=False)
        return is_allowed
