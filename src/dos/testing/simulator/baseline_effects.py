"""How a simulated supervisor checks its host's baseline: the tests on the untouched target branch.

Only some worlds have a baseline check. There, a host may have a fault that makes the check fail
until a person fixes the host.
"""

from dos.baseline import gate
from dos.baseline.gate import check_questions
from dos.fleet.tick import CheckBaseline
from dos.journal.events.limits import BaselineChecked, BaselineStarted
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import Host, Later, Process
from dos.testing.simulator.world.repository import TARGET
from dos.testing.simulator.world.site import Site
from dos.verify.baseline import Subject

COMMANDS = "make test"
CHECK_SECONDS = 5.0
# The fault of a host is drawn from these; half of the hosts have none.
HOST_FAULTS = ("", "", faults.RED_TARGET, faults.BLIND_TEST)


class BaselineEffects:
    """Decides by the product's gate whether a host may start workers, and performs its check."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.scheduler = site.scheduler
        self._cleared: set[int] = set()  # supervisors whose host passed its baseline check

    def baseline_plan(self, process: Process) -> gate.Plan:
        """Return the supervisor's next step: start workers, check first, or wait for a person.

        A supervisor whose host was cleared stays cleared until the plan says otherwise.
        """
        planned = self.baseline_of(process.host, cleared=process.pid in self._cleared)
        if planned.step is gate.Step.CLEAR:
            self._cleared.add(process.pid)
        else:
            self._cleared.discard(process.pid)
        return planned

    def baseline_of(self, host: Host, *, cleared: bool = False) -> gate.Plan:
        """Return the plan for the host; worlds without a baseline check are always clear."""
        site = self.site
        if not site.workspace.is_checked:
            return gate.Plan(step=gate.Step.CLEAR)
        return gate.plan(
            self._subject(host),
            site.baselines.by_subject(),
            check_questions(site.decisions),
            newest=site.baselines.newest(host.name, COMMANDS),
            started_ms=site.fleet.started_ms,
            cleared=cleared,
        )

    def _subject(self, host: Host) -> Subject:
        """Return what a check is about; in the model a commit stands for its tree."""
        return Subject(host=host.name, tree=self.site.repository.target, commands=COMMANDS)

    def check_to_begin(self, host: Host) -> BaselineStarted:
        """Return the event that a supervisor records before it checks the host."""
        commit = self.site.repository.target
        return BaselineStarted(host=host.name, branch=TARGET, commit=commit, command=COMMANDS)

    def check_baseline(
        self, process: Process, _effect: CheckBaseline
    ) -> Later[BaselineChecked | None]:
        """Check the baseline of a host; on some hosts it fails until a person fixes it.

        The supervisor may die meanwhile, and the branch may move.
        """
        subject = self._subject(process.host)
        fault = self._host_fault(subject.host)
        ordinal = 0
        if fault:
            self.scheduler.counts[fault] += 1
            ordinal = self.site.baselines.failures.get(subject.host, 0) + 1
        is_red = fault == faults.RED_TARGET
        checked = BaselineChecked(
            host=subject.host,
            branch=TARGET,
            commit=subject.tree,
            tree=subject.tree,
            commands=subject.commands,
            command=COMMANDS,
            passed=not is_red,
            blanked=1,
            # Whether tests see their tree is only known of tests that pass.
            sees_tree=None if is_red else fault != faults.BLIND_TEST,
            ordinal=ordinal,
        )
        return Later(CHECK_SECONDS, checked)

    def _host_fault(self, host: str) -> str:
        """Draw the host's fault at its first check; once the faults are over it has none."""
        if self.scheduler.is_calm:
            return ""
        return self.site.host_faults.setdefault(host, self.site.random.choice(HOST_FAULTS))
