"""Record what an asker was told: denials, warnings, and questions to a person. Not a plain yes."""

from typing import TypeVar

from msgspec import structs

from dos.journal import streams
from dos.journal.events.doors import HookAnswered, SessionBound
from dos.journal.events.envelope import Fact
from dos.journal.store import Store
from dos.lease import Lease
from dos.permission.ask import Allow, Answer, Ask, AskPerson, Deny
from dos.text import replace_undecodable

LONGEST_REASON = 1_000  # characters
MOST_PATHS = 50
_NO_SESSION = "unnamed"
_LONGEST_SESSION = 200
F = TypeVar("F", bound=Fact)


def tell(store: Store, ask: Ask, answer: Answer, *, via: str) -> Answer:
    """Record what an asker is told, and return it. Raises StoreFailed.

    Each session is warned of a lane once: later it is told nothing. A plain allowance is not
    recorded.
    """
    if isinstance(answer, Allow):
        if not answer.note:
            return answer
        if _was_warned(store, ask, answer):
            return Allow()
    _append(store, ask, answer, via)
    return answer


def _append(store: Store, ask: Ask, answer: Answer, via: str) -> None:
    """Append a `hook_answered` to the stream of the session."""
    asker = ask.asker
    fact = HookAnswered(
        moment=ask.moment,
        action=_action(answer),
        reason_class=answer.reason_class,
        reason=_reason(answer),
        tool=ask.tool,
        paths=ask.footprint.paths,
        session=_short(asker.session, _LONGEST_SESSION),
        run_id=asker.run_id,
        lane=asker.lane,
        fence=asker.fence,
        via=via,
    )
    key = _key(answer) if isinstance(answer, Allow) else None
    store.record(session_stream(asker.session), storable(fact), key=key)


def _was_warned(store: Store, ask: Ask, answer: Allow) -> bool:
    """Whether this session was warned of the same lane before."""
    with store.backend.read(once=True) as view:
        return view.keyed(session_stream(ask.asker.session), _key(answer)) is not None


def bind_session(store: Store, session: str, lease: Lease, *, of_process: bool) -> None:
    """Make a conversation the holder of a lease, for the hooks that its program calls.

    With `of_process` only where these descend from the process of the lease; else a person has
    named the conversation. Binding it to the same lease again changes nothing. Raises StoreFailed.
    """
    fact = SessionBound(
        session=_short(session, _LONGEST_SESSION), lane=lease.lane, fence=lease.fence
    )
    key = f"fence/{lease.fence}"
    if of_process:
        fact = structs.replace(fact, pid=lease.pid, pid_started=lease.pid_started)
        key = f"{key}/process"
    store.record(bound_stream(session), fact, key=key)


def session_stream(session: str) -> str:
    """Return the stream of a session, whatever its program calls it."""
    return streams.session(_storable(session))


def bound_stream(session: str) -> str:
    """Return the stream of the leases that a session was bound to."""
    return streams.bound(_storable(session))


def _storable(session: str) -> str:
    """A session's name; a digest of one that no stream can have."""
    if not session:
        return _NO_SESSION
    if len(session) <= _LONGEST_SESSION and session.isprintable() and session.isascii():
        return session
    from hashlib import sha256  # no program that is known has such names

    return sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def storable(fact: F) -> F:
    """Return a fact with its texts as they can be stored: a program chose how long they are."""
    changes: dict[str, object] = {}
    for name in fact.__struct_fields__:
        value = getattr(fact, name)
        if isinstance(value, str):
            changes[name] = _short(value)
        elif isinstance(value, tuple):
            changes[name] = tuple(map(_short, value[:MOST_PATHS]))
    return structs.replace(fact, **changes)


def _short(text: str, longest: int = LONGEST_REASON) -> str:
    """A text of a program as it can be stored."""
    return replace_undecodable(text[:longest])[:longest]


def _reason(answer: Answer) -> str:
    match answer:
        case Allow():
            return answer.note
        case Deny():
            return answer.sentence
        case AskPerson():
            return answer.question


def _action(answer: Answer) -> str:
    """What was done about the call."""
    match answer:
        case Allow():
            return "WARN"
        case Deny():
            return "DENY"
        case AskPerson():
            return "ASK"


def _key(warning: Allow) -> str:
    """What makes a warning one for each session and lane."""
    return f"warned/{warning.reason_class}/{warning.about}"
