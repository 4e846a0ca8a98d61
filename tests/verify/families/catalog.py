"""All families."""

from families import (
    comment_lies,
    dead_code,
    doubt,
    mixtures,
    names,
    odd_quotes,
    substance,
    survival,
    token_work,
    unused_modules,
)
from families.variant import Family

FAMILIES: tuple[Family, ...] = (
    *comment_lies.FAMILIES,
    *token_work.FAMILIES,
    *odd_quotes.FAMILIES,
    *dead_code.FAMILIES,
    *unused_modules.FAMILIES,
    *names.FAMILIES,
    *doubt.FAMILIES,
    *substance.FAMILIES,
    *survival.FAMILIES,
    *mixtures.FAMILIES,
)
