"""Is a test evidence for a change: is it red without the change, and green with it?

Two ways to know. Somebody says how the test came out, which can speak against the change and never for it. Or a runner
saw the old and the new tests on the old and on the new code, each of the four in a tree of its own.
"""

from enum import StrEnum

from msgspec import Struct, field, structs

from dos.text import join_some
from dos.witness.accountability import Accountability


class SuiteOutcome(StrEnum):
    """How a run of tests came out."""

    PASS = "pass"
    FAIL = "fail"  # a test said no
    ERROR = "error"  # it did not come as far as that
    NOT_RUN = "not-run"  # nothing can be said: it could not be started, took too long, or had no test in it


SPELLINGS = {outcome.value: outcome for outcome in SuiteOutcome} | {
    "passed": SuiteOutcome.PASS,
    "failed": SuiteOutcome.FAIL,
    "errored": SuiteOutcome.ERROR,
    "notrun": SuiteOutcome.NOT_RUN,
}


class Answer(StrEnum):
    DISCRIMINATES = "DISCRIMINATES"
    VACUOUS = "VACUOUS"  # green without the change as well
    UNSATISFIED = "UNSATISFIED"  # red with the change
    REGRESSIVE = "REGRESSIVE"  # what was green is red now
    ABSTAIN = "ABSTAIN"
    FLAKY = "FLAKY"  # the same tests on the same code did not come out the same


class Evidence(Struct, frozen=True, kw_only=True):
    baseline: SuiteOutcome = SuiteOutcome.NOT_RUN  # without the change
    candidate: SuiteOutcome = SuiteOutcome.NOT_RUN  # with it
    rung: Accountability = Accountability.AGENT_AUTHORED


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer = field(name="verdict")
    reason: str
    witnesses: bool = False  # the test stands behind the change
    assert_level: bool = False  # without the change a test said no; it did not merely break
    evidence: Evidence = Evidence()


def judge(seen: Evidence, *, disowned: bool = False) -> Verdict:
    """Of outcomes that are told; disowned: by somebody who could have made them up, and says so."""

    def verdict(answer: Answer, reason: str) -> Verdict:
        good = answer is Answer.DISCRIMINATES
        assert_level = good and seen.baseline is SuiteOutcome.FAIL
        return Verdict(
            answer=answer, reason=reason, witnesses=good, assert_level=assert_level, evidence=seen
        )

    before, after = seen.baseline, seen.candidate
    if disowned:
        return verdict(Answer.ABSTAIN, "whoever is judged could have made the outcomes up")
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
    """Which tests on which code."""

    OLD_OLD = "old_tests_old_code"
    OLD_NEW = "old_tests_new_code"
    NEW_OLD = "new_tests_old_code"
    NEW_NEW = "new_tests_new_code"

    @property
    def new_tests(self) -> bool:
        return self in (Cell.NEW_OLD, Cell.NEW_NEW)

    @property
    def new_code(self) -> bool:
        return self in (Cell.OLD_NEW, Cell.NEW_NEW)

    def __str__(self) -> str:
        return f"{'new' if self.new_tests else 'old'} tests on {'new' if self.new_code else 'old'} code"


class SuiteRun(Struct, frozen=True, kw_only=True):
    outcome: SuiteOutcome
    why: str = ""
    tests: int | None = (
        None  # how many its runner said it ran; None: it said nothing that we can read
    )
    exit_code: int | None = None
    seconds: float = 0.0


Runs = tuple[SuiteRun, ...]


class Matrix(Struct, frozen=True, kw_only=True):
    """What a runner saw of each cell, in order; no runs: it was not looked at."""

    old_tests_old_code: Runs = ()
    old_tests_new_code: Runs = ()
    new_tests_old_code: Runs = ()
    new_tests_new_code: Runs = ()
    has_old_tests: bool = True  # without any, there is nothing that the old row could say
    hindrance: str = ""  # why there is nothing to look at in the first place
    weakened: tuple[str, ...] = ()  # tests that the change itself made ask for less
    rung: Accountability = Accountability.AGENT_AUTHORED

    def runs(self, cell: Cell) -> Runs:
        found: Runs = getattr(self, cell.value)
        return found

    def with_run(self, cell: Cell, run: SuiteRun) -> "Matrix":
        return structs.replace(self, **{cell.value: (*self.runs(cell), run)})

    @property
    def old_row(self) -> tuple[Cell, ...]:
        return (Cell.OLD_OLD, Cell.OLD_NEW) if self.has_old_tests else ()


