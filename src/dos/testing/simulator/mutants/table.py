"""All of them: what each is, and which promise it breaks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from dos.testing.simulator import invariants
from dos.testing.simulator.mutants import fleet, store, worker

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation


class Bug(NamedTuple):
    plant: Callable[["Simulation", ExitStack], None]
    breaks: str


PLANTED = {
    "fence-not-checked": Bug(store.fence_not_checked, invariants.NO_ZOMBIE),
    "reap-by-fence-alone": Bug(store.reap_by_fence_alone, invariants.DEAD_ONLY),
    "host-clock": Bug(store.host_clock, invariants.STORE_TIME),
    "answered-again": Bug(store.answered_again, invariants.ONE_ANSWER),
    "versions-skipped": Bug(store.versions_skipped, invariants.POSITIONS),
    "everything-admitted": Bug(store.everything_admitted, invariants.DISJOINT),
    "class-not-counted": Bug(store.class_not_counted, invariants.BUDGET),
    "table-left-behind": Bug(store.table_left_behind, invariants.TABLE),
    "ended-again": Bug(store.ended_again, invariants.CURRENT),
    "too-much-pruned": Bug(store.too_much_pruned, invariants.RETENTION),
    "branch-without-fence": Bug(worker.branch_without_fence, invariants.GIT_FENCE),
    "resume-without-git": Bug(worker.resume_without_git, invariants.NO_LIE),
    "claim-believed": Bug(worker.claim_believed, invariants.NO_LIE),
    "no-key": Bug(worker.no_key, invariants.ONCE),
    "landing-without-intent": Bug(worker.landing_without_intent, invariants.INTENT),
    "cleared-unsaved": Bug(worker.cleared_unsaved, invariants.KEPT),
    "promises-ignored": Bug(worker.promises_ignored, invariants.OVERDRAWN),
    "money-forgotten": Bug(worker.money_forgotten, invariants.MONEY),
    "word-after-the-last": Bug(worker.word_after_the_last, invariants.STOPPED),
    "untyped-stop": Bug(worker.untyped_stop, invariants.TYPED),
    "open-question-passed": Bug(worker.open_question_passed, invariants.BASELINE),
    "another-version-ignored": Bug(worker.another_version_ignored, invariants.UPGRADE),
    "turn-taken": Bug(worker.turn_taken, invariants.TURNS),
    "deaf": Bug(worker.deaf, invariants.LIVENESS),
    "decided-by-another-state": Bug(worker.decided_by_another_state, invariants.REPLAY),
    "limit-is-a-failure": Bug(worker.limit_is_a_failure, invariants.LIMITS),
    "reap-reads-again": Bug(fleet.reap_reads_again, invariants.DEAD_ONLY),
    "no-pending": Bug(fleet.no_pending, invariants.PENDING),
    "no-intensity": Bug(fleet.no_intensity, invariants.INTENSITY),
    "spinning-is-dead": Bug(fleet.spinning_is_dead, invariants.DEAD_ONLY),
    "names-are-machines": Bug(fleet.names_are_machines, invariants.DEAD_ONLY),
    "one-fleet-stream": Bug(fleet.one_fleet_stream, invariants.HOLDS),
    "start-clears-cooldowns": Bug(fleet.start_clears_cooldowns, invariants.COOLDOWN),
    "retry-without-effect": Bug(fleet.retry_without_effect, invariants.TAKES_EFFECT),
    "lane-not-cleared": Bug(fleet.lane_not_cleared, invariants.TAKES_EFFECT),
    "answer-not-looked-at": Bug(fleet.answer_not_looked_at, invariants.TAKES_EFFECT),
    "undone-stays-undone": Bug(fleet.undone_stays_undone, invariants.TAKES_EFFECT),
    "kept-commit-disputed": Bug(fleet.kept_commit_disputed, invariants.TAKES_EFFECT),
    "deaths-not-forgotten": Bug(fleet.deaths_not_forgotten, invariants.TAKES_EFFECT),
    "used-plan-ignored": Bug(fleet.used_plan_ignored, invariants.TAKES_EFFECT),
    "settings-of-the-start": Bug(fleet.settings_of_the_start, invariants.TAKES_EFFECT),
    "red-target-ignored": Bug(fleet.red_target_ignored, invariants.BASELINE),
    "one-too-many": Bug(fleet.one_too_many, invariants.POPULATION),
}


@contextmanager
def switched_on(name: str, simulation: "Simulation") -> Iterator[None]:
    with ExitStack() as patches:
        if name:
            PLANTED[name].plant(simulation, patches)
        yield
