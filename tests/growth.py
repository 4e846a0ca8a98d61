"""Whether time grows in step with what there is to do, on a machine that others use as well."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
TRIES = 30
GRAIN_SECONDS = 0.0005  # what takes less is measured by chance


def grows_less_than(times: float, act: Callable[[T], object], small: T, large: T) -> bool:
    """Asked again as long as it does not look so: a busy machine only ever adds to the time of a
    try."""
    best = {False: float("inf"), True: float("inf")}
    for _ in range(TRIES):
        for is_large, given in ((False, small), (True, large)):
            began = time.thread_time()
            act(given)
            best[is_large] = min(best[is_large], time.thread_time() - began)
        if best[True] < times * max(best[False], GRAIN_SECONDS):
            return True
    return False
