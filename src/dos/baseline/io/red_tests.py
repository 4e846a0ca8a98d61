"""Tell whether failing tests are the fault of the work, or of the machine and the target branch.

When tests fail at a landing, they also run on the commit below the work. If they fail there too,
the attempt does not count as failed: the work waits until the target is in order.
"""

from collections.abc import Callable

from dos.agents.io.halt_listener import HaltListener
from dos.baseline import gate
from dos.baseline.gate import Baselines, CheckQuestion, is_accepted, is_current
from dos.baseline.io.check import Baseline, CheckRequest
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.journal.events.limits import BaselineChecked
from dos.lease import Lease
from dos.questions.state import Decisions
from dos.verify.baseline import Subject

LATELY_MS = 600_000  # a test that passed more recently shows that this machine is in order


class BaselineRetest:
    """Runs the tests on the commit below the work.

    A recent check by another lane of this host is used instead of a new one: when the target is
    broken, all lanes find out at the same time.
    """

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
        """How the tests fail on a commit without an agent's work.

        None when they pass, or when a person accepted that they fail. Raises Halted when a person
        halts the run meanwhile.
        """
        if not self._baseline.is_enabled:
            return None
        request = CheckRequest(
            commit=commit,
            branch=branch,
            lease=lease,
            failures=self._baselines().failures.get(lease.host, 0),
        )
        with self._listen(lease.run_id) as listener:
            checked = self._baseline.check(
                request, stopped=listener.must_stop, known=self._checked_lately
            )
        listener.raise_if_halted()
        if checked is None or checked.passed or is_accepted(checked, self._questions()):
            return None
        return checked

    def _baselines(self) -> Baselines:
        """The checks that are recorded now."""
        self._watch.refresh()
        return self._watch.state(Baselines)

    def _questions(self) -> list[CheckQuestion]:
        """The questions about failed checks, open and answered."""
        return gate.check_questions(self._watch.state(Decisions))

    def _checked_lately(self, subject: Subject) -> BaselineChecked | None:
        """A check of the same subject that still counts, by any lane of this host.

        A failure counts until a person answers or starts the fleet again; a success only for a
        while.
        """
        check = self._baselines().by_subject().get(subject)
        if check is None:
            return None
        started_ms = self._watch.state(FleetState).started_ms
        if not is_current(check, self._questions(), started_ms=started_ms):
            return None
        is_late = self._now_ms() - check.at_ms > LATELY_MS
        if check.passed and is_late:
            return None  # it tells nothing about the machine as it is now
        return gate.as_fact(check)
