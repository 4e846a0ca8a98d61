"""`[[ … ]]`, in which `<`, `>`, `&&`, `||` and parentheses compare and combine."""

from collections.abc import Callable, Sequence

from dos.permission.shell.name_table import name_table
from dos.permission.shell.words import Operator, Redirect, Token, Word

_BEFORE = name_table("if then elif else while until do ! time {")


def without_conditions(
    tokens: Sequence[Token], add_unknown: Callable[[str], None]
) -> Sequence[Token]:
    """Return the tokens with each `[[ … ]]` as a command that does nothing.

    A shell without `[[` takes it for a program: there `>` writes, so that it is not certain.
    """
    if not any(_is(token, "[[") for token in tokens):
        return tokens
    kept: list[Token] = []
    closed = _ends(tokens)
    index = 0
    is_first = True  # of a command
    while index < len(tokens):
        token = tokens[index]
        end = closed[index]
        if is_first and end is not None and _is(token, "[["):
            kept.append(Word(text="true", is_quoted=True))
            inner = tokens[index + 1 : end]
            if any(isinstance(each, (Operator, Redirect)) for each in inner):
                add_unknown("not every shell has [[")
            index = end + 1
            is_first = False
            continue
        kept.append(token)
        is_keyword = isinstance(token, Word) and not token.is_quoted and token.text in _BEFORE
        is_first = isinstance(token, Operator) or (is_first and is_keyword)
        index += 1
    return kept


def _ends(tokens: Sequence[Token]) -> list[int | None]:
    """For each token the place of the next `]]`."""
    found: list[int | None] = [None] * len(tokens)
    end: int | None = None
    for index in range(len(tokens) - 1, -1, -1):
        if _is(tokens[index], "]]"):
            end = index
        found[index] = end
    return found


def _is(token: Token, text: str) -> bool:
    return isinstance(token, Word) and not token.is_quoted and token.text == text
