"""What the user did to the target branch and in their checkout while the fleet worked: no landing, and no incident."""

from collections.abc import Iterable
from typing import assert_never

from dos.backlog.io import landed
from dos.errors import GitFailed
from dos.git.repository import Reader
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import RunBegun, UnitLanded
from dos.journal.events.limits import IncidentFound
from dos.journal.events.reader import FactReader
from dos.receipts.io.find import CheckedReceipt
from dos.receipts.receipt import Algorithm
from dos.report.session import LandingProof, ReceiptProof
from dos.unknown import Unknown
from dos.verify.io.corroborate import Proof
from dos.world import World

MOST_LISTED = 50
_reader: FactReader[RunBegun | UnitLanded | IncidentFound] = FactReader(
    RunBegun | UnitLanded | IncidentFound,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted lease_refused
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started fleet_stopped
        decision_forced run_minted unit_claimed unit_taken work_salvaged agent_started agent_ended work_measured
        landing_intended landing_refused unit_attempted iteration_committed run_stopped id_allocated
        journal_pruned limit_hit limit_probed limit_lifted units_screened run_parked landing_queued
        landing_deferred run_unparked agent_waiting agent_went_on pause_requested pause_ended halt_requested
        spin_flagged decision_raised decision_answered plans_approved settings_approved lane_cleared
        unit_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found intent_declared extent_changed step_claimed step_verified run_suspended resume_proposed
        run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault receipt_issued test_witnessed
        line_imported line_unreadable
    """,
)


def user_changes(world: World, happened: Iterable[Event]) -> list[str]:
    """A line for each commit, newest first, and one for what is not committed; empty where git cannot say."""
    begun, ours = "", set[str]()
    git = Reader(world.workspace.root)
    try:
        for event in happened:
            match _reader.decode(event):
                case None:
                    pass
                case RunBegun() as fact:
                    begun = begun or fact.start_sha
                case UnitLanded() as fact:
                    ours.update(
                        git.commits_between(fact.base, fact.commit) if fact.base else [fact.commit]
                    )
                case IncidentFound() as fact:
                    ours.update(fact.commits)
                case never:
                    assert_never(never)
        ref = landed.target_ref(world)
        if not begun or isinstance(ref, Unknown):
            return []
        said = git.run(
            "log", f"--max-count={MOST_LISTED + len(ours)}", "--format=%H %s", f"{begun}..{ref}"
        )
        dirty = git.dirty_paths()
    except GitFailed:
        return []  # the history was rewritten since, or is not here
    commits = (line.partition(" ") for line in said.splitlines())
    lines = [f"{sha[:9]} {subject}" for sha, _, subject in commits if sha not in ours][:MOST_LISTED]
    if dirty:
        rest = f" and {len(dirty) - 5} more" if len(dirty) > 5 else ""
        lines.append(f"not committed: {', '.join(dirty[:5])}{rest}")
    return lines


UNKNOWN = "UNKNOWN"


def landing_proof(proof: Proof) -> LandingProof:
    receipt = _signed(proof.receipt) if proof.receipt else None
    verdict = proof.verdict
    if isinstance(verdict, Unknown):
        return LandingProof(
            answer=UNKNOWN, tier="", tier_name="", reason=verdict.why, receipt=receipt
        )
    return LandingProof(
        answer=verdict.answer,
        tier=f"T{int(verdict.tier)}",
        tier_name=verdict.tier.name.lower().replace("_", " "),
        reason=verdict.reason,
        receipt=receipt,
    )


def _signed(checked: CheckedReceipt) -> ReceiptProof:
    found = checked.receipt
    if found is None:
        return ReceiptProof(valid=checked.valid, why=checked.why)
    words = found.command[2:] if found.command[:2] == ("sh", "-c") else found.command
    return ReceiptProof(
        valid=checked.valid,
        why=checked.why,
        verdict=found.verdict,
        key_id="" if found.algorithm == Algorithm.NONE else found.key_id,
        runner=found.runner,
        command=" ".join(words),
        exit_code=found.exit_code,
    )
