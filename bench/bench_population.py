"""The population plan for 10 to 10,000 lanes, side by side and nested, half of them held: the time
for each lane."""

import time
from collections.abc import Callable

from dos.loop.verdicts.liveness import Answer
from dos.population import LaneLiveness, SuperviseEvidence, SupervisePolicy, supervise
from table import median, show

SIZES = (10, 100, 1_000, 10_000)
ROUNDS = 7
STATES = (None, Answer.ADVANCING, None, Answer.SPINNING, None, Answer.STALLED)
POLICY = SupervisePolicy(spin_halt_after_ms=60_000)


def disjoint(number: int) -> str:
    return f"src/part{number}/**"


def nested(number: int) -> str:
    """Chains of ten folders, each inside the one before."""
    chain, depth = divmod(number, 10)
    return "/".join([f"src/chain{chain}", *["inner"] * depth]) + "/**"


def deep(number: int) -> str:
    """Chains of a hundred."""
    chain, depth = divmod(number, 100)
    return "/".join([f"src/chain{chain}", *["in"] * depth]) + "/**"


def main() -> None:
    evidence = {
        (shape.__name__, size): _evidence(shape, size)
        for shape in (disjoint, nested, deep)
        for size in SIZES
    }
    times: dict[tuple[str, int], list[float]] = {key: [] for key in evidence}
    for seen in evidence.values():
        supervise(seen, POLICY)  # regions are read once, as in a supervisor that goes on
    for _ in range(ROUNDS):  # interleaved, so that a slow moment slows all of them
        for key, seen in evidence.items():
            began = time.perf_counter()
            supervise(seen, POLICY)
            times[key].append(time.perf_counter() - began)
    rows = []
    for (shape, size), found in times.items():
        each = median(found) / size
        first = median(times[shape, SIZES[1]]) / SIZES[1]
        rows.append((f"{shape} {size:,}", median(found) * 1000, each * 1e6, each / first))
    header = ("lanes", "ms", "µs a lane", "/ a lane of 100")
    show("The population plan (aim: near 1 from 100 upwards; about 5 ms for 1,000)", header, rows)


def _evidence(shape: Callable[[int], str], size: int) -> SuperviseEvidence:
    lanes = tuple(
        LaneLiveness(
            lane=f"lane{number}",
            tree=(shape(number),),
            liveness=STATES[number % len(STATES)],
            spinning_age_ms=90_000,
        )
        for number in range(size)
    )
    return SuperviseEvidence(lanes=lanes, target=size)


if __name__ == "__main__":
    main()
