"""How a fleet's time ended, in words: what landed, what was claimed and not believed, what became of what crashed."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from dos.backlog.waiting import Waiting
from dos.journal.events.envelope import Event
from dos.journal.fold import fold
from dos.questions.catalog import AnyQuestion
from dos.questions.state import Decisions, urgent_first
from dos.report.session import Incident, LandingProof, LimitPeriod, Session, Wait
from dos.report.session_fold import fold_session
from dos.times import format_duration
from dos.units.unit import Landing

LONGEST_CLAIM = 200


class Summary(Struct, kw_only=True):
    landed: list[str] = field(default_factory=list)
    disbelieved: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    limited: list[str] = field(default_factory=list)
    salvaged: list[str] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)  # commits and edits of the user
    stopped: list[str] = field(default_factory=list)
    idle: str = ""  # why there is nothing to tell of a fleet that was started


def summarize_events(happened: Iterable[Event], waiting: Sequence[Waiting] = ()) -> Summary:
    """Of events, and of what everything waits for: nobody is asked whether what landed still stands."""
    seen = list(happened)
    questions = [asked.question for asked in urgent_first(fold(Decisions(), seen))]
    return summarize(fold_session(seen), questions=questions, waiting=waiting)


def summarize(
    told: Session,
    proofs: Mapping[str, LandingProof] = {},
    questions: Sequence[AnyQuestion] = (),
    own: Sequence[str] = (),
    waiting: Sequence[Waiting] = (),
) -> Summary:
    """The proofs by commit; `own` are commits and edits of the user; `waiting` is what lanes and units wait for."""
    return Summary(
        landed=[_landed(each.landing, proofs.get(each.landing.commit)) for each in told.landed],
        disbelieved=[f"{each.unit}: {_said(each.claim)}{each.fact}" for each in told.disbelieved],
        crashed=[
            f"{each.unit or each.lane}: {each.what}; {each.then or 'nobody has gone on with it'}"
            for each in told.crashed
        ],
        limited=[*map(_limited, told.limits), *(_waited(each) for each in told.waits)],
        incidents=[_incident(each) for each in told.incidents],
        own=list(own),
        salvaged=[f"{each.ref}  {each.why}" for each in told.salvaged],
        stopped=[
            *(f"{asked.text}  (dos decisions show {asked.id})" for asked in questions),
            *(
                f"{each.subject}: {each}  ({each.clears_with})"
                for each in needs_person_without_question(waiting)
            ),
        ],
        idle=_idle(told),
    )


def needs_person_without_question(waiting: Sequence[Waiting]) -> list[Waiting]:
    """What only a person clears, and no open question stands for."""
    return [each for each in waiting if each.needs_person and not each.question]


def render(made: Summary) -> str:
    parts = [
        _part("landed, each with its commit", made.landed),
        _part("claimed, and not believed", made.disbelieved),
        _part("crashed, and what came of it", made.crashed),
        _part("waited", made.limited),
        _part("incidents: an agent changed your branch or checkout by itself", made.incidents),
        _part("your own commits and edits", made.own),
        _part("saved before it was cleared away", made.salvaged),
        _part("waiting for somebody", made.stopped),
    ]
    return "\n\n".join(part for part in parts if part) or made.idle or "nothing happened"


def _idle(told: Session) -> str:
    """Of a fleet that was started and has started no agent: how that ended."""
    if not told.starts or told.bars:
        return ""
    return (
        f"No agent was started: {told.ended}"
        if told.ended
        else "No agent was started yet; `dos top` says why"
    )


def _landed(each: Landing, proved: LandingProof | None) -> str:
    line = f"{each.unit}  {each.commit[:9]} on {each.branch}"
    return f"{line}  {proved.line}" if proved else line


def _said(claim: str) -> str:
    cut = claim if len(claim) <= LONGEST_CLAIM else claim[: LONGEST_CLAIM - 1] + "…"
    return f"said {cut!r}; " if claim else ""


def _incident(each: Incident) -> str:
    where = "the HEAD of your checkout" if each.branch == "HEAD" else each.branch
    commits = f"  {', '.join(commit[:9] for commit in each.commits)}" if each.commits else ""
    return f"{each.lane or each.run_id}: {each.found}; on {where}{commits}; it counts as no landing"


def _limited(each: LimitPeriod) -> str:
    who = f"{each.vendor} {each.model}".rstrip()
    until = (
        f"had room again after {format_duration(each.seconds)}"
        if each.is_over
        else f"no room since {format_duration(each.seconds)}"
    )
    return f"{each.lane or 'fleet'}: {who} said {each.ending}; {until}"


def _waited(each: Wait) -> str:
    detail = f" ({each.detail})" if each.detail else ""
    return f"{each.lane}: {'waited' if each.is_over else 'waits since'} {format_duration(each.seconds)} on {each.why}{detail}"


def _part(title: str, lines: list[str]) -> str:
    shown = ("\\n".join(line.splitlines()) for line in lines)
    return "\n".join([f"{title}: {len(lines)}", *(f"  {line}" for line in shown)]) if lines else ""
