"""All of them: what each is, and which promise it breaks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from dos.testing.simulation import invariants
from dos.testing.simulation.planted import in_the_fleet, in_the_store, in_the_worker

if TYPE_CHECKING:
    from dos.testing.simulation.seeds import Simulation


class Bug(NamedTuple):
    plant: Callable[["Simulation", ExitStack], None]
    breaks: str


PLANTED = {
    "fence-not-checked": Bug(in_the_store.fence_not_checked, invariants.NO_ZOMBIE),
    "reap-by-fence-alone": Bug(in_the_store.reap_by_fence_alone, invariants.DEAD_ONLY),
    "host-clock": Bug(in_the_store.host_clock, invariants.STORE_TIME),
    "answered-again": Bug(in_the_store.answered_again, invariants.ONE_ANSWER),
    "versions-skipped": Bug(in_the_store.versions_skipped, invariants.POSITIONS),
    "everything-admitted": Bug(in_the_store.everything_admitted, invariants.DISJOINT),
    "class-not-counted": Bug(in_the_store.class_not_counted, invariants.BUDGET),
    "table-left-behind": Bug(in_the_store.table_left_behind, invariants.TABLE),
    "ended-again": Bug(in_the_store.ended_again, invariants.CURRENT),
    "too-much-pruned": Bug(in_the_store.too_much_pruned, invariants.RETENTION),
    "branch-without-fence": Bug(in_the_worker.branch_without_fence, invariants.GIT_FENCE),
    "resume-without-git": Bug(in_the_worker.resume_without_git, invariants.NO_LIE),
    "claim-believed": Bug(in_the_worker.claim_believed, invariants.NO_LIE),
    "no-key": Bug(in_the_worker.no_key, invariants.ONCE),
    "landing-without-intent": Bug(in_the_worker.landing_without_intent, invariants.INTENT),
    "cleared-unsaved": Bug(in_the_worker.cleared_unsaved, invariants.KEPT),
    "promises-ignored": Bug(in_the_worker.promises_ignored, invariants.OVERDRAWN),
    "money-forgotten": Bug(in_the_worker.money_forgotten, invariants.MONEY),
    "word-after-the-last": Bug(in_the_worker.word_after_the_last, invariants.STOPPED),
    "untyped-stop": Bug(in_the_worker.untyped_stop, invariants.TYPED),
    "open-question-passed": Bug(in_the_worker.open_question_passed, invariants.BASELINE),
    "turn-taken": Bug(in_the_worker.turn_taken, invariants.TURNS),
    "deaf": Bug(in_the_worker.deaf, invariants.LIVENESS),
    "decided-by-another-state": Bug(in_the_worker.decided_by_another_state, invariants.REPLAY),
    "limit-is-a-failure": Bug(in_the_worker.limit_is_a_failure, invariants.LIMITS),
    "reap-reads-again": Bug(in_the_fleet.reap_reads_again, invariants.DEAD_ONLY),
    "no-pending": Bug(in_the_fleet.no_pending, invariants.PENDING),
    "no-intensity": Bug(in_the_fleet.no_intensity, invariants.INTENSITY),
    "spinning-is-dead": Bug(in_the_fleet.spinning_is_dead, invariants.DEAD_ONLY),
    "names-are-machines": Bug(in_the_fleet.names_are_machines, invariants.DEAD_ONLY),
    "one-fleet-stream": Bug(in_the_fleet.one_fleet_stream, invariants.HOLDS),
    "start-clears-cooldowns": Bug(in_the_fleet.start_clears_cooldowns, invariants.COOLDOWN),
    "retry-without-effect": Bug(in_the_fleet.retry_without_effect, invariants.TAKES_EFFECT),
    "lane-not-cleared": Bug(in_the_fleet.lane_not_cleared, invariants.TAKES_EFFECT),
    "answer-not-looked-at": Bug(in_the_fleet.answer_not_looked_at, invariants.TAKES_EFFECT),
    "undone-stays-undone": Bug(in_the_fleet.undone_stays_undone, invariants.TAKES_EFFECT),
    "kept-commit-disputed": Bug(in_the_fleet.kept_commit_disputed, invariants.TAKES_EFFECT),
    "deaths-not-forgotten": Bug(in_the_fleet.deaths_not_forgotten, invariants.TAKES_EFFECT),
    "used-plan-ignored": Bug(in_the_fleet.used_plan_ignored, invariants.TAKES_EFFECT),
    "settings-of-the-start": Bug(in_the_fleet.settings_of_the_start, invariants.TAKES_EFFECT),
    "red-target-ignored": Bug(in_the_fleet.red_target_ignored, invariants.BASELINE),
    "one-too-many": Bug(in_the_fleet.one_too_many, invariants.POPULATION),
}


@contextmanager
def switched_on(name: str, simulation: "Simulation") -> Iterator[None]:
    with ExitStack() as patches:
        if name:
            PLANTED[name].plant(simulation, patches)
        yield
