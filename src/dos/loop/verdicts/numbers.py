"""What the numbers of these questions must be like; everything else is a ValueError that names them."""

LARGEST = 1 << 62  # more than any store can hold


def check_counts(**counts: int | None) -> None:
    for name, count in counts.items():
        if count is None:
            continue
        if count < 0:
            raise ValueError(f"{name} is {count}; it cannot be below 0")
        if count >= LARGEST:
            raise ValueError(f"{name} is {count}; that is not a number to count with")


def check_positive(**counts: int) -> None:
    check_counts(**counts)
    for name, count in counts.items():
        if count == 0:
            raise ValueError(f"{name} is 0; it must be at least 1")


def check_amounts(**amounts: float | None) -> None:
    for name, amount in amounts.items():
        if amount is not None and not 0 <= amount < LARGEST:  # also catches NaN
            raise ValueError(f"{name} is {amount}; it must be a number from 0 upwards")
