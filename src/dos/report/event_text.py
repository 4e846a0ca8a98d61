"""The sentence that describes an event to people: one for each kind, the same on every surface.

A surface adds when and where the event happened, and decides which events it shows. Events that
only a timeline shows have their sentences in `record_text`; a new kind of event needs a case in one
of the two, which mypy demands by `assert_never`.
"""

from typing import assert_never

from dos.agents import logins
from dos.agents.adapter import Ending, describe_ending
from dos.journal.events import doors, fleet, lanes, limits
from dos.journal.events.kinds import AnyFact
from dos.journal.events.runs import ReceiptIssued
from dos.limits import accounts, quota
from dos.limits.accounts import format_share
from dos.limits.quota import Key, Limit
from dos.loop import tokens
from dos.report import record_text
from dos.text import one_line, plural, quote
from dos.times import format_local_time, utc_datetime
from dos.verify.baseline import NOTHING_TO_EMPTY

# Of supervisors, worker processes and leases.
FleetFact = (
    fleet.FleetStarted
    | fleet.FleetStopped
    | fleet.DrainRequested
    | fleet.WorkerSpawned
    | fleet.WorkerReaped
    | fleet.LaneFailed
    | lanes.LeaseGranted
    | lanes.LeaseExpired
    | limits.FleetFound
    | limits.BaselineStarted
    | limits.BaselineChecked
)
# Of a unit, from its claim to its landing, and of the run that works on it.
WorkFact = (
    fleet.UnitClaimed
    | fleet.AgentStarted
    | fleet.AgentEnded
    | fleet.WorkMeasured
    | fleet.LandingIntended
    | fleet.LandingRefused
    | fleet.UnitLanded
    | fleet.UnitAttempted
    | ReceiptIssued
    | limits.WorkCommitted
    | fleet.WorkSalvaged
    | fleet.IterationCommitted
    | fleet.RunStopped
)
# Of limits, pauses, messages, questions, incidents and budgets.
WaitingFact = (
    limits.LimitHit
    | limits.LimitProbed
    | limits.LimitLifted
    | limits.RunParked
    | limits.AgentWaiting
    | limits.PauseRequested
    | limits.PauseEnded
    | limits.HaltRequested
    | doors.RunSteered
    | doors.SteerDelivered
    | limits.SpinFlagged
    | limits.IncidentFound
    | limits.DecisionRaised
    | limits.DecisionAnswered
    | limits.BudgetWarned
    | limits.BudgetSpent
)
# What a worker waits for; the tokens stay in the journal and in JSON.
_PARKED_FOR = {
    "quota": "a provider limit",
    "budget": "the budget",
    "pause": "the end of a pause",
    "landing": "a landing",
    "decision": "an answer",
}
# How an attempt on a unit ended; the tokens stay in the journal and in JSON.
_ATTEMPTS = {
    "shipped": "landed",
    "drained": "nothing landed",
    "error": "failed",
    "unknown": "unknown outcome",
}


def parked_for(why: str) -> str:
    """Return in words what a parked run waits for; a token that is not known as it is."""
    return _PARKED_FOR.get(why, why)


def describe(fact: AnyFact, at_ms: int) -> str:
    """Return the sentence for a fact that was recorded at this time.

    The time decides whether a moment in it is shown with its date. No sentence is empty, and each
    is one line: agents and programs write parts of it, and may write no line of ours.
    """
    return one_line(_describe(fact, at_ms))


def _describe(fact: AnyFact, at_ms: int) -> str:
    if isinstance(fact, FleetFact):
        return _describe_fleet(fact)
    if isinstance(fact, WorkFact):
        return _describe_work(fact)
    if isinstance(fact, WaitingFact):
        return _describe_waiting(fact, at_ms)
    return record_text.describe(fact)


def describe_kind(kind: str) -> str:
    """Return the words for an event of a newer version, which this one cannot read."""
    return kind.replace("_", " ")


