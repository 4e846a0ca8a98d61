"""How much the long tests do: as much as finds things in the minutes of `make soak`, or what a
night has time for."""

import os

IS_NIGHT = os.environ.get("TESTS_FOR") == "night"


def long(soak: int, night: int) -> int:
    return night if IS_NIGHT else soak


EXAMPLES = long(200, 100_000)  # of a law that needs nothing but the processor
