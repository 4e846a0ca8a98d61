"""Works under a citation, from a file of them or from a command of the user's. Nothing of ours asks the network."""

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
from dos.witness.io import writable
from dos.world import World

NAME = "citation"
TIMEOUT_SECONDS = 20.0
_ENTRY = re.compile(r"@\w+\s*\{\s*([^\s,{}]+)\s*,")
_FIELD = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\})")
_SAY = {
    Answer.RESOLVED_MATCH: attest,
    Answer.ABSTAIN: no_signal,
}  # whatever else was found is against it


def witness(world: World, subject: str) -> EvidenceFacts:
    """`CITE||NAME||QUOTE`, the last two of which may be left out."""
    asked = citation.parse_citation(subject)
    found, rung = _look_up(world, asked.cite)
    verdict = citation.judge(asked, found)
    say = _SAY.get(verdict.answer, refute)
    return say(NAME, rung, subject, f"{verdict.answer}: {verdict.reason}")


def _look_up(world: World, cite: str) -> tuple[list[CitedWork] | Unknown, Accountability]:
    policy, committed = world.config.evidence, writable.committed_policy(world.workspace)
    if policy.citation_command:
        same = not isinstance(committed, Unknown) and committed.evidence == policy
        rung = Accountability.OS_RECORDED if same else Accountability.AGENT_AUTHORED
        return _printed(world, policy.citation_command, cite), rung
    if policy.citations:
        path = world.workspace.root / policy.citations
        return read_works(path), writable.file_accountability(world, path)
    why = "nobody can look it up: set [evidence] citations or citation_command"
    return Unknown(why), Accountability.AGENT_AUTHORED


def _printed(world: World, command: tuple[str, ...], cite: str) -> list[CitedWork] | Unknown:
    words = [word.replace("{cite}", cite) for word in command]
    ran = commands.run(words, writable.caller_root(world.workspace), TIMEOUT_SECONDS)
    said = commands.output_or_unknown("[evidence] citation_command", ran)
    return (
        said
        if isinstance(said, Unknown)
        else _read(said, "what [evidence] citation_command printed")
    )


def read_works(path: Path) -> list[CitedWork] | Unknown:
    data = writable.read_bounded(path)
    if isinstance(data, Unknown):
        return data
    if path.suffix == ".bib":
        return list(_bibtex(data.decode("utf-8", "replace")))
    return _read(data, path.name)


def _read(data: bytes, what: str) -> list[CitedWork] | Unknown:
    """A JSON list, as CSL has it, or an object a line."""
    try:
        lines = (
            [data]
            if data.lstrip().startswith(b"[")
            else [line for line in data.splitlines() if line.strip()]
        )
        found = [json.decode(line, type=dict[str, Any] | list[dict[str, Any]]) for line in lines]
        return [
            _work(row) for rows in found for row in (rows if isinstance(rows, list) else [rows])
        ]
    except (MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unknown(f"{what} is not a list of works: {error}")


def _lines(data: bytes) -> list[dict[str, Any]]:
    return [json.decode(line, type=dict[str, Any]) for line in data.splitlines() if line.strip()]


def _work(row: dict[str, Any]) -> CitedWork:
    if "citations" in row:
        return convert(row, CitedWork)
    names = (str(row[key]) for key in ("id", "DOI", "URL", "citation-key") if row.get(key))
    return CitedWork(
        citations=tuple(names),
        name=str(row.get("title") or ""),
        text=str(row.get("abstract") or ""),
    )


def _bibtex(text: str) -> Iterator[CitedWork]:
    starts = [*_ENTRY.finditer(text)]
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=True):
        fields = {
            found[1].lower(): re.sub(r"[{}]", "", found[2] or found[3] or "")
            for found in _FIELD.finditer(text, start.end(), end)
        }
        names = (start[1], fields.get("doi", ""), fields.get("url", ""))
        yield CitedWork(
            citations=tuple(filter(None, names)),
            name=fields.get("title", ""),
            text=fields.get("abstract", ""),
        )
