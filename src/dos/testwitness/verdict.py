"""Judges whether a test is evidence for a change: it fails without the change, and passes with it.

There are two ways to know. A caller reports how the test came out, which can speak against the
change and never for it. Or a runner saw the old and the new tests on the old and the new code, each
of the four combinations in its own tree.
"""

from enum import StrEnum

from msgspec import Struct, field, structs

from dos.text import join_some
from dos.witness.accountability import Accountability


class SuiteOutcome(StrEnum):
    """How a run of tests came out."""

    PASS = "pass"
    FAIL = "fail"  # a test failed
    ERROR = "error"  # it broke off before a test could fail
    NOT_RUN = "not-run"  # it did not start, took too long, or had no test


SPELLINGS = {outcome.value: outcome for outcome in SuiteOutcome} | {
    "passed": SuiteOutcome.PASS,
    "failed": SuiteOutcome.FAIL,
    "errored": SuiteOutcome.ERROR,
    "notrun": SuiteOutcome.NOT_RUN,
}


class Answer(StrEnum):
    """What a test shows about a change."""

    DISCRIMINATES = "DISCRIMINATES"
    VACUOUS = "VACUOUS"  # passes without the change too
    UNSATISFIED = "UNSATISFIED"  # fails with the change
    REGRESSIVE = "REGRESSIVE"  # old tests that passed fail now
    ABSTAIN = "ABSTAIN"
    FLAKY = "FLAKY"  # the same tests on the same code had different outcomes


class Evidence(Struct, frozen=True, kw_only=True):
    """The outcome without and with the change, and who reports it."""

    baseline: SuiteOutcome = SuiteOutcome.NOT_RUN  # without the change
    candidate: SuiteOutcome = SuiteOutcome.NOT_RUN  # with it
    rung: Accountability = Accountability.AGENT_AUTHORED


class Verdict(Struct, frozen=True, kw_only=True):
    """What a test shows about a change."""

    answer: Answer = field(name="verdict")
    reason: str
    witnesses: bool = False  # the test is evidence for the change
    assert_level: bool = False  # without the change a test failed, and did not just break off
    evidence: Evidence = Evidence()


def judge(seen: Evidence, *, disowned: bool = False) -> Verdict:
    """Judge outcomes that a caller reports.

    `disowned`: the caller says that the claimant could have made them up.
    """

    def verdict(answer: Answer, reason: str) -> Verdict:
        witnesses = answer is Answer.DISCRIMINATES
        return Verdict(
            answer=answer,
            reason=reason,
            witnesses=witnesses,
            assert_level=witnesses and seen.baseline is SuiteOutcome.FAIL,
            evidence=seen,
        )

    before = seen.baseline
    after = seen.candidate
    if disowned:
        return verdict(Answer.ABSTAIN, "the claimant could have made the outcomes up")
    if SuiteOutcome.NOT_RUN in (before, after):
        return verdict(Answer.ABSTAIN, f"without the change: {before}; with it: {after}")
    if before is SuiteOutcome.PASS and after is not SuiteOutcome.PASS:
        return verdict(Answer.REGRESSIVE, f"it passed without the change, and with it: {after}")
    if after is not SuiteOutcome.PASS:
        return verdict(Answer.UNSATISFIED, f"with the change: {after}")
    if before is SuiteOutcome.PASS:
        return verdict(Answer.VACUOUS, "it passes without the change as well")
    if seen.rung.is_forgeable:
        return verdict(
            Answer.ABSTAIN, "red to green by somebody's word, and nobody here saw it run"
        )
    return verdict(Answer.DISCRIMINATES, f"without the change: {before}; with it: pass")


