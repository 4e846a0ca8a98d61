"""Moments as people read them."""

import pytest

from dos.times import utc_stamp


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_794_754_470_300, "2026-11-15T14:54:30Z"),
        (1 << 62, "9999-12-31T23:59:59Z"),
        (-1, "1970-01-01T00:00:00Z"),
    ],
)
def test_any_number_of_milliseconds_has_a_stamp(at_ms, text):
    assert utc_stamp(at_ms) == text
