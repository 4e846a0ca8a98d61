"""Looks up cited works in a file or through the user's command; dos itself uses no network.

This is the source `citation` of `dos witness`. `witness.citation` compares what is found with what
is cited.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import MsgspecError, convert, json

from dos.machine import commands
from dos.unknown import Unknown
from dos.witness import citation
from dos.witness.accountability import Accountability
from dos.witness.citation import Answer, CitedWork
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io import files
from dos.world import World

NAME = "citation"
# BibTeX: the key of an entry, and a field whose value may hold two levels of braces.
_ENTRY = re.compile(r"@\w+\s*\{\s*([^\s,{}]+)\s*,")
_FIELD = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\})")
# Every other answer is against the citation.
_SAY = {Answer.RESOLVED_MATCH: attest, Answer.ABSTAIN: no_signal}


def witness(world: World, subject: str) -> EvidenceFacts:
    """Say whether a citation holds: `CITE||NAME||QUOTE`, of which the last two are optional."""
    asked = citation.parse_citation(subject)
    works, rung = _look_up(world, asked.cite)
    verdict = citation.judge(asked, works)
    say = _SAY.get(verdict.answer, refute)
    return say(NAME, rung, subject, f"{verdict.answer}: {verdict.reason}")


def _look_up(world: World, cite: str) -> tuple[list[CitedWork] | Unknown, Accountability]:
    """Return the works for a citation, and who could have written them."""
    policy = world.config.evidence
    if policy.citation_command:
        committed = files.committed_policy(world.workspace)
        is_committed = not isinstance(committed, Unknown) and committed.evidence == policy
        # A command that is not committed may be the claimant's own.
        rung = Accountability.AGENT_AUTHORED
        if is_committed:
            rung = Accountability.OS_RECORDED
        return _works_from_command(world, cite), rung
    if policy.citations:
        path = world.workspace.root / policy.citations
        return read_works(path), files.file_accountability(world, path)
    why = "there is no source to look it up in: set [evidence] citations or citation_command"
    return Unknown(why), Accountability.AGENT_AUTHORED


def _works_from_command(world: World, cite: str) -> list[CitedWork] | Unknown:
    """Return the works that the user's command prints for a citation."""
    policy = world.config.evidence
    words = [word.replace("{cite}", cite) for word in policy.citation_command]
    ran = commands.run(words, files.caller_root(world.workspace), policy.timeout_seconds)
    output = commands.output_or_unknown("[evidence] citation_command", ran)
    if isinstance(output, Unknown):
        return output
    return _parse_json(output, "what [evidence] citation_command printed")


def read_works(path: Path) -> list[CitedWork] | Unknown:
    """Return the works of a file: BibTeX by its suffix, else JSON."""
    data = files.read_bounded(path)
    if isinstance(data, Unknown):
        return data
    if path.suffix == ".bib":
        return list(_parse_bibtex(data.decode("utf-8", "replace")))
    return _parse_json(data, path.name)


def _parse_json(data: bytes, what: str) -> list[CitedWork] | Unknown:
    """Return the works of a JSON list, as CSL has it, or of one object a line."""
    lines = [data]
    if not data.lstrip().startswith(b"["):
        lines = [line for line in data.splitlines() if line.strip()]
    works: list[CitedWork] = []
    try:
        for line in lines:
            rows = json.decode(line, type=dict[str, Any] | list[dict[str, Any]])
            if isinstance(rows, dict):
                rows = [rows]
            works += [_work(row) for row in rows]
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{what} is not a list of works: {error}")
    return works


def _work(row: dict[str, Any]) -> CitedWork:
    """Return the work of a row in our own fields, or in those of CSL."""
    if "citations" in row:
        return convert(row, CitedWork)
    names = (str(row[key]) for key in ("id", "DOI", "URL", "citation-key") if row.get(key))
    return CitedWork(
        citations=tuple(names),
        name=str(row.get("title") or ""),
        text=str(row.get("abstract") or ""),
    )


def _parse_bibtex(text: str) -> Iterator[CitedWork]:
    """Yield the entries of a BibTeX file."""
    entries = [*_ENTRY.finditer(text)]
    ends = [*(entry.start() for entry in entries[1:]), len(text)]
    for entry, end in zip(entries, ends, strict=True):
        fields = {}
        for field in _FIELD.finditer(text, entry.end(), end):
            value = field[2] or field[3] or ""
            fields[field[1].lower()] = re.sub(r"[{}]", "", value)
        names = (entry[1], fields.get("doi", ""), fields.get("url", ""))
        yield CitedWork(
            citations=tuple(filter(None, names)),
            name=fields.get("title", ""),
            text=fields.get("abstract", ""),
        )