class Cell(StrEnum):
    """A combination of old or new tests with old or new code."""

    OLD_OLD = "old_tests_old_code"
    OLD_NEW = "old_tests_new_code"
    NEW_OLD = "new_tests_old_code"
    NEW_NEW = "new_tests_new_code"

    @property
    def new_tests(self) -> bool:
        """Whether the tests are those of the change."""
        return self in (Cell.NEW_OLD, Cell.NEW_NEW)

    @property
    def new_code(self) -> bool:
        """Whether the code is that of the change."""
        return self in (Cell.OLD_NEW, Cell.NEW_NEW)

    def __str__(self) -> str:
        tests = "new" if self.new_tests else "old"
        code = "new" if self.new_code else "old"
        return f"{tests} tests on {code} code"


class SuiteRun(Struct, frozen=True, kw_only=True):
    """One run of a test command."""

    outcome: SuiteOutcome
    why: str = ""
    tests: int | None = None  # how many its runner counted; None: it printed no number
    exit_code: int | None = None
    seconds: float = 0.0


Runs = tuple[SuiteRun, ...]


class IntendedTest(Struct, frozen=True, kw_only=True):
    """An old test that is marked to fail on the new code, and how it came out there."""

    test: str  # as it was marked
    outcome: SuiteOutcome = SuiteOutcome.NOT_RUN  # with all old tests that are not marked

    @property
    def fails(self) -> bool:
        """Whether the mark excuses something."""
        return self.outcome in (SuiteOutcome.FAIL, SuiteOutcome.ERROR)


class Matrix(Struct, frozen=True, kw_only=True):
    """The runs of each cell in order; a cell without runs was not tried."""

    old_tests_old_code: Runs = ()
    old_tests_new_code: Runs = ()
    new_tests_old_code: Runs = ()
    new_tests_new_code: Runs = ()
    has_old_tests: bool = True  # without any, the old tests are not run
    has_unmarked_tests: bool = True  # without any, none is left to run on the new code
    intended: tuple[IntendedTest, ...] = ()  # old tests that are meant to fail on the new code
    hindrance: str = ""  # why nothing can be measured
    weakened: tuple[str, ...] = ()  # tests that the change itself weakens
    rung: Accountability = Accountability.AGENT_AUTHORED

    def runs(self, cell: Cell) -> Runs:
        """Return the runs of a cell."""
        found: Runs = getattr(self, cell.value)
        return found

    def with_run(self, cell: Cell, run: SuiteRun) -> "Matrix":
        """Return the matrix with one more run of a cell."""
        return structs.replace(self, **{cell.value: (*self.runs(cell), run)})

    @property
    def old_row(self) -> tuple[Cell, ...]:
        """The cells of the old tests, if there are any."""
        if not self.has_old_tests:
            return ()
        if not self.has_unmarked_tests:
            return (Cell.OLD_OLD,)
        return (Cell.OLD_OLD, Cell.OLD_NEW)


def remaining_runs(seen: Matrix, repeat: int) -> list[Cell]:
    """Return the runs that are needed before a verdict, in any order; none when one is possible.

    Old tests that pass once are enough. Where they fail, they decide, and so are repeated.
    """
    if seen.hindrance or any(_is_decided(seen.runs(cell)) for cell in Cell):
        return []
    for cell in seen.old_row:
        runs = seen.runs(cell)
        if not runs:
            return [cell]
        if runs[-1].outcome is not SuiteOutcome.PASS:
            return [cell] * (repeat - len(runs))
    remaining: list[Cell] = []
    for cell in (Cell.NEW_OLD, Cell.NEW_NEW):
        remaining += [cell] * (repeat - len(seen.runs(cell)))
    return remaining


