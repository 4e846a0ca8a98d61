"""`[[ … ]]`, in which `<`, `>`, `&&`, `||` and parentheses compare and combine."""

from collections.abc import Sequence

from dos.permission.shell.syntax.evaluation import Names, is_plain_name, word_names
from dos.permission.shell.syntax.tokens import Token, Word

_COMPARES = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_NAMES_A_VARIABLE = frozenset(("-v", "-R"))


def is_plain(tokens: Sequence[Token]) -> bool:
    """Whether every shell reads what is in the brackets as words.

    A shell without `[[` takes it for a program: there `>` writes, and `&&` ends it.
    """
    return all(isinstance(token, Word) for token in tokens)


def condition_names(tokens: Sequence[Token]) -> Names | None:
    """Return the variables that a condition evaluates as arithmetic; None: that is not certain."""
    words = [token if isinstance(token, Word) else Word() for token in tokens]
    names: set[str] = set()
    for index, word in enumerate(words):
        after = words[index + 1 : index + 2]
        if word.text in _COMPARES:
            for operand in (*words[max(0, index - 1) : index], *after):
                found = word_names(operand)
                if found is None:
                    return None
                names |= found
        elif word.text in _NAMES_A_VARIABLE and not all(map(is_plain_name, after)):
            return None
    return frozenset(names)
