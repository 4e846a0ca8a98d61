"""Gathers the claims of an agent that wants to stop, each checked against the repository.

What cannot be read is `Unknown`, and a claim that cannot be checked stays unchecked: neither is
ever counted as a lie.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from dos.claims import declared
from dos.claims.declared import Claim
from dos.claims.io import transcripts
from dos.claims.stop import CheckedClaim, Evidence, check_claim
from dos.errors import NameInvalid
from dos.text import validated_name
from dos.unknown import Unknown
from dos.verify import shipped

MOST_VERIFIED = 200

Verify = Callable[[Sequence[tuple[str, str]]], Sequence[shipped.Verdict]]


class StopRequest(Struct, frozen=True, kw_only=True):
    """Where to find what the agent said, or the unit that its caller names."""

    last_message: str | None = None  # of the event; None: it carries none
    event_transcript: str = ""  # that the event names
    transcript: str = ""  # read instead of what the event carries
    plan: str = ""
    phase: str = ""
    last_turns: int = 1


def gather(request: StopRequest, verify: Verify) -> Evidence:
    """Return the claims of the named unit, or of the agent's last turns, with their truth."""
    if request.plan and request.phase:
        claims = declared.extract("", plan=request.plan, phase=request.phase)
        return Evidence(results=_check_claims(claims, verify))
    text = read_last_turns(request)
    if isinstance(text, Unknown):
        return Evidence(unread=text.why)
    return Evidence(results=_check_claims(declared.extract(text), verify))


def read_last_turns(request: StopRequest) -> str | Unknown:
    """Return what the agent said last, or why that is unknown.

    The event's own message comes last: its transcript may not be written that far yet.
    """
    message = None if request.transcript else request.last_message
    if message is not None and request.last_turns == 1:
        return message
    path = request.transcript or request.event_transcript
    if not path:
        return _or_unknown(message, "the event neither carries nor names what was said")
    transcript = transcripts.read(path, last_turns=request.last_turns)
    if isinstance(transcript, Unknown):
        return _or_unknown(message, f"{path}: {transcript.why}")
    if message is None:
        return transcript.text
    return f"{transcript.text}\n{message}"


def _or_unknown(message: str | None, why: str) -> str | Unknown:
    """Return the message of the event, or why nothing is known without one."""
    if message is None:
        return Unknown(why)
    return message


def _check_claims(claims: Sequence[Claim], verify: Verify) -> tuple[CheckedClaim, ...]:
    """Verify the claims whose names are valid, up to a limit; the others stay unchecked."""
    named = [
        claim for claim in claims if _is_name(claim.plan, "plan") and _is_name(claim.phase, "phase")
    ]
    verified = named[:MOST_VERIFIED]
    verdicts: Sequence[shipped.Verdict] = ()
    if verified:
        verdicts = verify([(claim.plan, claim.phase) for claim in verified])
    truths = dict(zip(verified, verdicts, strict=True))
    rows = []
    for claim in claims:
        if claim in truths:
            rows.append(check_claim(claim, truths[claim]))
        elif claim in named:
            rows.append(_unchecked(claim, f"only {MOST_VERIFIED} claims are checked at once"))
        else:
            rows.append(_unchecked(claim, "no unit can have this name"))
    return tuple(rows)


def _unchecked(claim: Claim, why: str) -> CheckedClaim:
    """Return the claim without a verdict, and why there is none."""
    return CheckedClaim(claim=claim, shipped=None, source="unchecked", why=why)


def _is_name(text: str, what: str) -> bool:
    """Whether a text can be the name of a plan or a unit."""
    try:
        validated_name(text, what)
    except NameInvalid:
        return False
    return True
