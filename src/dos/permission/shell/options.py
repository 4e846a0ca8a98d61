"""Options and operands of a command, by the rules that most programs share."""

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct, field, structs

from dos.permission.shell.words import Word


class Arguments(Struct, kw_only=True):
    """What a program was given: options with and without a value, and operands."""

    flags: set[str] = field(default_factory=set)  # letters and long names
    values: dict[str, list[Word]] = field(default_factory=dict)
    operands: list[Word] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """Whether one of these options was given, with or without a value."""
        return any(name in self.flags or name in self.values for name in names)

    def value(self, *names: str) -> Word | None:
        """The value of the first of these options that has one."""
        for name in names:
            if name in self.values:
                return self.values[name][-1]
        return None


def parse(
    words: Sequence[Word], letters: str = "", names: Iterable[str] = (), *, stops: bool = False
) -> Arguments:
    """Split words into options and operands.

    `letters` and `names` are the options that take a value. With `stops` everything after the first
    operand is an operand, as in programs that start others.
    """
    long_names = frozenset(names)
    found = Arguments()
    rest = deque(words)
    while rest:
        word = rest.popleft()
        text = word.text
        if text == "--" or (stops and not text.startswith("-")):
            found.operands += rest if text == "--" else [word, *rest]
            break
        if not text.startswith("-") or text == "-":
            found.operands.append(word)
        elif text.startswith("--"):
            _take_long(found, word, rest, long_names)
        else:
            _take_letters(found, word, rest, letters)
    return found


def _take_long(found: Arguments, word: Word, rest: deque[Word], names: frozenset[str]) -> None:
    name, equals, _ = word.text[2:].partition("=")
    if equals:
        value = structs.replace(word, text=word.text[len(name) + 3 :])
        found.values.setdefault(name, []).append(value)
    elif name in names and rest:
        found.values.setdefault(name, []).append(rest.popleft())
    else:
        found.flags.add(name)


def _take_letters(found: Arguments, word: Word, rest: deque[Word], letters: str) -> None:
    for index, letter in enumerate(word.text[1:], start=2):
        if letter not in letters:
            found.flags.add(letter)
            continue
        value = word.text[index:]
        if value:
            attached = structs.replace(word, text=value)
            found.values.setdefault(letter, []).append(attached)
        elif rest:
            found.values.setdefault(letter, []).append(rest.popleft())
        return
