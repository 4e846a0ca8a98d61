"""Adds trailers to the commits of a landing that name the agent, the model and the run.

The trailers are written by dos and replace those of the same name that an agent wrote.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from dos.errors import MalformedObject
from dos.fleet.effects import Provenance
from dos.git.repository import Writer

_TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*:\s")
_NOT_IN_A_TRAILER = re.compile(r"[^\x20-\x7e]")
LONGEST_VALUE = 100
# A signature covers the message, so that of the original does not fit the copy.
_SIGNATURES = ("gpgsig ", "gpgsig-sha256 ", "mergetag ")


def add_provenance(
    inside: Writer, head: str, commits: Iterable[str], provenance: Provenance
) -> str:
    """Return a copy of `head` in which each of these commits carries the trailers.

    Files, authors, committers and dates stay as they are, so that the same call gives the same
    commits. Returns `head` itself where git accepts no copy of one of them.
    """
    lines = trailer_lines(provenance)
    texts = {commit: inside.run("cat-file", "commit", commit) for commit in commits}
    parents = {commit: _parents(text) for commit, text in texts.items()}
    copies: dict[str, str] = {}
    try:
        for commit in TopologicalSorter(parents).static_order():
            if commit in texts:
                feed = _copied_text(texts[commit], copies, lines)
                words = ("hash-object", "-t", "commit", "-w", "--stdin")
                copies[commit] = inside.run(*words, feed=feed).strip()
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


def _copied_text(text: str, copies: Mapping[str, str], lines: Sequence[str]) -> str:
    header, _, message = text.partition("\n\n")
    fields = [_with_copied_parent(field, copies) for field in _fields(header.split("\n"))]
    kept = [field for field in fields if not field.startswith(_SIGNATURES)]
    return "\n".join([*kept, "", with_trailers(message, lines)])


def _parents(text: str) -> list[str]:
    header = text.partition("\n\n")[0]
    fields = _fields(header.split("\n"))
    return [field.partition(" ")[2] for field in fields if field.startswith("parent ")]


def _fields(lines: Iterable[str]) -> list[str]:
    """Join the lines of a header or of trailers; a line that begins with a blank continues one.

    Without it, what continues a field that is dropped would continue the field before.
    """
    fields: list[str] = []
    for line in lines:
        if line.startswith((" ", "\t")) and fields:
            fields[-1] += f"\n{line}"
        else:
            fields.append(line)
    return fields


def _with_copied_parent(field: str, copies: Mapping[str, str]) -> str:
    key, _, value = field.partition(" ")
    if key != "parent":
        return field
    return f"parent {copies.get(value, value)}"


def with_trailers(message: str, lines: Sequence[str]) -> str:
    """Return the message with these trailers at its end, in place of others of the same keys."""
    keys = tuple(f"{line.partition(':')[0].lower()}:" for line in lines)
    *paragraphs, last = message.rstrip().split("\n\n")
    block = last.split("\n")
    has_trailers = bool(paragraphs) and all(_is_trailer_line(line) for line in block)
    if not has_trailers:
        paragraphs.append(last)
        block = []
    kept = [field for field in _fields(block) if not field.lower().startswith(keys)]
    return "\n\n".join([*paragraphs, "\n".join([*kept, *lines])]) + "\n"


def _is_trailer_line(line: str) -> bool:
    return bool(_TRAILER.match(line)) or line.startswith((" ", "\t"))