def _describe_fleet(fact: FleetFact) -> str:  # noqa: C901, PLR0911
    """Return the sentence of an event of the supervisor, a worker process or a granted lease."""
    match fact:
        case fleet.FleetStarted():
            sandbox = f"; sandbox: {fact.sandbox}" if fact.sandbox else ""
            return f"started on {fact.host}, target {plural(fact.target, 'worker')}{sandbox}"
        case fleet.FleetStopped():
            return f"stopped: {fact.reason}"
        case fleet.DrainRequested():
            return "drain requested: workers finish their current work"
        case fleet.WorkerSpawned():
            return f"worker {fact.pid} started"
        case fleet.WorkerReaped():
            return f"its worker died: {fact.reason}"
        case fleet.LaneFailed():
            return f"disabled until you answer `dos decisions`: {fact.reason}"
        case lanes.LeaseGranted():
            if fact.asked.is_lock:
                return "lock taken"
            return "lane leased"
        case lanes.LeaseExpired():
            return (
                f"lease {fact.lease} had lapsed, because its holder stopped renewing it, and ended"
            )
        case limits.FleetFound():
            return _describe_recovery(fact)
        case limits.BaselineStarted():
            return f"checking that `{_first_line(fact.command)}` passes on {fact.branch} …"
        case limits.BaselineChecked():
            return _describe_baseline(fact)
        case never:
            assert_never(never)


def _describe_work(fact: WorkFact) -> str:  # noqa: C901, PLR0911
    """Return the sentence of an event between the claim of a unit and the end of its run."""
    match fact:
        case fleet.UnitClaimed():
            repeated = ""
            if fact.repeated:
                repeated = " again after a crash"
            return f"took {fact.unit}{repeated}"
        case fleet.AgentStarted():
            if fact.said:
                return f"{fact.unit}: {fact.said}"
            return f"agent {fact.agent} started on {fact.unit}"
        case fleet.AgentEnded():
            claim = ""
            if fact.claim:
                claim = f" and said {fact.claim!r}"
            refused = ""
            if fact.refused:
                refused = f"; it was refused something: {fact.refused}"
            return describe_agent_end(fact) + claim + refused
        case fleet.WorkMeasured():
            if fact.verdict == "DELIVERED":
                return f"{fact.unit} delivered: {fact.reason}"
            return f"{fact.unit} not delivered: {fact.reason}"
        case fleet.LandingIntended():
            return f"landing {fact.unit} on {fact.branch}"
        case fleet.LandingRefused():
            return f"{fact.unit} not landed: {_first_line(fact.reason)}"
        case fleet.UnitLanded():
            landed = "landed"
            if fact.recognised:
                landed = "landed before the crash"
            return f"{fact.unit} {landed} on {fact.branch} as {fact.commit[:9]}"
        case fleet.UnitAttempted():
            return f"attempt on {fact.unit}: {_ATTEMPTS.get(fact.outcome, fact.outcome)}"
        case ReceiptIssued():
            if fact.said:
                return f"{fact.unit}: {fact.said}"
            return f"receipt of {fact.commit[:9]} issued"
        case limits.WorkCommitted():
            return f"{fact.unit}: the agent did not commit; its work is judged as {fact.commit[:9]}"
        case fleet.WorkSalvaged():
            return f"work saved to {fact.ref} ({fact.why})"
        case fleet.IterationCommitted():
            decision = describe_decision(fact.outcome, fact.action, fact.reason)
            return f"iteration {fact.iteration}: {decision}"
        case fleet.RunStopped():
            return describe_stop(fact.stop_reason, fact.reason, fact.needs)
        case never:
            assert_never(never)


def _describe_waiting(fact: WaitingFact, at_ms: int) -> str:  # noqa: C901, PLR0911
    """Return the sentence of an event about a limit, a wait, a question or a budget."""
    match fact:
        case limits.LimitHit():
            return _describe_limit(fact, at_ms)
        case limits.LimitProbed():
            return f"tests whether {fact.vendor} accepts requests again"
        case limits.LimitLifted():
            return f"limit of {fact.vendor} ended: {fact.reason}"
        case limits.RunParked():
            until = ""
            if fact.until_ms:
                until = f" until {_format_time(fact.until_ms, at_ms)}"
            return f"waits for {parked_for(fact.why)}{until}: {fact.detail}"
        case limits.AgentWaiting():
            cause = fact.ending.replace("_", " ")
            return f"agent waits for its provider ({cause}): {fact.detail}"
        case limits.PauseRequested():
            return f"paused: {fact.reason or 'by a person'}"
        case limits.PauseEnded():
            return "pause ended"
        case limits.HaltRequested():
            return f"halt of {fact.run_id} requested: {fact.reason or 'by a person'}"
        case doors.RunSteered():
            return f"{fact.by or 'a person'} to the agent: {quote(fact.message)}"
        case doors.SteerDelivered():
            how = "in its prompt" if fact.in_prompt else "while it worked"
            return f"agent {fact.agent} was told message {fact.id} {how}"
        case limits.SpinFlagged():
            return f"runs without progress: {fact.reason}"
        case limits.IncidentFound():
            return f"incident: {describe_incident(fact)}"
        case limits.DecisionRaised():
            return f"{fact.question}  `dos decisions show {fact.id}`"
        case limits.DecisionAnswered():
            if fact.reason:
                return f"{fact.id} closed with {fact.choice}: {fact.reason}"
            if fact.expired:
                return f"{fact.id} closed with {fact.choice}, without an answer"
            return f"{fact.id} answered: {fact.choice}"
        case limits.BudgetWarned():
            return f"nearly spent: {_describe_budget(fact)}"
        case limits.BudgetSpent():
            return f"spent: {_describe_budget(fact)}"
        case never:
            assert_never(never)


