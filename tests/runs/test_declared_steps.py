"""Did a commit do a step?"""

import pytest

from dos.runs.steps import Answer, Evidence, FileState, judge
from dos.unknown import Unknown

THERE = {"sha": "c" * 40, "reachable": True, "after_start": True}
KEPT, UNDONE, REWRITTEN = FileState.KEPT, FileState.UNDONE, FileState.REWRITTEN


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        ({**THERE, "touched": {"api/1": KEPT}}, Answer.DONE),
        ({"sha": "c" * 40}, Answer.NOT_THERE),
        ({"sha": ""}, Answer.NOT_THERE),
        ({"sha": "c" * 40, "reachable": True}, Answer.TOO_OLD),
        (THERE, Answer.EMPTY),
        ({**THERE, "touched": {"docs/1": KEPT}, "globs": ("api/**",)}, Answer.OUTSIDE),
        ({**THERE, "touched": {"api/1": KEPT}, "globs": ("api/**",)}, Answer.DONE),
        ({**THERE, "touched": {"api/1": KEPT, "docs/1": KEPT}, "globs": ("api/**",)}, Answer.DONE),
        ({**THERE, "touched": {"api/1": UNDONE}}, Answer.UNDONE),
        ({**THERE, "touched": {"api/1": UNDONE, "docs/1": KEPT}}, Answer.DONE),
        (
            {**THERE, "touched": {"api/1": UNDONE, "docs/1": KEPT}, "globs": ("api/**",)},
            Answer.UNDONE,
        ),
        ({**THERE, "touched": {"api/1": REWRITTEN}}, Answer.DONE),
        ({**THERE, "touched": {"api/1": REWRITTEN}, "reverted_by": "d" * 40}, Answer.UNDONE),
        ({**THERE, "touched": {"api/1": KEPT}, "reverted_by": "d" * 40}, Answer.DONE),
        ({**THERE, "touched": {"api/1": UNDONE, "api/2": REWRITTEN}}, Answer.DONE),
        ({**THERE, "reachable": Unknown("no git")}, Answer.UNKNOWN),
        ({**THERE, "after_start": Unknown("no git")}, Answer.UNKNOWN),
        ({**THERE, "touched": Unknown("no git")}, Answer.UNKNOWN),
        ({**THERE, "touched": {"api/1": KEPT}, "globs": ("../x",)}, Answer.OUTSIDE),
    ],
)
def test_answer(seen, answer):
    verdict = judge(Evidence(**seen))
    assert verdict.answer == answer
    assert verdict.done == (answer is Answer.DONE)
    assert verdict.reason