def judge_matrix(seen: Matrix) -> Verdict:
    """Judge what a runner saw: the old tests first, then whether the new ones discriminate."""
    evidence = Evidence(
        baseline=_last(seen.new_tests_old_code),
        candidate=_last(seen.new_tests_new_code),
        rung=seen.rung,
    )
    abstention = Verdict(answer=Answer.ABSTAIN, reason=seen.hindrance, evidence=evidence)
    if seen.hindrance:
        return abstention
    # Cells with runs first: the runner stops as soon as a verdict is possible.
    cells = sorted((*seen.old_row, Cell.NEW_OLD, Cell.NEW_NEW), key=lambda c: not seen.runs(c))
    for cell in cells:
        problem = _cell_problem(cell, seen.runs(cell))
        if problem:
            answer, reason = problem
            return structs.replace(abstention, answer=answer, reason=reason)
    silent = _ended_early(seen)
    if silent:
        reason = f"{silent}: exit 0, and not the last line that the test runner prints elsewhere"
        return structs.replace(abstention, reason=reason)
    return _qualified(judge(evidence), seen)


def _cell_problem(cell: Cell, runs: Runs) -> tuple[Answer, str] | None:
    """Return the verdict that one cell alone decides, or None."""
    if len({run.outcome for run in runs}) > 1:
        outcomes = ", then ".join(run.outcome for run in runs)
        return Answer.FLAKY, f"{cell}: {outcomes}"
    outcome = _last(runs)
    if outcome is SuiteOutcome.NOT_RUN:
        why = runs[-1].why if runs else "not run"
        return Answer.ABSTAIN, f"{cell}: {why}"
    if outcome is SuiteOutcome.PASS:
        return None
    if cell is Cell.OLD_OLD:
        return Answer.ABSTAIN, f"{cell}: {outcome}; the tests failed before the change"
    if cell is Cell.OLD_NEW:
        reason = f"{cell}: {outcome}; tests that passed before the change fail now"
        return Answer.REGRESSIVE, reason
    return None


def _qualified(verdict: Verdict, seen: Matrix) -> Verdict:
    """Abstain where the change weakens tests itself; else add how often the tests ran."""
    if verdict.answer is not Answer.DISCRIMINATES:
        return verdict
    if seen.weakened:
        reason = f"red to green, and the same change weakens tests: {join_some(seen.weakened, 3)}"
        return structs.replace(
            verdict, answer=Answer.ABSTAIN, reason=reason, witnesses=False, assert_level=False
        )
    unknown = [mark.test for mark in seen.intended if mark.outcome is SuiteOutcome.NOT_RUN]
    if unknown:
        reason = f"red to green, and tests that are meant to fail did not run: {join_some(unknown)}"
        return structs.replace(
            verdict, answer=Answer.ABSTAIN, reason=reason, witnesses=False, assert_level=False
        )
    baseline = verdict.evidence.baseline
    reason = f"the new tests come out as {baseline} on the old code and pass on the new"
    times = len(seen.new_tests_new_code)
    if times > 1:
        reason += f", {times} times each"
    failing = [mark.test for mark in seen.intended if mark.fails]
    if failing:
        reason += f"; old tests that fail on the new code as intended: {join_some(failing)}"
    return structs.replace(verdict, reason=reason)


def _is_decided(runs: Runs) -> bool:
    """Whether another run could not change the answer."""
    outcomes = {run.outcome for run in runs}
    return len(outcomes) > 1 or SuiteOutcome.NOT_RUN in outcomes


def _last(runs: Runs) -> SuiteOutcome:
    """Return the outcome of the last run of a cell."""
    if not runs:
        return SuiteOutcome.NOT_RUN
    return runs[-1].outcome


def _ended_early(seen: Matrix) -> Cell | None:
    """Return a cell that passed without a summary, where the runner prints one in other cells.

    Code that ends its own process with exit code 0 looks like this.
    """
    silent = None
    prints_summary = False
    for cell in (Cell.NEW_NEW, Cell.OLD_NEW, Cell.NEW_OLD, Cell.OLD_OLD):
        for run in seen.runs(cell):
            if run.tests is not None:
                prints_summary = True
            elif run.outcome is SuiteOutcome.PASS and silent is None:
                silent = cell
    if not prints_summary:
        return None
    return silent