def remaining_runs(seen: Matrix, repeat: int) -> list[Cell]:
    """The runs that are still to be made before anything can be said, in any order; none: it can be said now."""
    if seen.hindrance or any(_cut_short(seen.runs(cell)) for cell in Cell):
        return []
    for cell in seen.old_row:  # green once is enough; red decides, and is asked again
        runs = seen.runs(cell)
        if not runs:
            return [cell]
        if runs[-1].outcome is not SuiteOutcome.PASS:
            return [cell] * (repeat - len(runs))
    return [
        cell for cell in (Cell.NEW_OLD, Cell.NEW_NEW) for _ in range(repeat - len(seen.runs(cell)))
    ]


def judge_matrix(seen: Matrix) -> Verdict:
    """Of what a runner saw."""

    def verdict(answer: Answer, reason: str) -> Verdict:
        return Verdict(answer=answer, reason=reason, evidence=evidence)

    before, after = _last(seen.new_tests_old_code), _last(seen.new_tests_new_code)
    evidence = Evidence(baseline=before, candidate=after, rung=seen.rung)
    if seen.hindrance:
        return verdict(Answer.ABSTAIN, seen.hindrance)
    cells = (*seen.old_row, Cell.NEW_OLD, Cell.NEW_NEW)
    # First what was seen, then what is missing: whoever ran them stopped at what can be said.
    for cell in sorted(cells, key=lambda cell: not seen.runs(cell)):
        runs = seen.runs(cell)
        if len({run.outcome for run in runs}) > 1:
            return verdict(Answer.FLAKY, f"{cell}: {', then '.join(run.outcome for run in runs)}")
        outcome = _last(runs)
        if outcome is SuiteOutcome.NOT_RUN:
            return verdict(Answer.ABSTAIN, f"{cell}: {runs[-1].why if runs else 'not run'}")
        if cell is Cell.OLD_OLD and outcome is not SuiteOutcome.PASS:
            return verdict(
                Answer.ABSTAIN, f"{cell}: {outcome}; the tests were red before the change"
            )
        if cell is Cell.OLD_NEW and outcome is not SuiteOutcome.PASS:
            return verdict(
                Answer.REGRESSIVE, f"{cell}: {outcome}; what was green before the change is red now"
            )
    if silent := _ended_early(seen):
        reason = f"{silent}: exit 0, and not the last line that the test runner prints elsewhere"
        return verdict(Answer.ABSTAIN, reason)
    return _qualified(judge(evidence), seen)


def _qualified(verdict: Verdict, seen: Matrix) -> Verdict:
    if verdict.answer is not Answer.DISCRIMINATES:
        return verdict
    if seen.weakened:
        reason = f"red to green, and the same change weakens tests: {join_some(seen.weakened, 3)}"
        return structs.replace(
            verdict, answer=Answer.ABSTAIN, reason=reason, witnesses=False, assert_level=False
        )
    times = len(seen.new_tests_new_code)
    reason = (
        f"the new tests come out as {verdict.evidence.baseline} on the old code and pass on the new"
    )
    return structs.replace(verdict, reason=reason + (f", {times} times each" if times > 1 else ""))


def _cut_short(runs: Runs) -> bool:
    """Whatever another run said, it would not change the answer."""
    outcomes = {run.outcome for run in runs}
    return len(outcomes) > 1 or SuiteOutcome.NOT_RUN in outcomes


def _last(runs: Runs) -> SuiteOutcome:
    return runs[-1].outcome if runs else SuiteOutcome.NOT_RUN


def _ended_early(seen: Matrix) -> Cell | None:
    """A cell that is green without its runner having said so, where it is known to say so: code that ends its own
    process with 0 looks like this."""
    cells = (Cell.NEW_NEW, Cell.OLD_NEW, Cell.NEW_OLD, Cell.OLD_OLD)
    runs = [(cell, run) for cell in cells for run in seen.runs(cell)]
    if all(run.tests is None for _, run in runs):
        return None
    return next(
        (cell for cell, run in runs if run.outcome is SuiteOutcome.PASS and run.tests is None), None
    )
