"""What a report shows, as a value: its JSON, its heading and how its times are written."""

from datetime import datetime
from typing import Any

from msgspec import Struct, structs, to_builtins

from dos.backlog.waiting import Waiting
from dos.limits.state.costs import Costs
from dos.questions.view import QuestionRow
from dos.report.session import LandingProof, Session
from dos.text import plural
from dos.times import format_duration
from dos.units.unit import LandingEntry

SCHEMA = "dos.report/1"


class ReportData(Struct, frozen=True, kw_only=True):
    """Everything that a report shows."""

    workspace: str
    session: Session
    proofs: dict[str, LandingProof]  # by commit
    questions: list[QuestionRow]
    waiting: list[Waiting] = []  # what lanes and units wait for
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

    A session without a recorded end either still runs, or its supervisor was killed.
    """
    session = report.session
    if session.since is None or session.until is None:
        return "Nothing happened"
    since = session.since.astimezone()
    until = session.until.astimezone()
    end = f"{until:%Y-%m-%d %H:%M:%S %Z}"
    if since.date() == until.date():
        end = f"{until:%H:%M:%S %Z}"
    parts = [f"{since:%Y-%m-%d %H:%M:%S} to {end} ({format_duration(session.seconds)})"]
    restarts = sum(bool(start.found) for start in session.starts)
    if restarts:
        parts.append(f"restarted {plural(restarts, 'time')} after a crash of the supervisor")
    if session.ended:
        parts.append(f"stopped: {session.ended}")
    elif report.is_supervised:
        parts.append("still running")
    elif session.starts:
        parts.append("the supervisor exited without a recorded stop; `dos up` starts another")
    return "; ".join(parts)


def unknown_cost_note(session: Session) -> str:
    """Return a note where the end of agents was not recorded, so that their cost is unknown."""
    if not session.lost:
        return ""
    agents = plural(session.lost, "agent run")
    return f"The cost of {agents} is unknown, because the end was not recorded"


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
