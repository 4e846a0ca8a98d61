"""What is said between dos and one running program, and which of its requests are still open.

Pure: it returns what is to be judged and what is to be sent. The worker's threads and the simulator
drive the same object.
"""

from collections.abc import Callable

from msgspec import Struct

from dos.agents.adapter import Settings, StreamState
from dos.agents.conversation import Asks, Conversation, Turn
from dos.permission import refusals
from dos.permission.ask import Allow, Deny

MOST_OPEN = 100  # requests that wait for an answer at once; more are denied


class Exchange(Struct, frozen=True, kw_only=True):
    """What follows from one line: lines to send, and requests that somebody has to judge."""

    replies: tuple[str, ...] = ()
    asks: tuple[Asks, ...] = ()


class Dialogue:
    """One conversation, in which each request gets exactly one answer.

    A second request under the name of an earlier one is not answered: the program then waits, and
    what it wanted is not done.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._open: dict[str, Asks] = {}
        self._seen: set[str] = set()
        self.state: StreamState = StreamState()

    @property
    def open_requests(self) -> tuple[Asks, ...]:
        """The requests that wait for an answer, oldest first."""
        return tuple(self._open.values())

    @property
    def is_over(self) -> bool:
        """Whether the program's work has ended: nothing more is said to it."""
        return self._conversation.is_over(self.state)

    def begin(self, prompt: str, settings: Settings) -> Exchange:
        """Open the conversation, before the program has printed anything."""
        return self._after(self._conversation.open(prompt, settings))

    def on_line(self, line: str) -> Exchange:
        """Take in one line of the program. After its end nothing is judged or sent."""
        was_over = self.is_over
        exchange = self._after(self._conversation.converse(self.state, line))
        if was_over or self.is_over:
            return Exchange(replies=() if was_over else exchange.replies)
        return exchange

    def answer(self, asked: Asks, answer: Allow | Deny) -> tuple[str, ...]:
        """Answer an open request; returns the lines to send, none where it is not open."""
        if self._open.pop(asked.id, None) is None or self.is_over:
            return ()
        turn = self._conversation.answer(self.state, asked, answer)
        self.state = turn.state
        return turn.replies

    def steer(self, message: str, record: Callable[[], object]) -> tuple[str, ...] | None:
        """Hand the program one more message; None: it takes none now.

        `record` is called before: where it raises, nothing is said.
        """
        if self.is_over:
            return None
        turn = self._conversation.steer(self.state, message)
        if turn is None:
            return None
        record()
        self.state = turn.state
        return turn.replies

    def _after(self, turn: Turn) -> Exchange:
        """Keep the new state, and sort out the requests that are new."""
        self.state = turn.state
        for request in turn.withdrawn:
            self._open.pop(request, None)
        replies = turn.replies
        asks: list[Asks] = []
        for request, line in turn.refused:
            if request not in self._seen or self._open.pop(request, None) is not None:
                self._seen.add(request)
                replies += (line,)
        for asked in turn.asks:
            if asked.id in self._seen:
                continue
            self._seen.add(asked.id)
            self._open[asked.id] = asked
            if len(self._open) > MOST_OPEN:
                replies += self.answer(asked, refusals.too_many(MOST_OPEN))
            else:
                asks.append(asked)
        return Exchange(replies=replies, asks=tuple(asks))
