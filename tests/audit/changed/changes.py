"""All changes of a few lines of one case."""

from changed import (
    alternatives,
    into_nothing,
    kinds_of_error,
    libraries,
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
)
