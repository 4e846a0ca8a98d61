"""How many commits speak of units, and how many in a way that the workspace's grammar understands."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from dos.verify.naming import Message, Name, words
from dos.verify.ship_shaped import is_ship_shaped
from dos.verify.stamp import Stamp

Commit = tuple[str, str]  # the subject, and the units that its trailers name
_ID = re.compile(r"(?P<plan>[A-Za-z][A-Za-z_\-]*?)[_\-]?\d[\w.'\-]*")


def ship_shaped(commits: Sequence[Commit]) -> list[Commit]:
    """Those whose subject looks as if it shipped something, by some convention."""
    return [commit for commit in commits if is_ship_shaped(commit[0])]


def naming(
    commits: Iterable[Commit], units: Iterable[tuple[str, str]], stamp: Stamp
) -> list[Commit]:
    """Those that name one of the units."""
    by_word: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for plan, phase in units:
        for word in words(phase) or {""}:
            by_word[word].append((plan, phase))
    found = []
    for subject, trailers in commits:
        message = Message(subject, f"Unit: {trailers}" if trailers else "")
        asked = {unit for word in words(f"{subject} {trailers}") for unit in by_word.get(word, ())}
        if any(Name(*unit, stamp).named_by(message) for unit in asked):
            found.append((subject, trailers))
    return found


def understood(commits: Iterable[Commit], stamp: Stamp) -> bool:
    """Whether the grammar makes out a unit in any of them, whatever units there are."""
    for subject, _ in commits:
        guesses = {(found["plan"], found[0]) for found in _ID.finditer(subject)}
        if naming([(subject, "")], guesses, stamp):
            return True
    return False
