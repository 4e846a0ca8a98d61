"""Prints what a bench measured as ratios taken in one run: absolute times of a noisy machine prove
nothing."""

from collections.abc import Sequence


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    cells = [
        [*header],
        *(
            [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in rows
        ),
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        print(
            "  "
            + "  ".join(
                cell.ljust(width) if not column else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        )
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
