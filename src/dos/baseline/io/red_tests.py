"""Whose fault is it that the workspace's tests fail: the work's, or that of whatever surrounds it?"""

from collections.abc import Callable

from dos.agents.io.halt_listener import HaltListener
from dos.baseline import gate
from dos.baseline.gate import Baselines, is_accepted, is_current
from dos.baseline.io.check import Baseline
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.journal.events.limits import BaselineChecked
from dos.lease import Lease
from dos.questions.state import Decisions
from dos.verify.baseline import Subject

LATELY_MS = 600_000  # so long a test that passed on a tree says that this machine is in order


class BaselineRetest:
    """Runs the tests on the commit that the work is on top of; what other lanes found out just now is not run again."""

    def __init__(
        self,
        baseline: Baseline,
        watch: fold.Watch,
        now_ms: Callable[[], int],
        listen: Callable[[str], HaltListener],
    ) -> None:
        self._baseline = baseline
        self._watch = watch
        self._now_ms = now_ms
        self._listen = listen

    def fault(self, commit: str, branch: str, lease: Lease) -> BaselineChecked | None:
        """How the tests fail on a commit without the work of an agent; None: they pass, or a person knows that they
        fail. Raises Halted when a person stops the run meanwhile."""
        if not self._baseline.is_enabled:
            return None
        with self._listen(lease.run_id) as listener:
            checked = self._baseline.check(
                commit,
                branch,
                lease,
                stopped=listener.must_stop,
                failures=self._known().failures.get(lease.host, 0),
                known=self._checked_lately,
            )
        listener.raise_if_halted()
        if checked is None or checked.passed:
            return None
        asked = gate.check_questions(self._watch.state(Decisions))
        return None if is_accepted(checked, asked) else checked

    def _known(self) -> Baselines:
        self._watch.refresh()
        return self._watch.state(Baselines)

    def _checked_lately(self, subject: Subject) -> BaselineChecked | None:
        check = self._known().by_subject().get(subject)
        asked = gate.check_questions(self._watch.state(Decisions))
        if check is None or not is_current(
            check, asked, started_ms=self._watch.state(FleetState).started_ms
        ):
            return None
        # What passed long ago says nothing about the machine as it is now.
        is_late = self._now_ms() - check.at_ms > LATELY_MS
        return None if check.passed and is_late else gate.as_fact(check)
