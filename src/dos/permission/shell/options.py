"""Options and operands of a command, by the rules that most programs share."""

from collections import deque
from collections.abc import Iterable, Sequence

from msgspec import Struct, field, structs

from dos.permission.shell.syntax.tokens import Word


class Arguments(Struct, kw_only=True):
    """What a program was given: options with and without a value, and operands.

    Long names may be shortened, as programs allow it: `--out` stands for all names that it begins.
    """

    letters: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)  # long, as they were given
    valued: dict[str, list[Word]] = field(default_factory=dict)  # letters and long names
    operands: list[Word] = field(default_factory=list)
    full_names: frozenset[str] = frozenset()  # that stand for themselves, not for longer ones

    @property
    def patterns(self) -> list[Word]:
        """Operands that the shell can expand to several, as to a file and its target."""
        return [word for word in self.operands if word.has_glob or word.is_split]

    def has(self, *names: str) -> bool:
        """Whether one of these options was given, with or without a value."""
        given = self.letters | self.names | self.valued.keys()
        return any(self._means(one, name) for one in given for name in names)

    def has_only(self, letters: str, names: Iterable[str] = ()) -> bool:
        """Whether all options that were given are among these; a shortened name is not."""
        known = {*letters, *names}
        return known.issuperset(self.letters | self.names | self.valued.keys())

    def all_values(self, *names: str) -> list[Word]:
        """The values of these options."""
        found: list[Word] = []
        for name in names:
            for given, values in self.valued.items():
                if self._means(given, name):
                    found += values
        return found

    def value(self, *names: str) -> Word | None:
        """The last value of the first of these options that has one."""
        for name in names:
            if values := self.all_values(name):
                return values[-1]
        return None

    def _means(self, given: str, name: str) -> bool:
        """Whether an option is meant by what was given."""
        if len(given) == 1 or len(name) == 1 or given in self.full_names:
            return given == name
        return name.startswith(given)


def parse(
    words: Sequence[Word],
    letters: str = "",
    names: Iterable[str] = (),
    *,
    stops: bool = False,
    flags: Iterable[str] = (),
) -> Arguments:
    """Split words into options and operands.

    `letters` and `names` are the options that take a value. With `stops` everything after the first
    operand is an operand, as in programs that start others. `flags` are long options without a
    value that a longer one with a value begins with.
    """
    long_names = frozenset(names)
    found = Arguments(full_names=long_names.union(flags))
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


def _take_long(found: Arguments, word: Word, rest: deque[Word], names: Iterable[str]) -> None:
    name, equals, _ = word.text[2:].partition("=")
    if equals:
        value = structs.replace(word, text=word.text[len(name) + 3 :])
        found.valued.setdefault(name, []).append(value)
    elif rest and _takes_value(found, name, names):
        found.valued.setdefault(name, []).append(rest.popleft())
    else:
        found.names.add(name)


def _takes_value(found: Arguments, name: str, names: Iterable[str]) -> bool:
    if name in found.full_names:
        return name in names
    return any(full.startswith(name) for full in names)


def _take_letters(found: Arguments, word: Word, rest: deque[Word], letters: str) -> None:
    for index, letter in enumerate(word.text[1:], start=2):
        if letter not in letters:
            found.letters.add(letter)
            continue
        value = word.text[index:]
        if value:
            attached = structs.replace(word, text=value)
            found.valued.setdefault(letter, []).append(attached)
        elif rest:
            found.valued.setdefault(letter, []).append(rest.popleft())
        return
