"""The summary of a session in words: what landed, what was claimed, what crashed, what waits."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from dos.backlog.waiting import Waiting
from dos.journal.events.envelope import Event
from dos.journal.fold import fold
from dos.limits import quota
from dos.limits.quota import Key, Limit
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions, urgent_first
from dos.report.session import (
    Crash,
    Incident,
    LandingProof,
    LimitPeriod,
    Session,
    UnprovenClaim,
    Wait,
)
from dos.report.session_fold import fold_session
from dos.text import plural
from dos.times import format_duration
from dos.units.unit import Landing

LONGEST_CLAIM = 200


class Summary(Struct, kw_only=True):
    """The lines of each part; the field names are keys of `dos up --json`."""

    landed: list[str] = field(default_factory=list)
    disbelieved: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    limited: list[str] = field(default_factory=list)
    salvaged: list[str] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # commits and edits of the user
    stopped: list[str] = field(default_factory=list)
    idle: str = ""  # why a fleet that was started has nothing to show


def summarize_events(events: Iterable[Event], waiting: Sequence[Waiting] = ()) -> Summary:
    """Summarize events and what lanes and units wait for.

    Whether what landed is still there is not checked: that would take a verdict for each landing.
    """
    all_events = list(events)
    open_questions = urgent_first(fold(Decisions(), all_events))
    questions = [entry.question for entry in open_questions]
    return summarize(fold_session(all_events), questions=questions, waiting=waiting)


def summarize(
    session: Session,
    proofs: Mapping[str, LandingProof] = {},
    questions: Sequence[AnyQuestion] = (),
    own: Sequence[str] = (),
    waiting: Sequence[Waiting] = (),
) -> Summary:
    """Summarize a session.

    `proofs` are by commit, `own` are commits and edits of the user, `waiting` is what lanes and
    units wait for.
    """
    return Summary(
        landed=[_describe_landing(entry.landing, proofs) for entry in session.landed],
        disbelieved=[_describe_claim(claim) for claim in session.disbelieved],
        crashed=[_describe_crash(crash) for crash in session.crashed],
        limited=[
            *(_limit_line(limit) for limit in session.limits),
            *(_describe_wait(wait) for wait in session.waits),
        ],
        incidents=[_describe_incident(incident) for incident in session.incidents],
        own=list(own),
        salvaged=[f"{saved.ref}  {saved.why}" for saved in session.salvaged],
        stopped=_needs_attention(questions, waiting),
        idle=_describe_idle(session),
    )


def needs_person_without_question(waiting: Sequence[Waiting]) -> list[Waiting]:
    """Return what only a person clears and no open question asks about."""
    return [wait for wait in waiting if wait.needs_person and not wait.question]


def render(summary: Summary, if_empty: str = "Nothing happened") -> str:
    """Return the summary as text; a part without lines is left out.

    Where no part has lines, it is why the fleet was idle, or else `if_empty`.
    """
    parts = [
        _part("Landed", summary.landed),
        _part("Claimed but not delivered", summary.disbelieved),
        _part("Crashed", summary.crashed),
        _part("Waited", summary.limited),
        _part("Incidents: an agent changed your branch or checkout itself", summary.incidents),
        _part("Your own commits and edits", summary.own),
        _part("Saved work that did not land", summary.salvaged),
        _part("Needs attention", summary.stopped),
    ]
    return "\n\n".join(filter(None, parts)) or summary.idle or if_empty


def _needs_attention(questions: Sequence[AnyQuestion], waiting: Sequence[Waiting]) -> list[str]:
    lines = []
    for question in questions:
        lines.append(f"{question.text}  (dos decisions show {question.id})")
    for wait in needs_person_without_question(waiting):
        lines.append(f"{wait.subject}: {wait}  ({wait.clears_with})")
    return lines


def _describe_idle(session: Session) -> str:
    """Return how a fleet ended that was started and has started no agent; "" for any other."""
    if not session.starts or session.bars:
        return ""
    if session.ended:
        return f"No agent was started: {session.ended}"
    return "No agent was started yet; `dos top` shows why"


def describe_no_result(session: Session) -> str:
    """Return what stands in place of a summary without lines: nothing was decided so far."""
    if not session.bars:
        return "Nothing happened"
    started = plural(len(session.bars), "agent")
    return f"No result yet: {started} started, and none was judged; `dos top` shows the lanes"


def _describe_landing(landing: Landing, proofs: Mapping[str, LandingProof]) -> str:
    line = f"{landing.unit}  {landing.commit[:9]} on {landing.branch}"
    proof = proofs.get(landing.commit)
    if proof is None:
        return line
    return f"{line}  {proof.line}"


def _describe_claim(claim: UnprovenClaim) -> str:
    if not claim.claim:
        return f"{claim.unit}: {claim.fact}"
    quoted = claim.claim
    if len(quoted) > LONGEST_CLAIM:
        quoted = quoted[: LONGEST_CLAIM - 1] + "…"
    return f"{claim.unit}: said {quoted!r}; {claim.fact}"


def _describe_crash(crash: Crash) -> str:
    return f"{crash.unit or crash.lane}: {crash.what}; {crash.then or 'not tried again yet'}"


def _describe_incident(incident: Incident) -> str:
    branch = incident.branch
    if branch == "HEAD":
        branch = "the HEAD of your checkout"
    parts = [f"{incident.lane or incident.run_id}: {incident.found}; on {branch}"]
    if incident.commits:
        parts.append("  " + ", ".join(commit[:9] for commit in incident.commits))
    parts.append("; it does not count as a landing")
    return "".join(parts)


def _limit_line(limit: LimitPeriod) -> str:
    return f"{limit.lane or 'fleet'}: {describe_limit(limit)}; {limit_duration(limit)}"


def describe_limit(period: LimitPeriod) -> str:
    """Return which limit of which provider it was, in the words of `dos limits`."""
    key = Key(vendor=period.vendor, account=period.account, model=period.model)
    return quota.describe(Limit(key=key, ending=period.ending))


def limit_duration(limit: LimitPeriod) -> str:
    """Return for how long a provider has refused, or refused, requests."""
    duration = format_duration(limit.seconds)
    if limit.is_over:
        return f"available again after {duration}"
    return f"unavailable for {duration} so far"


def _describe_wait(wait: Wait) -> str:
    verb = "has waited"
    if wait.is_over:
        verb = "waited"
    detail = ""
    if wait.detail:
        detail = f" ({wait.detail})"
    return f"{wait.lane}: {verb} {format_duration(wait.seconds)} for {wait.why}{detail}"


def _part(title: str, lines: list[str]) -> str:
    """Return a title with its count and one line for each entry; "" without entries."""
    if not lines:
        return ""
    one_line_each = ["\\n".join(line.splitlines()) for line in lines]
    return "\n".join([f"{title}: {len(lines)}", *(f"  {line}" for line in one_line_each)])
