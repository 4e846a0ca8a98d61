"""Which connections a door keeps open, and which one makes room for another.

An idle one, on which nothing was asked yet, is worth nothing to who opened it: it gives way to one
more. So nobody shuts others out by connecting often, and who asks at once always gets in.
"""

from collections import Counter

from msgspec import Struct


class Guest(Struct, eq=False, kw_only=True):
    """One open connection."""

    client: object
    is_idle: bool = True


FEW = 8  # connections of a client that asks for no more than it needs


class Room:
    """The open connections of a door, in the order in which they became what they are.

    The last quarter is for clients that have few of them.
    """

    def __init__(self, *, most: int, most_of_client: int) -> None:
        self._most = most
        self._most_of_client = most_of_client
        self._most_for_many = most - most // 4
        self._guests: dict[Guest, None] = {}

    def enter(self, client: object) -> tuple[Guest | None, Guest | None]:
        """Return the new connection of a client, and the one that has to end for it.

        Without the first, there is no place: all that could end are being answered.
        """
        leaving = None
        own = [guest for guest in self._guests if guest.client == client]
        if len(own) >= self._most_of_client:
            leaving = next(filter(_is_idle, own), None)
        elif len(self._guests) >= (self._most if len(own) < FEW else self._most_for_many):
            leaving = self._most_idle()
        else:
            return self._add(client), None
        if leaving is None:
            return None, None
        del self._guests[leaving]
        return self._add(client), leaving

    def set_idle(self, guest: Guest, *, is_idle: bool, client: object) -> None:
        """Note that a connection is asked something or waits for that again, and whose it is."""
        if guest in self._guests:
            del self._guests[guest]  # one that was idle before this one ends before it
            guest.is_idle = is_idle
            guest.client = client
            self._guests[guest] = None

    def is_crowded_by(self, client: object) -> bool:
        """Whether as many connections of a client are being answered as it may have."""
        asking = sum(guest.client == client and not guest.is_idle for guest in self._guests)
        return asking >= self._most_of_client

    def leave(self, guest: Guest) -> None:
        """Note the end of a connection."""
        self._guests.pop(guest, None)

    def _add(self, client: object) -> Guest:
        guest = Guest(client=client)
        self._guests[guest] = None
        return guest

    def _most_idle(self) -> Guest | None:
        """Return the oldest idle connection of the client that has most of them."""
        idle = list(filter(_is_idle, self._guests))
        if not idle:
            return None
        [(greedy, _)] = Counter(guest.client for guest in idle).most_common(1)
        return next(guest for guest in idle if guest.client == greedy)


def _is_idle(guest: Guest) -> bool:
    return guest.is_idle
