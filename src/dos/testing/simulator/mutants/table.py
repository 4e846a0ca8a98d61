"""The planted bugs by name, each with the promise that it breaks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from dos.testing.simulator import invariants
from dos.testing.simulator.mutants import fleet, store, worker

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation


class PlantedBug(NamedTuple):
    """How to plant the bug, and the invariant that has to fail."""

    plant: Callable[["Simulation", ExitStack], None]
    breaks: str


PLANTED = {
    "fence-not-checked": PlantedBug(store.fence_not_checked, invariants.NO_ZOMBIE),
    "reap-by-fence-alone": PlantedBug(store.reap_by_fence_alone, invariants.DEAD_ONLY),
    "host-clock": PlantedBug(store.host_clock, invariants.STORE_TIME),
    "answered-again": PlantedBug(store.answered_again, invariants.ONE_ANSWER),
    "versions-skipped": PlantedBug(store.versions_skipped, invariants.POSITIONS),
    "everything-admitted": PlantedBug(store.everything_admitted, invariants.DISJOINT),
    "class-not-counted": PlantedBug(store.class_not_counted, invariants.BUDGET),
    "table-left-behind": PlantedBug(store.table_left_behind, invariants.TABLE),
    "ended-again": PlantedBug(store.ended_again, invariants.CURRENT),
    "too-much-pruned": PlantedBug(store.too_much_pruned, invariants.RETENTION),
    "branch-without-fence": PlantedBug(worker.branch_without_fence, invariants.GIT_FENCE),
    "resume-without-git": PlantedBug(worker.resume_without_git, invariants.NO_LIE),
    "claim-believed": PlantedBug(worker.claim_believed, invariants.NO_LIE),
    "no-key": PlantedBug(worker.no_key, invariants.ONCE),
    "landing-without-intent": PlantedBug(worker.landing_without_intent, invariants.INTENT),
    "cleared-unsaved": PlantedBug(worker.cleared_unsaved, invariants.KEPT),
    "promises-ignored": PlantedBug(worker.promises_ignored, invariants.OVERDRAWN),
    "money-forgotten": PlantedBug(worker.money_forgotten, invariants.MONEY),
    "word-after-the-last": PlantedBug(worker.word_after_the_last, invariants.STOPPED),
    "untyped-stop": PlantedBug(worker.untyped_stop, invariants.TYPED),
    "open-question-passed": PlantedBug(worker.open_question_passed, invariants.BASELINE),
    "another-version-ignored": PlantedBug(worker.another_version_ignored, invariants.UPGRADE),
    "turn-taken": PlantedBug(worker.turn_taken, invariants.TURNS),
    "deaf": PlantedBug(worker.deaf, invariants.LIVENESS),
    "decided-by-another-state": PlantedBug(worker.decided_by_another_state, invariants.REPLAY),
    "limit-is-a-failure": PlantedBug(worker.limit_is_a_failure, invariants.LIMITS),
    "reap-reads-again": PlantedBug(fleet.reap_reads_again, invariants.DEAD_ONLY),
    "no-pending": PlantedBug(fleet.no_pending, invariants.PENDING),
    "no-intensity": PlantedBug(fleet.no_intensity, invariants.INTENSITY),
    "spinning-is-dead": PlantedBug(fleet.spinning_is_dead, invariants.DEAD_ONLY),
    "names-are-machines": PlantedBug(fleet.names_are_machines, invariants.DEAD_ONLY),
    "one-fleet-stream": PlantedBug(fleet.one_fleet_stream, invariants.HOLDS),
    "start-clears-cooldowns": PlantedBug(fleet.start_clears_cooldowns, invariants.COOLDOWN),
    "retry-without-effect": PlantedBug(fleet.retry_without_effect, invariants.TAKES_EFFECT),
    "lane-not-cleared": PlantedBug(fleet.lane_not_cleared, invariants.TAKES_EFFECT),
    "answer-not-looked-at": PlantedBug(fleet.answer_not_looked_at, invariants.TAKES_EFFECT),
    "undone-stays-undone": PlantedBug(fleet.undone_stays_undone, invariants.TAKES_EFFECT),
    "kept-commit-disputed": PlantedBug(fleet.kept_commit_disputed, invariants.TAKES_EFFECT),
    "deaths-not-forgotten": PlantedBug(fleet.deaths_not_forgotten, invariants.TAKES_EFFECT),
    "used-plan-ignored": PlantedBug(fleet.used_plan_ignored, invariants.TAKES_EFFECT),
    "settings-of-the-start": PlantedBug(fleet.settings_of_the_start, invariants.TAKES_EFFECT),
    "red-target-ignored": PlantedBug(fleet.red_target_ignored, invariants.BASELINE),
    "one-too-many": PlantedBug(fleet.one_too_many, invariants.POPULATION),
}


@contextmanager
def planted(name: str, simulation: "Simulation") -> Iterator[None]:
    """Plant the bug for the duration of a simulation; "" plants none."""
    with ExitStack() as patches:
        if name:
            PLANTED[name].plant(simulation, patches)
        yield
