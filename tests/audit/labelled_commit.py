"""A small commit with the right answers to both questions of the audit, and why they are right."""

import re
from collections.abc import Iterable

from msgspec import Struct

# Stands in a body for the full name of the commit that is reverted.
REVERTED = "REVERTED"

_HEADER = re.compile(r"(?P<path>[^ +\-]\S*)(?: (?P<old>\d{6}) (?P<new>\d{6}))?")
# Written with four blanks for a tab in a table, as a formatter would have it.
_BY_TABS = (".go", "Makefile")
_INDENT = re.compile(r"^([ +-])((?: {4})+)")


class LabelledCommit(Struct, frozen=True, kw_only=True):
    """A change of a few files under a subject, labelled by a person who read it."""

    subject: str
    files: dict[str, tuple[str | None, str | None]]  # path -> before and after; None: no file
    claim: str  # done, not_done
    tests: str  # not_touched, kept, strengthened, weakened
    why: str
    body: str = ""
    name: str = ""  # unique among the labelled commits
    modes: dict[str, tuple[str, str]] = {}  # path -> before and after, of files with special ones
    reverts: "LabelledCommit | None" = None  # an earlier commit of the same history


def labelled(name: str, subject: str, labels: str, why: str, diff: str) -> LabelledCommit:
    """Return a labelled commit from its whole files, written as a diff.

    `labels` is the claim and the tests in two words. A line of the diff that starts with no blank,
    plus or minus begins a file: its path, and both modes where they matter. A file of only added
    lines is new, a file of only removed lines is deleted. An empty line is one on both sides.
    """
    claim, tests = labels.split()
    files, modes = read_diff(diff)
    return LabelledCommit(
        subject=subject, files=files, claim=claim, tests=tests, why=why, name=name, modes=modes
    )


def reverted(name: str, diff: str, what: LabelledCommit, labels: str, why: str) -> LabelledCommit:
    """Return a commit that says in git's own words that it reverts another, and does what `diff`
    shows."""
    claim, tests = labels.split()
    files, modes = read_diff(diff)
    return LabelledCommit(
        subject=f'Revert "{what.subject}"',
        body=f"This reverts commit {REVERTED}.",
        files=files,
        claim=claim,
        tests=tests,
        why=why,
        name=name,
        modes=modes,
        reverts=what,
    )


Files = dict[str, tuple[str | None, str | None]]
Modes = dict[str, tuple[str, str]]


def read_diff(diff: str) -> tuple[Files, Modes]:
    """Return the files of a diff before and after, and the modes that it names."""
    sections: dict[str, list[str]] = {}
    modes: Modes = {}
    path = ""
    for line in diff.strip("\n").splitlines():
        header = _HEADER.fullmatch(line)
        if header is None:
            sections[path].append(line)
            continue
        path = header["path"]
        sections[path] = []
        if header["old"]:
            modes[path] = (header["old"], header["new"])
    return {path: _sides(path, lines) for path, lines in sections.items()}, modes


def _sides(path: str, lines: list[str]) -> tuple[str | None, str | None]:
    """Return a file before and after the change that its lines show."""
    if path.endswith(_BY_TABS):
        lines = [_INDENT.sub(_tabs, line) for line in lines]
    while lines and not lines[-1]:  # before the header of the next file
        lines.pop()
    signs = {line[:1] for line in lines if line}
    before = None if signs == {"+"} else _text(lines, "-")
    after = None if signs == {"-"} else _text(lines, "+")
    return before, after


def _tabs(indent: re.Match[str]) -> str:
    """Return the sign of a line and the tabs that its blanks stand for."""
    return indent[1] + "\t" * (len(indent[2]) // 4)


def _text(lines: Iterable[str], sign: str) -> str:
    """Return one side: the lines of context and those with the sign."""
    kept = [line[1:] for line in lines if line[:1] in ("", " ", sign)]
    return "".join(f"{line}\n" for line in kept)
