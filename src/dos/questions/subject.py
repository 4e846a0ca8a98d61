"""What waits for the answer to a question: a lane, a unit, a run, a host, a provider's limit, or the whole fleet.

The journal and JSON hold a subject as one word, such as `lane:api`. Only this module writes and reads that word.
"""

from collections.abc import Iterable

from msgspec import Struct

from dos.limits.quota import Key

_FLEET = "fleet"


class Lane(Struct, frozen=True, tag="lane"):
    name: str

    def __str__(self) -> str:
        return f"lane:{self.name}"


class Unit(Struct, frozen=True, tag="unit"):
    name: str

    def __str__(self) -> str:
        return f"unit:{self.name}"


class RunSubject(Struct, frozen=True, tag="run"):
    id: str

    def __str__(self) -> str:
        return f"run:{self.id}"


class Host(Struct, frozen=True, tag="host"):
    name: str

    def __str__(self) -> str:
        return f"host:{self.name}"


class Limit(Struct, frozen=True, tag="limit"):
    """All that would use the account, or the one model, that is limited."""

    key: Key

    def __str__(self) -> str:
        return f"limit:{self.key.path}"


class Fleet(Struct, frozen=True, tag="fleet"):
    """Every lane."""

    def __str__(self) -> str:
        return _FLEET


class UnknownSubject(Struct, frozen=True, tag="unrecognised"):
    """A subject that another version of the program wrote. It is shown, and nothing here is held by it."""

    word: str

    def __str__(self) -> str:
        return self.word


Subject = Lane | Unit | RunSubject | Host | Limit | Fleet | UnknownSubject


def parse(word: str) -> Subject:
    """The subject that `str` made the word of."""
    kind, _, name = word.partition(":")
    match kind:
        case "lane" if name:
            return Lane(name)
        case "unit" if name:
            return Unit(name)
        case "run" if name:
            return RunSubject(name)
        case "host" if name:
            return Host(name)
        case "limit" if key := Key.from_path(name):
            return Limit(key)
    return Fleet() if word == _FLEET else UnknownSubject(word)


def to_words(subjects: Iterable[Subject]) -> list[str]:
    """As the journal and JSON hold them, in the same order."""
    return [str(each) for each in subjects]


def lane_names(subjects: Iterable[Subject]) -> list[str]:
    """The names of the lanes among them, in the same order."""
    return [each.name for each in subjects if isinstance(each, Lane)]


def unit_names(subjects: Iterable[Subject]) -> list[str]:
    """The names of the units among them, in the same order."""
    return [each.name for each in subjects if isinstance(each, Unit)]
