"""The planted bugs by name, each with the promise that it breaks.

`dos simulate --plant NAME` plants one and ends at the first seed that notices it. A simulator that
notices none of them would prove nothing about the product.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from dos.testing.simulator import landing_mutants, supervisor_mutants, worker_mutants
from dos.testing.simulator.talks import mutants as talk_mutants
from dos.testing.simulator.world import invariants

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation


class PlantedBug(NamedTuple):
    """How to plant the bug, and the invariant that has to fail.

    A bug that makes another invariant fail first is not noticed for what it is, so tests compare.
    """

    plant: Callable[["Simulation", ExitStack], None]
    breaks: str


PLANTED = {
    "fence-not-checked": PlantedBug(worker_mutants.fence_not_checked, invariants.NO_ZOMBIE),
    "reap-by-fence-alone": PlantedBug(worker_mutants.reap_by_fence_alone, invariants.DEAD_ONLY),
    "host-clock": PlantedBug(worker_mutants.host_clock, invariants.STORE_TIME),
    "answered-again": PlantedBug(worker_mutants.answered_again, invariants.ONE_ANSWER),
    "versions-skipped": PlantedBug(worker_mutants.versions_skipped, invariants.POSITIONS),
    "everything-admitted": PlantedBug(worker_mutants.everything_admitted, invariants.DISJOINT),
    "class-not-counted": PlantedBug(worker_mutants.class_not_counted, invariants.BUDGET),
    "parts-not-counted": PlantedBug(worker_mutants.parts_not_counted, invariants.BUDGET),
    "table-left-behind": PlantedBug(worker_mutants.table_left_behind, invariants.TABLE),
    "ended-again": PlantedBug(worker_mutants.ended_again, invariants.CURRENT),
    "too-much-pruned": PlantedBug(worker_mutants.too_much_pruned, invariants.RETENTION),
    "branch-without-fence": PlantedBug(worker_mutants.branch_without_fence, invariants.GIT_FENCE),
    "resume-without-git": PlantedBug(worker_mutants.resume_without_git, invariants.NO_LIE),
    "claim-believed": PlantedBug(worker_mutants.claim_believed, invariants.NO_LIE),
    "no-key": PlantedBug(worker_mutants.no_key, invariants.ONCE),
    "landing-without-intent": PlantedBug(worker_mutants.landing_without_intent, invariants.INTENT),
    "cleared-unsaved": PlantedBug(worker_mutants.cleared_unsaved, invariants.KEPT),
    "promises-ignored": PlantedBug(worker_mutants.promises_ignored, invariants.OVERDRAWN),
    "money-forgotten": PlantedBug(worker_mutants.money_forgotten, invariants.MONEY),
    "word-after-the-last": PlantedBug(worker_mutants.word_after_the_last, invariants.STOPPED),
    "untyped-stop": PlantedBug(worker_mutants.untyped_stop, invariants.TYPED),
    "open-question-passed": PlantedBug(worker_mutants.open_question_passed, invariants.BASELINE),
    "another-version-ignored": PlantedBug(
        worker_mutants.another_version_ignored, invariants.UPGRADE
    ),
    "turn-taken": PlantedBug(worker_mutants.turn_taken, invariants.TURNS),
    "deaf": PlantedBug(worker_mutants.deaf, invariants.LIVENESS),
    "decided-by-another-state": PlantedBug(
        worker_mutants.decided_by_another_state, invariants.REPLAY
    ),
    "limit-is-a-failure": PlantedBug(worker_mutants.limit_is_a_failure, invariants.LIMITS),
    "reap-reads-again": PlantedBug(supervisor_mutants.reap_reads_again, invariants.DEAD_ONLY),
    "no-pending": PlantedBug(supervisor_mutants.no_pending, invariants.PENDING),
    "no-intensity": PlantedBug(supervisor_mutants.no_intensity, invariants.INTENSITY),
    "spinning-is-dead": PlantedBug(supervisor_mutants.spinning_is_dead, invariants.DEAD_ONLY),
    "names-are-machines": PlantedBug(supervisor_mutants.names_are_machines, invariants.DEAD_ONLY),
    "one-fleet-stream": PlantedBug(supervisor_mutants.one_fleet_stream, invariants.HOLDS),
    "start-clears-cooldowns": PlantedBug(
        supervisor_mutants.start_clears_cooldowns, invariants.COOLDOWN
    ),
    "retry-without-effect": PlantedBug(
        supervisor_mutants.retry_without_effect, invariants.TAKES_EFFECT
    ),
    "lane-not-cleared": PlantedBug(supervisor_mutants.lane_not_cleared, invariants.TAKES_EFFECT),
    "answer-not-looked-at": PlantedBug(
        supervisor_mutants.answer_not_looked_at, invariants.TAKES_EFFECT
    ),
    "undone-stays-undone": PlantedBug(
        supervisor_mutants.undone_stays_undone, invariants.TAKES_EFFECT
    ),
    "kept-commit-disputed": PlantedBug(
        supervisor_mutants.kept_commit_disputed, invariants.TAKES_EFFECT
    ),
    "deaths-not-forgotten": PlantedBug(
        supervisor_mutants.deaths_not_forgotten, invariants.TAKES_EFFECT
    ),
    "used-plan-ignored": PlantedBug(supervisor_mutants.used_plan_ignored, invariants.TAKES_EFFECT),
    "settings-of-the-start": PlantedBug(
        supervisor_mutants.settings_of_the_start, invariants.TAKES_EFFECT
    ),
    "red-target-ignored": PlantedBug(supervisor_mutants.red_target_ignored, invariants.BASELINE),
    "one-too-many": PlantedBug(supervisor_mutants.one_too_many, invariants.POPULATION),
    "accept-ignored": PlantedBug(landing_mutants.accept_ignored, invariants.TAKES_EFFECT),
    "acceptance-ignored": PlantedBug(landing_mutants.acceptance_ignored, invariants.ACCEPTED),
    "green-base-ignored": PlantedBug(landing_mutants.green_base_ignored, invariants.WITNESSED),
    "required-red-ignored": PlantedBug(landing_mutants.required_red_ignored, invariants.WITNESSED),
    "walls-down": PlantedBug(landing_mutants.walls_down, invariants.OWN_WORK),
    "strays-landed": PlantedBug(landing_mutants.strays_landed, invariants.OWN_WORK),
    "other-names-landed": PlantedBug(landing_mutants.other_names_landed, invariants.OWN_WORK),
    "history-ignored": PlantedBug(landing_mutants.history_ignored, invariants.OWN_WORK),
    "taken-before-saved": PlantedBug(landing_mutants.taken_before_saved, invariants.WHOLE),
    "torn-pack-taken": PlantedBug(landing_mutants.torn_pack_taken, invariants.WHOLE),
    "refused-is-empty": PlantedBug(landing_mutants.refused_is_empty, invariants.WHOLE),
    "settled-unsaved": PlantedBug(landing_mutants.settled_unsaved, invariants.WHOLE),
    "refused-removed": PlantedBug(landing_mutants.refused_removed, invariants.KEPT),
    "saved-again": PlantedBug(landing_mutants.saved_again, invariants.SAVED_ONCE),
    "answered-twice": PlantedBug(talk_mutants.answered_twice, invariants.ONE_REPLY),
    "asked-for-ever": PlantedBug(talk_mutants.asked_for_ever, invariants.ONE_REPLY),
    "region-forgotten": PlantedBug(talk_mutants.region_forgotten, invariants.REFUSED),
    "silence-allows": PlantedBug(talk_mutants.silence_allows, invariants.UNANSWERED),
    "nobody-asked": PlantedBug(talk_mutants.nobody_asked, invariants.UNANSWERED),
    "waiting-is-silence": PlantedBug(talk_mutants.waiting_is_silence, invariants.NOT_SILENT),
    "told-before-recorded": PlantedBug(talk_mutants.told_before_recorded, invariants.TOLD_ONCE),
    "told-to-nobody": PlantedBug(talk_mutants.told_to_nobody, invariants.TOLD_ONCE),
}


@contextmanager
def planted(name: str, simulation: "Simulation") -> Iterator[None]:
    """Plant the bug for the duration of a simulation; "" plants none.

    Patches of classes and modules are undone at the end; replaced methods go with the simulation.
    """
    with ExitStack() as patches:
        if name:
            PLANTED[name].plant(simulation, patches)
        yield
