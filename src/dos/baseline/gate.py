"""Decide whether agents may start on a host: setup and test have to pass on the target first.

It also folds the checks from the journal.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

from msgspec import Struct, field, structs

from dos.choices import ChoiceName
from dos.journal.events.envelope import Event
from dos.journal.events.limits import BaselineChecked
from dos.journal.events.reader import FactReader
from dos.questions.catalog import AnyQuestion
from dos.questions.resources import BaselineFailed
from dos.questions.state import Decisions
from dos.verify.baseline import CheckResult, Subject


class Check(CheckResult, frozen=True, kw_only=True):
    """A check that was made, and when."""

    at_ms: int = 0


class CheckQuestion(Struct, frozen=True, kw_only=True):
    """A question about a failed check, with its answer."""

    id: str
    subject: Subject
    fault: str
    choice: str = ""  # empty: it is open
    answered_ms: int = 0


class Step(StrEnum):
    """What has to happen before agents start."""

    CLEAR = "clear"  # agents may start
    CHECK = "check"  # the target has to be checked first
    WAIT = "wait"  # for a person


class Plan(Struct, frozen=True, kw_only=True):
    """The next step, with the question to ask."""

    step: Step
    question: AnyQuestion | None = None  # to ask now
    passed: Sequence[str] = ()  # ids of open questions whose cause is gone
    why: str = ""


def plan(
    subject: Subject,
    known: Mapping[Subject, Check],
    asked: Sequence[CheckQuestion],
    *,
    newest: Check | None = None,
    started_ms: int = 0,
    cleared: bool = False,
) -> Plan:
    """Decide whether agents may start on the subject's host.

    `newest` is the last check of the same commands on the host; `cleared` tells that agents were
    allowed to start before. A failed check counts until a person answers `retry` or starts the
    fleet again: its cause need not have been in the tree.
    """
    questions = [question for question in asked if question.subject.host == subject.host]
    open_ids = [question.id for question in questions if not question.choice]
    if cleared and (newest is None or newest.is_good or is_accepted(newest, questions)):
        return Plan(step=Step.CLEAR, passed=open_ids)
    # Of any tree: other lanes land tested work, and checking each new tree would never end.
    if newest and newest.is_good and newest.at_ms >= started_ms:
        return Plan(step=Step.CLEAR, passed=open_ids)
    check = known.get(subject)
    if check is None or not is_current(check, questions, started_ms=started_ms):
        return Plan(step=Step.CHECK)
    if check.is_good or is_accepted(check, questions):
        return Plan(step=Step.CLEAR, passed=open_ids)
    if open_ids:
        return Plan(step=Step.WAIT, why=f"`dos decisions show {open_ids[0]}`")
    problem = "fails"
    if check.fault == "blind":
        problem = "does not see the tree"
    why = f"`{check.command}` {problem} on {check.branch}"
    for question in questions:
        if question.choice == ChoiceName.LEAVE and question.answered_ms > check.at_ms:
            return Plan(step=Step.WAIT, why=f"{why}; `dos up` checks it again")
    return Plan(step=Step.WAIT, question=BaselineFailed.ask(check), why=why)


def is_current(check: Check, asked: Sequence[CheckQuestion], *, started_ms: int = 0) -> bool:
    """Whether a check still counts. One that passed counts for ever."""
    if check.is_good:
        return True
    counts_from_ms = started_ms
    for question in asked:
        if question.choice == ChoiceName.RETRY:
            counts_from_ms = max(counts_from_ms, question.answered_ms)
    return check.at_ms >= counts_from_ms


def is_accepted(check: CheckResult, asked: Sequence[CheckQuestion]) -> bool:
    """Whether a person answered `start` although this check failed.

    The answer holds for the same tree; for a test that sees no tree, for the same commands.
    """
    for question in asked:
        is_same_fault = question.fault == check.fault and (
            question.subject.commands == check.commands
        )
        is_same_tree = question.fault == "blind" or question.subject.tree == check.tree
        if question.choice == ChoiceName.START and is_same_fault and is_same_tree:
            return True
    return False


KEPT = 200  # checks
_reader: FactReader[BaselineChecked] = FactReader(
    BaselineChecked,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_started fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken
        work_salvaged agent_started agent_ended work_measured landing_intended unit_landed
        landing_refused unit_attempted iteration_committed run_stopped id_allocated journal_pruned
        limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved
        settings_approved lane_cleared unit_cleared budget_warned budget_spent budget_promised
        baseline_started work_committed fleet_found incident_found intent_declared extent_changed
        step_claimed step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed command_checked
        line_imported line_unreadable tool_called hook_answered marker_held marker_reset
        session_bound export_advanced notification_sent verdict_given lifecycle_ticked run_steered
        steer_delivered
    """,
)


class Baselines(Struct, kw_only=True):
    """The newest check of every subject, and the failures of every host."""

    name: ClassVar[str] = "baselines"

    checks: list[Check] = field(default_factory=list)  # the newest last
    failures: dict[str, int] = field(default_factory=dict)  # by host

    def apply(self, event: Event) -> None:
        """Fold one event."""
        fact = _reader.decode(event)
        if fact is None:
            return
        check = Check(**structs.asdict(fact), at_ms=event.at_ms)
        others = [other for other in self.checks if other.subject != check.subject]
        self.checks = [*others, check][-KEPT:]
        if not check.is_good:
            self.failures[fact.host] = max(fact.ordinal, self.failures.get(fact.host, 0))

    def by_subject(self) -> dict[Subject, Check]:
        """The checks by what they are about."""
        by_subject = {}
        for check in self.checks:
            by_subject[check.subject] = check
        return by_subject

    def newest(self, host: str, commands: str) -> Check | None:
        """The last check of these commands on a host, of any tree."""
        newest = None
        for check in self.checks:
            if (check.host, check.commands) != (host, commands):
                continue
            if newest is None or check.at_ms > newest.at_ms:
                newest = check
        return newest


def as_fact(check: Check) -> BaselineChecked:
    """The event that a check was folded from."""
    fields = {name: getattr(check, name) for name in BaselineChecked.__struct_fields__}
    return BaselineChecked(**fields)


def check_questions(decisions: Decisions) -> list[CheckQuestion]:
    """The questions about checks, open and answered."""
    questions = []
    for raised in decisions.open.values():
        if isinstance(raised.question, BaselineFailed):
            questions.append(_check_question(raised.question))
    for answered in decisions.answered.values():
        if isinstance(answered.question, BaselineFailed):
            question = _check_question(answered.question)
            questions.append(
                structs.replace(question, choice=answered.choice, answered_ms=answered.answered_ms)
            )
    return questions


def _check_question(question: BaselineFailed) -> CheckQuestion:
    """An open question as the plan needs it."""
    return CheckQuestion(id=question.id, subject=question.checked_subject, fault=question.fault)


def blocking_question(known: Baselines, decisions: Decisions, host: str) -> str:
    """The id of the question that keeps agents from starting on a host; empty: none does.

    It is open, or it was answered with `leave` after the last failure.
    """
    failed_ms = 0
    passed_ms = 0
    for check in known.checks:
        if check.host != host:
            continue
        if check.is_good:
            passed_ms = max(passed_ms, check.at_ms)
        else:
            failed_ms = max(failed_ms, check.at_ms)
    for question in check_questions(decisions):
        if question.subject.host != host:
            continue
        is_left = question.choice == ChoiceName.LEAVE
        if not question.choice or (is_left and question.answered_ms > failed_ms > passed_ms):
            return question.id
    return ""
