"""May agents start on this host: do the workspace's setup and test pass on the target before anybody has worked?"""

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
    """A question that was put about a check, and what became of it."""

    id: str
    subject: Subject
    fault: str
    choice: str = ""  # empty: it is open
    answered_ms: int = 0


class Step(StrEnum):
    CLEAR = "clear"  # agents may start
    CHECK = "check"  # it has to be checked first
    WAIT = "wait"  # for a person


class Plan(Struct, frozen=True, kw_only=True):
    step: Step
    question: AnyQuestion | None = None  # to be asked
    passed: Sequence[str] = ()  # open questions whose cause is gone
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
    """`newest` is the last check of the same commands on the host, and `cleared` says that agents may start already.

    A check that failed counts until a person says `retry` or starts the fleet again: what was wrong need not have been
    in the tree.
    """
    mine = [each for each in asked if each.subject.host == subject.host]
    is_open = [each.id for each in mine if not each.choice]
    if cleared and (newest is None or newest.is_good or is_accepted(newest, mine)):
        return Plan(step=Step.CLEAR, passed=is_open)
    if newest and newest.is_good and newest.at_ms >= started_ms:
        # The branch may have moved meanwhile: what others land there was tested, and would keep us checking for ever.
        return Plan(step=Step.CLEAR, passed=is_open)
    check = known.get(subject)
    if check is None or not is_current(check, mine, started_ms=started_ms):
        return Plan(step=Step.CHECK)
    if check.is_good or is_accepted(check, mine):
        return Plan(step=Step.CLEAR, passed=is_open)
    if is_open:
        return Plan(step=Step.WAIT, why=f"`dos decisions show {is_open[0]}`")
    found = f"`{check.command}` {'does not see the tree' if check.fault == 'blind' else 'fails'} on {check.branch}"
    if any(each.choice == ChoiceName.LEAVE and each.answered_ms > check.at_ms for each in mine):
        return Plan(step=Step.WAIT, why=f"{found}; `dos up` checks it again")
    return Plan(step=Step.WAIT, question=BaselineFailed.ask(check), why=found)


def is_current(check: Check, asked: Sequence[CheckQuestion], *, started_ms: int = 0) -> bool:
    """One that passed counts for good."""
    if check.is_good:
        return True
    retried = [each.answered_ms for each in asked if each.choice == ChoiceName.RETRY]
    return check.at_ms >= max([started_ms, *retried])


def is_accepted(check: CheckResult, asked: Sequence[CheckQuestion]) -> bool:
    """A person lets agents start all the same: on this tree; or, where the test sees no tree, with this command."""
    return any(
        each.choice == ChoiceName.START
        and each.fault == check.fault
        and each.subject.commands == check.commands
        and (each.fault == "blind" or each.subject.tree == check.tree)
        for each in asked
    )


KEPT = 200
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
        ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)


class Baselines(Struct, kw_only=True):
    name: ClassVar[str] = "baselines"

    checks: list[Check] = field(default_factory=list)  # the newest last
    failures: dict[str, int] = field(default_factory=dict)  # by host

    def apply(self, event: Event) -> None:
        fact = _reader.decode(event)
        if fact is None:
            return
        check = Check(**structs.asdict(fact), at_ms=event.at_ms)
        self.checks = [*(each for each in self.checks if each.subject != check.subject), check][
            -KEPT:
        ]
        if not check.is_good:
            self.failures[fact.host] = max(fact.ordinal, self.failures.get(fact.host, 0))

    def by_subject(self) -> dict[Subject, Check]:
        return {each.subject: each for each in self.checks}

    def newest(self, host: str, commands: str) -> Check | None:
        """The last check of these commands on a host, of whichever tree."""
        of_host = (each for each in self.checks if (each.host, each.commands) == (host, commands))
        return max(of_host, key=lambda each: each.at_ms, default=None)


def as_fact(check: Check) -> BaselineChecked:
    """What was written down of it."""
    return BaselineChecked(
        **{name: getattr(check, name) for name in BaselineChecked.__struct_fields__}
    )


def check_questions(decisions: Decisions) -> list[CheckQuestion]:
    """The questions about checks, open and answered."""
    found = [(each.question, "", 0) for each in decisions.open.values()]
    found += [
        (each.question, each.choice, each.answered_ms) for each in decisions.answered.values()
    ]
    return [
        CheckQuestion(
            id=question.id,
            subject=question.checked_subject,
            fault=question.fault,
            choice=choice,
            answered_ms=answered_ms,
        )
        for question, choice, answered_ms in found
        if isinstance(question, BaselineFailed)
    ]


def blocking_question(known: Baselines, decisions: Decisions, host: str) -> str:
    """The question that keeps agents from starting on a host: open, or answered with `leave`; empty: none does."""
    mine = [each for each in check_questions(decisions) if each.subject.host == host]
    failed = max(
        (each.at_ms for each in known.checks if each.host == host and not each.is_good), default=0
    )
    passed = max(
        (each.at_ms for each in known.checks if each.host == host and each.is_good), default=0
    )
    for each in mine:
        if not each.choice or (
            each.choice == ChoiceName.LEAVE and each.answered_ms > failed > passed
        ):
            return each.id
    return ""
