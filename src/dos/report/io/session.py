"""Gathers for a report what the user changed meanwhile, and the proof of each landing.

Git and receipts are read now: a landing that was reverted since is shown as no longer shipped.
"""

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
PATHS_LISTED = 5
UNKNOWN = "UNKNOWN"
_reader: FactReader[RunBegun | UnitLanded | IncidentFound] = FactReader(
    RunBegun | UnitLanded | IncidentFound,
    silent="""
        lease_granted lease_renewed lease_released lease_expired lease_revoked lease_adopted
        lease_refused spawn_intended worker_spawned worker_reaped lane_failed drain_requested
        fleet_started fleet_stopped decision_forced run_minted unit_claimed unit_taken work_salvaged
        agent_started agent_ended work_measured landing_intended landing_refused unit_attempted
        iteration_committed run_stopped id_allocated journal_pruned limit_hit limit_probed
        limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared unit_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found intent_declared extent_changed step_claimed step_verified run_suspended
        resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable hook_fault
        receipt_issued test_witnessed command_checked line_imported line_unreadable tool_called
        hook_answered marker_held marker_reset session_bound export_advanced notification_sent
        verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)


def user_changes(world: World, events: Iterable[Event]) -> list[str]:
    """Return a line for each commit of the user on the target branch, and one for edits.

    Neither landings nor incidents are among them. At most 50 commits are listed, the newest ones.
    Empty where git cannot tell.
    """
    git = Reader(world.workspace.root)
    try:
        first_commit, fleet_commits = _fleet_commits(git, events)
        ref = landed.target_ref(world)
        if not first_commit or isinstance(ref, Unknown):
            return []
        log = git.run(
            "log",
            f"--max-count={MOST_LISTED + len(fleet_commits)}",
            "--format=%H %s",
            f"{first_commit}..{ref}",
        )
        uncommitted = git.dirty_paths()
    except GitFailed:
        return []  # the history was rewritten since, or is not here
    lines = []
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        if commit not in fleet_commits:
            lines.append(f"{commit[:9]} {subject}")
    lines = lines[:MOST_LISTED]
    if uncommitted:
        lines.append(f"not committed: {_first_paths(uncommitted)}")
    return lines


def _fleet_commits(git: Reader, events: Iterable[Event]) -> tuple[str, set[str]]:
    """Return the commit at which the first run began, and all commits that agents made."""
    first_commit = ""
    commits: set[str] = set()
    for event in events:
        match _reader.decode(event):
            case None:
                pass
            case RunBegun() as fact:
                first_commit = first_commit or fact.start_sha
            case UnitLanded() as fact:
                commits.add(fact.commit)
                if fact.base:
                    commits.update(git.commits_between(fact.base, fact.commit))
            case IncidentFound() as fact:
                commits.update(fact.commits)
            case never:
                assert_never(never)
    return first_commit, commits


def _first_paths(paths: list[str]) -> str:
    """Return the first few paths, and how many more there are."""
    text = ", ".join(paths[:PATHS_LISTED])
    more = len(paths) - PATHS_LISTED
    if more > 0:
        text += f" and {more} more"
    return text


def landing_proof(proof: Proof) -> LandingProof:
    """Return the proof of a landing as people read it."""
    receipt = _receipt_proof(proof.receipt) if proof.receipt else None
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


def _receipt_proof(checked: CheckedReceipt) -> ReceiptProof:
    """Return a checked receipt as people read it: its command without the shell around it."""
    receipt = checked.receipt
    if receipt is None:
        return ReceiptProof(valid=checked.valid, why=checked.why)
    words = receipt.command
    if words[:2] == ("sh", "-c"):
        words = words[2:]
    return ReceiptProof(
        valid=checked.valid,
        why=checked.why,
        verdict=receipt.verdict,
        key_id="" if receipt.algorithm == Algorithm.NONE else receipt.key_id,
        runner=receipt.runner,
        command=" ".join(words),
        exit_code=receipt.exit_code,
    )
