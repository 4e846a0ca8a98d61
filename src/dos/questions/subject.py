"""The subjects that wait for an answer: a lane, a unit, a run, a host, a limit, or the whole fleet.

The journal and JSON store a subject as one word, such as `lane:api`. Only this module writes and
reads that word.
"""

from collections.abc import Iterable

from msgspec import Struct

from dos.limits.quota import Key

_FLEET = "fleet"
RUN = "run"  # the first word of a run


class Lane(Struct, frozen=True, tag="lane"):
    """A lane that gets no worker until the answer."""

    name: str

    def __str__(self) -> str:
        return f"lane:{self.name}"


class Unit(Struct, frozen=True, tag="unit"):
    """A unit that is not offered until the answer."""

    name: str

    def __str__(self) -> str:
        return f"unit:{self.name}"


class RunSubject(Struct, frozen=True, tag="run"):
    """A run that does not continue until the answer."""

    id: str

    def __str__(self) -> str:
        return f"run:{self.id}"


class Host(Struct, frozen=True, tag="host"):
    """A machine that starts no agent until the answer."""

    name: str

    def __str__(self) -> str:
        return f"host:{self.name}"


class Limit(Struct, frozen=True, tag="limit"):
    """Every start that would use the limited account or model."""

    key: Key

    def __str__(self) -> str:
        return f"limit:{self.key.path}"


class Fleet(Struct, frozen=True, tag="fleet"):
    """Every lane of the fleet."""

    def __str__(self) -> str:
        return _FLEET


class UnknownSubject(Struct, frozen=True, tag="unrecognised"):
    """A subject that another version of dos wrote. It is shown, and it holds nothing."""

    word: str

    def __str__(self) -> str:
        return self.word


Subject = Lane | Unit | RunSubject | Host | Limit | Fleet | UnknownSubject


def parse(word: str) -> Subject:
    """Return the subject of a word that `str` made. Any other word is an `UnknownSubject`."""
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
    """Return the words that the journal and JSON store, in the same order."""
    return [str(subject) for subject in subjects]


def lane_names(subjects: Iterable[Subject]) -> list[str]:
    """Return the names of the lanes among the subjects, in the same order."""
    return [subject.name for subject in subjects if isinstance(subject, Lane)]


def unit_names(subjects: Iterable[Subject]) -> list[str]:
    """Return the names of the units among the subjects, in the same order."""
    return [subject.name for subject in subjects if isinstance(subject, Unit)]
