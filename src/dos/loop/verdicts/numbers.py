"""Checks of numbers in evidence and policies; each raises a ValueError that names the number."""

LARGEST = 1 << 62  # more than a store can hold


def check_counts(**counts: int | None) -> None:
    """Check that counts are not negative and fit into a store; None is allowed."""
    for name, count in counts.items():
        if count is None:
            continue
        if count < 0:
            raise ValueError(f"{name} is {count}; it cannot be below 0")
        if count >= LARGEST:
            raise ValueError(f"{name} is {count}; that is not a number to count with")


def check_positive(**counts: int) -> None:
    """Check that counts are at least 1."""
    check_counts(**counts)
    for name, count in counts.items():
        if count == 0:
            raise ValueError(f"{name} is 0; it must be at least 1")


def check_amounts(**amounts: float | None) -> None:
    """Check that amounts are finite and not negative; None is allowed."""
    for name, amount in amounts.items():
        if amount is not None and not 0 <= amount < LARGEST:  # also catches NaN
            raise ValueError(f"{name} is {amount}; it must be a number from 0 upwards")
