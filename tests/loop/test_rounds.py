"""How a run gets on, from the decisions that its stream holds."""

import pytest

from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.loop import record
from dos.loop.decide import decide
from dos.loop.io import history
from dos.loop.types import IterationOutcome, LoopState, OutcomeKind
from dos.runs.complete import Answer, Verdict

LANDED = IterationOutcome(kind=OutcomeKind.SHIPPED, packet_judge="SHIPPED-CLEAN", ship_count=1)
EMPTY = IterationOutcome(kind=OutcomeKind.SHIPPED, packet_judge="SHIPPED-DIRTY", ship_count=0)
UNCLEAR = IterationOutcome(kind=OutcomeKind.UNCLEAR)
OVERLOADED = IterationOutcome(kind=OutcomeKind.OVERLOADED)


@pytest.mark.parametrize(
    ("outcomes", "consecutive", "total"),
    [
        ([], 0, 0),
        ([EMPTY, UNCLEAR], 2, 2),
        ([EMPTY, LANDED, UNCLEAR], 1, 2),
        # That its provider had no room is neither.
        ([EMPTY, OVERLOADED, EMPTY], 2, 2),
    ],
)
def test_failures_are_counted_in_a_row_and_in_all(outcomes, consecutive, total):
    store = Store(MemoryBackend())
    for number, outcome in enumerate(outcomes, 1):
        left = Verdict(answer=Answer.INCOMPLETE, residual=("P/1",) * (5 - number))
        state = LoopState(iteration=number, completion=left)
        iteration_decision = record.IterationDecision(
            attempt=1, unit="P/1", state=state, outcome=outcome, decision=decide(state, outcome)
        )
        store.record("run/R", record.decision_fact("R", "api", iteration_decision))
    rounds = history.rounds(store.load("run/R"))
    assert (rounds.failures.consecutive, rounds.failures.total) == (consecutive, total)
    assert rounds.residuals == tuple(range(4, 4 - len(outcomes), -1))
