"""What an agent claims when it wants to stop, and what the repository says of each claim."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from dos.claims import declared
from dos.claims.declared import Claim
from dos.claims.hook_dialects import StopEvent
from dos.claims.io import transcripts
from dos.claims.stop import CheckedClaim, Evidence, check_claim
from dos.errors import NameInvalid
from dos.text import validated_name as checked_name
from dos.unknown import Unknown
from dos.verify import shipped

MOST_VERIFIED = 200

Verify = Callable[[Sequence[tuple[str, str]]], Sequence[shipped.Verdict]]


class StopRequest(Struct, frozen=True, kw_only=True):
    event: StopEvent = StopEvent()
    transcript: str = ""  # read instead of what the event says
    plan: str = ""
    phase: str = ""
    last_turns: int = 1


def gather(ask: StopRequest, verify: Verify) -> Evidence:
    if ask.plan and ask.phase:
        return Evidence(
            results=_check_claims(declared.extract("", plan=ask.plan, phase=ask.phase), verify)
        )
    text = read_last_turns(ask)
    if isinstance(text, Unknown):
        return Evidence(unread=text.why)
    return Evidence(results=_check_claims(declared.extract(text), verify))


def read_last_turns(ask: StopRequest) -> str | Unknown:
    """The last turns. What the event carries is what was said last; its transcript may not be written that far yet."""
    last = None if ask.transcript else ask.event.last_message
    if last is not None and ask.last_turns == 1:
        return last
    path = ask.transcript or ask.event.transcript
    if not path:
        return (
            last
            if last is not None
            else Unknown("the event neither carries nor names what was said")
        )
    found = transcripts.read(path, last_turns=ask.last_turns)
    if isinstance(found, Unknown):
        return last if last is not None else Unknown(f"{path}: {found.why}")
    return found.text if last is None else f"{found.text}\n{last}"


def _check_claims(found: Sequence[Claim], verify: Verify) -> tuple[CheckedClaim, ...]:
    named = [
        claim for claim in found if _is_name(claim.plan, "plan") and _is_name(claim.phase, "phase")
    ]
    asked = named[:MOST_VERIFIED]
    truths = verify([(claim.plan, claim.phase) for claim in asked]) if asked else ()
    told = dict(zip(asked, truths, strict=True))
    return tuple(
        check_claim(claim, told[claim]) if claim in told else _unchecked(claim, named)
        for claim in found
    )


def _unchecked(claim: Claim, named: Sequence[Claim]) -> CheckedClaim:
    why = (
        f"only {MOST_VERIFIED} claims are checked at once"
        if claim in named
        else "no unit has such a name"
    )
    return CheckedClaim(claim=claim, shipped=None, source="unchecked", why=why)


def _is_name(text: str, what: str) -> bool:
    try:
        checked_name(text, what)
    except NameInvalid:
        return False
    return True