def describe_agent_end(fact: fleet.AgentEnded) -> str:
    """Return how an agent's process ended and after how long.

    That it finished says nothing of its work: git is asked for that.
    """
    return f"agent {describe_ending(fact.outcome)} after {fact.seconds:.1f} s"


def describe_decision(outcome: str, action: str, reason: str) -> str:
    """Return how an iteration ended, and what was decided: the same words as in `dos why`."""
    return f"{tokens.iteration_words(outcome)}; {tokens.words(action)}, {reason}"


def describe_stop(stop_reason: str, reason: str, needs: str) -> str:
    """Return why a run stopped, and who can clear it."""
    return f"stopped: {tokens.words(stop_reason)} ({reason}); {tokens.needs_words(needs)}"


def describe_incident(fact: limits.IncidentFound) -> str:
    """Return what an agent did outside its worktree."""
    return f"{fact.found}; it does not count as a landing"


def _describe_budget(fact: limits.BudgetWarned | limits.BudgetSpent) -> str:
    """Return whose budget it is, how much of it is spent, and its limit."""
    account = accounts.describe(fact.scope, fact.subject)
    return f"{account}: {format_share(fact.spent, fact.limit, fact.measure)}"


def _describe_baseline(fact: limits.BaselineChecked) -> str:
    """Return whether the acceptance command passes on the branch, and whether it tests the tree.

    A command that also passes with the source files emptied would accept any work, so it is
    reported even though it passes.
    """
    command = f"`{_first_line(fact.command)}`"
    if not fact.passed:
        return (
            f"{command} fails on {fact.branch} ({fact.commit[:9]}) after {fact.seconds:.1f} s:"
            f" {fact.reason}"
        )
    if fact.sees_tree is False:
        emptied = plural(fact.blanked, "source file")
        return (
            f"{command} passes on {fact.branch} also with {emptied} emptied:"
            " it does not test the tree it runs in"
        )
    parts = [f"{command} passes on {fact.branch} ({fact.seconds:.1f} s)"]
    if fact.sees_tree is None:
        parts.append(NOTHING_TO_EMPTY)
    for unit, why in fact.missing.items():
        parts.append(f"the acceptance command of {unit} cannot run: {why}")
    return "; ".join(parts)


_RECOVERY = {
    "adopted": "workers still running",
    "fenced": "leases of dead workers revoked",
    "resumed": "continuing after the last committed iteration",
    "repeated": "repeating what was not committed",
}


def _describe_recovery(fact: limits.FleetFound) -> str:
    """Return what a supervisor found of the one before it."""
    parts = []
    for name, meaning in _RECOVERY.items():
        entries = getattr(fact, name)
        if entries:
            parts.append(f"{meaning}: {', '.join(entries)}")
    if fact.skipped:
        parts.append(f"already landed: {plural(len(fact.skipped), 'unit')}")
    return f"recovered; {'; '.join(parts)}"


def _first_line(text: str) -> str:
    """Return the first line: the whole text of a conflict is for the next agent."""
    return text.partition("\n")[0]


def _describe_limit(fact: limits.LimitHit, at_ms: int) -> str:
    """Return what the provider said, until when, and how to log in where that clears it."""
    limit = Limit(
        key=Key(vendor=fact.vendor, account=fact.account, model=fact.model),
        ending=fact.ending,
        agent=fact.agent,
    )
    text = quota.describe(limit)
    if fact.ending == Ending.AUTH:
        login = logins.login_command(fact.vendor)
        if login:
            return f"{text}; log in with `{login}`"
        return text
    until = ""
    if fact.resets_at_ms:
        until = f" until {_format_time(fact.resets_at_ms, at_ms)}"
    return f"{text}{until}; the lanes that use it wait"


def _format_time(at_ms: int, now_ms: int) -> str:
    """Return a local time with seconds; with its date where that differs from the event's."""
    return format_local_time(utc_datetime(at_ms), utc_datetime(now_ms), seconds=True)
