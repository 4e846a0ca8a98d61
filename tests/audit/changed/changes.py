"""All changes of a few lines of one case."""

from changed import (
    alternatives,
    into_nothing,
    kept_cases,
    kinds_of_error,
    libraries,
    lost_cases,
    lower_limits,
    tolerances,
)

COMMITS = (
    *lower_limits.COMMITS,
    *tolerances.COMMITS,
    *alternatives.COMMITS,
    *kinds_of_error.COMMITS,
    *libraries.COMMITS,
    *into_nothing.COMMITS,
    *lost_cases.COMMITS,
    *kept_cases.COMMITS,
)
