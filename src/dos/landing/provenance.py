"""Adds trailers to the commits of a landing that name the agent, the model and the run.

The trailers are written by dos and replace those of the same name that an agent wrote.
"""

import re
from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter

from dos.errors import MalformedObject
from dos.fleet.effects import Provenance
from dos.git.commits import CommitText, unfold_lines
from dos.git.repository import Writer

_TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*:\s")
_NOT_IN_A_TRAILER = re.compile(r"[^\x20-\x7e]")
LONGEST_VALUE = 100


def add_provenance(
    inside: Writer, head: str, commits: Iterable[str], provenance: Provenance
) -> str:
    """Return a copy of `head` in which each of these commits carries the trailers.

    Files, authors, committers and dates stay as they are, so that the same call gives the same
    commits. Returns `head` itself where git accepts no copy of one of them.
    """
    lines = trailer_lines(provenance)
    texts = {commit: CommitText.read(inside, commit) for commit in commits}
    parents = {commit: text.parents for commit, text in texts.items()}
    copies: dict[str, str] = {}
    try:
        for commit in TopologicalSorter(parents).static_order():
            if commit in texts:
                message = with_trailers(texts[commit].message, lines)
                copies[commit] = texts[commit].write_copy(inside, message, parents=copies)
    except MalformedObject:  # an agent wrote a header that git does not write
        return head
    return copies.get(head, head)


def trailer_lines(provenance: Provenance) -> list[str]:
    """Return the trailers. A model's name that an agent could break a line with is left out."""
    values = {"Agent": provenance.agent, "Model": provenance.model, "Run": provenance.run_id}
    return [f"{key}: {value}" for key, value in values.items() if _is_plain(value)]


def _is_plain(value: str) -> bool:
    is_short = 0 < len(value.strip()) <= LONGEST_VALUE
    return is_short and not _NOT_IN_A_TRAILER.search(value)


def with_trailers(message: str, lines: Sequence[str]) -> str:
    """Return the message with these trailers at its end, in place of others of the same keys."""
    keys = tuple(f"{line.partition(':')[0].lower()}:" for line in lines)
    *paragraphs, last = message.rstrip().split("\n\n")
    block = last.split("\n")
    has_trailers = bool(paragraphs) and all(_is_trailer_line(line) for line in block)
    if not has_trailers:
        paragraphs.append(last)
        block = []
    kept = [field for field in unfold_lines(block) if not field.lower().startswith(keys)]
    return "\n\n".join([*paragraphs, "\n".join([*kept, *lines])]) + "\n"


def _is_trailer_line(line: str) -> bool:
    return bool(_TRAILER.match(line)) or line.startswith((" ", "\t"))
