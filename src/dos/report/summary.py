"""The report of a session in words and as JSON.

`summarize` makes the lines of each part: what landed, what was claimed, what crashed, what waits;
`dos up` prints them when it ends. `ReportData` is all that `dos report` shows, and `html` makes a
page of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field, structs, to_builtins

from dos.backlog.waiting import Waiting
from dos.journal.events.envelope import Event
from dos.journal.fold import fold
from dos.limits import quota
from dos.limits.quota import Key, Limit
from dos.limits.state.costs import Costs
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions, urgent_first
from dos.questions.view import QuestionRow
from dos.report.event_text import parked_for
from dos.report.session import (
    Crash,
    Incident,
    LandingProof,
    LimitPeriod,
    RefusedCalls,
    Session,
    UnprovenClaim,
    Wait,
)
from dos.report.session_fold import fold_session
from dos.text import plural
from dos.times import format_duration
from dos.units.unit import Landing, LandingEntry

SCHEMA = "dos.report/1"
LONGEST_CLAIM = 200
SHORTEST_WAIT = 1.0  # seconds; a shorter wait gets no line


class Summary(Struct, kw_only=True):
    """The lines of each part; the field names are keys of `dos up --json`.

    Each line is a sentence for people; `dos report --json` has the same facts as values.
    """

    landed: list[str] = field(default_factory=list)
    disbelieved: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    limited: list[str] = field(default_factory=list)
    salvaged: list[str] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # calls of agents, before they happened
    own: list[str] = field(default_factory=list)  # commits and edits of the user
    stopped: list[str] = field(default_factory=list)
    idle: str = ""  # why a fleet that was started has nothing to show


def summarize_events(events: Iterable[Event], waiting: Sequence[Waiting] = ()) -> Summary:
    """Summarize events and what lanes and units wait for.

    Whether what landed is still there is not checked: that would take a verdict for each landing,
    and `dos up` prints this when it ends.
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
    units wait for. What only a person clears ends up in `stopped`, whether a question asks for it
    or not.
    """
    return Summary(
        landed=[_describe_landing(entry.landing, proofs) for entry in session.landed],
        disbelieved=[_describe_claim(claim) for claim in session.disbelieved],
        crashed=[_describe_crash(crash) for crash in session.crashed],
        limited=[
            *(_limit_line(limit) for limit in session.limits),
            *_describe_waits(session.waits),
        ],
        incidents=[_describe_incident(incident) for incident in session.incidents],
        refused=[describe_refused(refused) for refused in session.refused],
        own=list(own),
        salvaged=[f"{saved.ref}  {saved.why}" for saved in session.salvaged],
        stopped=_needs_attention(questions, waiting),
        idle=_describe_idle(session),
    )


def needs_person_without_question(
    waiting: Sequence[Waiting], questions: Sequence[AnyQuestion]
) -> list[Waiting]:
    """Return what only a person clears and none of the open questions asks about.

    Questions are listed on their own, so that nothing that needs a person is shown twice.
    """
    asked_about: set[str] = set()
    for question in questions:
        asked_about.update(subject.lane_names(question.waits), subject.unit_names(question.waits))
    others = []
    for wait in waiting:
        is_asked = bool(wait.question) or wait.subject in asked_about
        if wait.needs_person and not is_asked:
            others.append(wait)
    return others


def render(summary: Summary, if_empty: str = "Nothing happened") -> str:
    """Return the summary as text; a part without lines is left out.

    Where no part has lines, it is why the fleet was idle, or else `if_empty`.
    """
    parts = [
        _part("Landed", summary.landed),
        _part("Not delivered", summary.disbelieved),
        _part("Crashed or hung", summary.crashed),
        _part("Limits and waits", summary.limited),
        _part("Incidents: an agent changed your branch or checkout itself", summary.incidents),
        _part("Refused before it happened", summary.refused),
        _part("Your own commits and edits", summary.own),
        _part("Saved work that did not land", summary.salvaged),
        _part("Needs attention", summary.stopped),
    ]
    return "\n\n".join(filter(None, parts)) or summary.idle or if_empty


def _needs_attention(questions: Sequence[AnyQuestion], waiting: Sequence[Waiting]) -> list[str]:
    """Return a line for each open question, then for each other wait, with the command for it."""
    lines = []
    for question in questions:
        lines.append(f"{question.text}  (dos decisions show {question.id})")
    for wait in needs_person_without_question(waiting, questions):
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
    """Return the unit, its commit and branch, and the proof where one was gathered."""
    line = f"{landing.unit}  {landing.commit[:9]} on {landing.branch}"
    proof = proofs.get(landing.commit)
    if proof is None:
        return line
    return f"{line}  {proof.line}"


def _describe_claim(claim: UnprovenClaim) -> str:
    """Return the claim, cut where it is long, and what was found instead."""
    if not claim.claim:
        return f"{claim.unit}: {claim.fact}"
    quoted = claim.claim
    if len(quoted) > LONGEST_CLAIM:
        quoted = quoted[: LONGEST_CLAIM - 1] + "…"
    return f"{claim.unit}: said {quoted!r}; {claim.fact}"


def _describe_crash(crash: Crash) -> str:
    """Return what crashed and what happened next."""
    return f"{crash.unit or crash.lane}: {crash.what}; {crash.then or 'not tried again yet'}"


def _describe_incident(incident: Incident) -> str:
    """Return what an agent did outside its worktree, and the commits that it made there."""
    branch = incident.branch
    if branch == "HEAD":
        branch = "the HEAD of your checkout"
    parts = [f"{incident.lane or incident.run_id}: {incident.found}; on {branch}"]
    if incident.commits:
        parts.append("  " + ", ".join(commit[:9] for commit in incident.commits))
    parts.append("; it does not count as a landing")
    return "".join(parts)


def describe_refused(refused: RefusedCalls) -> str:
    """Return how many calls were refused for one reason, and the newest of them."""
    calls = plural(refused.count, "call")
    where = f"{refused.lane}: " if refused.lane else ""
    return f"{where}{calls} ({refused.reason_class}); {refused.latest}"


def _limit_line(limit: LimitPeriod) -> str:
    """Return the lane that met the limit, the limit, and how long it held."""
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


def _describe_waits(waits: Sequence[Wait]) -> list[str]:
    """Return a line for each lane and cause: how often it waited, how long in all, and for what.

    A wait of less than a second is left out unless it still lasts: its run checked and went on.
    """
    by_cause: dict[tuple[str, str], list[Wait]] = {}
    for wait in waits:
        if wait.seconds >= SHORTEST_WAIT or not wait.is_over:
            by_cause.setdefault((wait.lane, wait.why), []).append(wait)
    return [_describe_wait(lane, same) for (lane, _), same in by_cause.items()]


def _describe_wait(lane: str, waits: Sequence[Wait]) -> str:
    """Return how long a lane waited, or has waited, for one cause, with the newest detail."""
    newest = waits[-1]
    verb = "has waited"
    if newest.is_over:
        verb = "waited"
    detail = ""
    if newest.detail:
        detail = f" ({newest.detail})"
    times = ""
    if len(waits) > 1:
        times = f" in {len(waits)} waits"
    duration = format_duration(sum(wait.seconds for wait in waits))
    return f"{lane}: {verb} {duration}{times} for {parked_for(newest.why)}{detail}"


def _part(title: str, lines: list[str]) -> str:
    """Return a title with its count and one line for each entry; "" without entries."""
    if not lines:
        return ""
    one_line_each = ["\\n".join(line.splitlines()) for line in lines]
    return "\n".join([f"{title}: {len(lines)}", *(f"  {line}" for line in one_line_each)])


class ReportData(Struct, frozen=True, kw_only=True):
    """Everything that a report shows.

    It is gathered once and then shown as text, JSON or a page, so that the three agree.
    """

    workspace: str
    session: Session
    proofs: dict[str, LandingProof]  # by commit
    questions: list[QuestionRow]
    waiting: list[Waiting] = []  # what lanes and units wait for
    unasked: list[Waiting] = []  # of these, what needs a person and no question asks about
    costs: Costs
    own: list[str] = []  # commits and edits of the user
    is_supervised: bool = False  # a supervisor runs now; the heading says whether the fleet does


def to_json(report: ReportData) -> dict[str, Any]:
    """Return the JSON of the report: times in UTC, each landing with its proof."""
    landed = [_landing_json(entry, report) for entry in report.session.landed]
    session = to_builtins(structs.asdict(report.session) | {"landed": landed})
    return {
        "schema": SCHEMA,
        **session,
        "questions": to_builtins(report.questions),
        "waiting": to_builtins(report.waiting),
        "costs": to_builtins(report.costs),
        "own": report.own,
    }


def _landing_json(entry: LandingEntry, report: ReportData) -> dict[str, Any]:
    """Return a landing with its proof; the proof is None where none was gathered."""
    landing = entry.landing
    return {
        "at": entry.at,
        "unit": landing.unit,
        "lane": entry.lane,
        "run_id": entry.run_id,
        "commit": landing.commit,
        "branch": landing.branch,
        "claim": entry.claim,
        "recognised": entry.recognised,
        "proof": report.proofs.get(landing.commit),
    }


def heading(report: ReportData) -> str:
    """Return when the session was, how long it took, how often it was restarted, how it ended.

    Times are local, with the zone, because a report is often read elsewhere. A session without a
    recorded end either still runs, or its supervisor was killed.
    """
    session = report.session
    if session.since is None or session.until is None:
        return "Nothing happened"
    since = session.since.astimezone()
    until = session.until.astimezone()
    end = f"{until:%H:%M:%S %Z}"
    if since.date() != until.date():
        end = f"{until.day} {until:%b %Y} {end}"
    begin = f"{since.day} {since:%b %Y %H:%M:%S}"
    parts = [f"{begin} to {end} ({format_duration(session.seconds)})"]
    restarts = sum(bool(start.found) for start in session.starts)
    if restarts:
        parts.append(f"restarted {plural(restarts, 'time')} after a crash of the supervisor")
    if session.starts and session.starts[-1].sandbox:
        parts.append(f"sandbox: {session.starts[-1].sandbox}")
    if session.ended:
        parts.append(f"stopped: {session.ended}")
    elif report.is_supervised:
        parts.append("still running")
    elif session.starts:
        parts.append("the supervisor exited without a recorded stop; `dos up` starts another")
    return "; ".join(parts)


def format_time(at: datetime, session: Session) -> str:
    """Return a local time of day; with its date in a session of more than one day."""
    local = at.astimezone()
    if session.since is None or session.until is None:
        return f"{local:%m-%d %H:%M}"
    is_one_day = session.since.astimezone().date() == session.until.astimezone().date()
    if is_one_day:
        return f"{local:%H:%M:%S}"
    return f"{local:%m-%d %H:%M}"


def zone_name(session: Session) -> str:
    """Return the name of the time zone in which the times of a report are written."""
    if session.since is None:
        return ""
    return session.since.astimezone().tzname() or ""
