"""Loop decisions a second, in process and through `dos decide --batch`, beside a bare function call
in the same run."""

import subprocess
import sys
import time
from collections.abc import Callable

from dos.loop.decide import decide
from dos.loop.gate import Gate
from dos.loop.types import IterationOutcome, LoopState, OutcomeKind
from table import show

ROUNDS = 50_000
LINES = 50_000
CASES = {
    "the first rung: it never came up": IterationOutcome(kind=OutcomeKind.LAUNCH_FAILED),
    "a measured ship": IterationOutcome(
        kind=OutcomeKind.SHIPPED, packet_judge="SHIPPED-CLEAN", ship_count=1
    ),
    "the last rung: a drain": IterationOutcome(kind=OutcomeKind.GATE, verdict=Gate.DRAIN),
}


def main() -> None:
    bare = _rate(lambda: LoopState())
    rows = [("making a state, and nothing else", f"{bare:,.0f}", 1.0)]
    for name, outcome in CASES.items():
        state = LoopState(liveness="ADVANCING")
        rate = _rate(lambda state=state, outcome=outcome: decide(state, outcome))
        rows.append((name, f"{rate:,.0f}", bare / rate))
    rate = _batch()
    rows.append((f"dos decide --batch, {LINES:,} lines", f"{rate:,.0f}", bare / rate))
    show(
        "Loop decisions (aim: 100,000 a second in process)",
        ("case", "a second", "times the first row"),
        rows,
    )


def _rate(once: Callable[[], object]) -> float:
    for _ in range(1_000):
        once()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        once()
    return ROUNDS / (time.perf_counter() - began)


def _batch() -> float:
    lines = b'{"state":{"iteration":3},"outcome":{"kind":"GATE","verdict":"DRAIN"}}\n' * LINES
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "dos", "decide", "--batch"],
        input=lines,
        capture_output=True,
        check=True,
    )
    assert done.stdout.count(b"\n") == LINES
    return LINES / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
