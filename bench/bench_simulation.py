"""The fleet simulator: seeds a minute over the model store and over SQLite, on one process and on
two."""

from dos.testing.simulator import batch
from dos.testing.simulator.batch import BatchRequest, Summary
from table import show

SIZES = {"memory": 1_200, "sqlite": 120}


def main() -> None:
    rows = []
    first = 0.0
    for store, count in SIZES.items():
        for jobs in (1, 2):
            done = _run(BatchRequest(count=count, store=store, jobs=jobs))
            pace = 60 * done.seeds / done.seconds
            first = first or pace
            name = f"{store}, {jobs} process{'es' if jobs > 1 else ''}"
            rows.append(
                (
                    name,
                    f"{pace:,.0f}",
                    done.events / done.seeds,
                    done.effects / done.seeds,
                    pace / first,
                )
            )
    header = ("store", "seeds/min", "events a seed", "effects a seed", "/ the first")
    show("The simulator (floor: 10,000 seeds a minute over memory on two processes)", header, rows)


def _run(asked: BatchRequest) -> Summary:
    *_, last = batch.run(asked)
    return last


if __name__ == "__main__":
    main()
