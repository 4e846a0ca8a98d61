"""Which trees the workspace's setup and test were run on before agents worked, and what they said."""

from typing import ClassVar

from msgspec import Struct, field, structs

from dos.baseline.gate import Asked, Check
from dos.choices import ChoiceName
from dos.journal.events.envelope import Event
from dos.journal.events.limits import BaselineChecked
from dos.journal.events.reader import FactReader
from dos.questions.resources import BaselineFailed
from dos.questions.state import Decisions
from dos.verify.baseline import Subject

KEPT = 200
_reader: FactReader[BaselineChecked] = FactReader(
    BaselineChecked,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started fleet_stopped
        decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged agent_started agent_ended
        work_measured landing_intended unit_landed landing_refused unit_attempted iteration_committed
        run_stopped id_allocated journal_pruned limit_hit limit_probed limit_lifted units_screened run_parked
        landing_queued landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended
        halt_requested spin_flagged decision_raised decision_answered plans_approved settings_approved
        lane_cleared unit_cleared budget_warned budget_spent budget_promised baseline_started work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified run_suspended
        resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued
        test_witnessed line_imported line_unreadable
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

    def known(self) -> dict[Subject, Check]:
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


def asked(decisions: Decisions) -> list[Asked]:
    """The questions about checks, open and answered."""
    found = [(each.question, "", 0) for each in decisions.open.values()]
    found += [
        (each.question, each.choice, each.answered_ms) for each in decisions.answered.values()
    ]
    return [
        Asked(
            id=question.id,
            subject=question.checked,
            fault=question.fault,
            choice=choice,
            answered_ms=answered_ms,
        )
        for question, choice, answered_ms in found
        if isinstance(question, BaselineFailed)
    ]


def holding(known: Baselines, decisions: Decisions, host: str) -> str:
    """The question that keeps agents from starting on a host: open, or answered with `leave`; empty: none does."""
    mine = [each for each in asked(decisions) if each.subject.host == host]
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
