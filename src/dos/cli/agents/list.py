"""Show the agent programs that dos knows, and what each can.

Of each program: its version, the versions that dos was tested with, and what the real program was
measured to do: here by `dos agents test` (marked with *), else by the tests of dos. A program that
speaks the Agent Client Protocol and is not in the list works too: `[agents.NAME] adapter = "acp"`.
"""

import shutil
from typing import Any

from msgspec import Struct

from dos.agents.programs.catalog import KnownAgent, Transport, known_agents
from dos.agents.registry import VersionVerdict, judge_version
from dos.conformance.io.published import Measurement, measurements
from dos.conformance.io.results import LastResult
from dos.conformance.questions import Question
from dos.errors import DosError
from dos.unknown import Unknown
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
_ASKED_BY = {
    Transport.CONTROL: "its control pipe",
    Transport.APP_SERVER: "its app-server",
    Transport.ACP: "ACP",
    Transport.HOOKS: "its hooks",
}
_COLUMNS = {
    Question.ASKS: "ASKS",
    Question.USAGE: "USAGE",
    Question.LIMIT: "429",
    Question.OVERLOAD: "529",
    Question.RESUMES: "RESUMES",
    Question.MESSAGES: "MESSAGES",
    Question.ENDS: "ENDS",
}
_HEADS = ("AGENT", "VERSION", "TESTED WITH", *_COLUMNS.values())
_LEGEND = """
ASKS before it edits, reports its USAGE, tells a limit (429) and an overload (529), RESUMES a
conversation, takes MESSAGES while it works, ENDS when its input ends. The words: --json
* measured here. Measure one with its real program: dos agents test AGENT"""


class Args(Struct, kw_only=True):
    """There is nothing to choose."""


class Row(Struct, frozen=True, kw_only=True):
    """One program: what dos knows, what is here, what was measured."""

    agent: KnownAgent
    path: str  # empty: not on the PATH
    version: str  # empty: it prints none
    published: Measurement | None  # what the tests of dos measured
    last: LastResult | None  # what was measured here

    @property
    def asked_by(self) -> str:
        """How it is asked before it acts."""
        if not self.agent.asks:
            return "not at all"
        return _ASKED_BY[self.agent.transport]

    @property
    def version_verdict(self) -> VersionVerdict | None:
        """Whether dos was tested with this version; None: there is none."""
        if not self.version:
            return None
        return judge_version(self.version, self.agent.tested)

    @property
    def answers(self) -> dict[str, str]:
        """What it can, by question: as measured here, else by the tests of dos."""
        if self.last is not None and self.last.answers:
            return self.last.answers
        if self.published is None:
            return {}
        return {name: answer.text for name, answer in self.published.answers.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        agent = self.agent
        return {
            "name": agent.name,
            "title": agent.title,
            "program": agent.program,
            "path": self.path or None,
            "version": self.version or None,
            "tested": list(agent.tested),
            "version_verdict": self.version_verdict,
            "asked_by": self.asked_by,
            "note": agent.note,
            "published": self._published_dict(),
            "measured": self._measured_dict(),
        }

    def _published_dict(self) -> dict[str, Any] | None:
        if self.published is None:
            return None
        return {
            "version": self.published.version or None,
            "date": self.published.date,
            "answers": {name: answer.text for name, answer in self.published.answers.items()},
        }

    def _measured_dict(self) -> dict[str, Any] | None:
        if self.last is None:
            return None
        return {
            "version": self.last.version,
            "at": self.last.at,
            "result": self.last.result,
            "answers": self.last.answers,
        }


def run(args: Args, context: Context) -> Reply:  # noqa: ARG001
    """Look for every program, ask those that are here for their versions, and list them."""
    from dos.machine import commands

    agents = known_agents()
    paths = {agent.program: shutil.which(agent.program) or "" for agent in agents}
    asked = {
        agent.program: paths[agent.program]
        for agent in agents
        if agent.prints_version and paths[agent.program]
    }
    printed = commands.program_versions(asked)
    rows = []
    for agent in agents:
        version = printed.get(agent.program, "")
        rows.append(
            Row(
                agent=agent,
                path=paths[agent.program],
                version="" if isinstance(version, Unknown) else version,
                published=measurements().get(agent.name),
                last=_last_result(agent.name, context),
            )
        )
    return Reply(text=_table(rows), data={"agents": [row.to_dict() for row in rows]})


def _last_result(name: str, context: Context) -> LastResult | None:
    """What was measured in this workspace; None where there is no journal to say so."""
    from dos.conformance.io import results

    try:
        return results.last(context.journal_world.journal, results.AGENTS, name)
    except (DosError, OSError):
        return None


def _table(rows: list[Row]) -> str:
    """The rows in columns, and below them what the columns mean and what to type next."""
    table = [_HEADS, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in table
    ]
    return "\n".join([*lines, _LEGEND])


def _cells(row: Row) -> tuple[str, ...]:
    oldest, newest = row.agent.tested
    tested = oldest if oldest == newest else f"{oldest} to {newest}"
    version = row.version or ("?" if row.path else "not found")
    if row.version_verdict in (VersionVerdict.NEWER, VersionVerdict.OLDER):
        version = f"{version} ({row.version_verdict})"
    answers = row.answers
    mark = "*" if row.last is not None and row.last.answers else ""
    words = [answers.get(question.name.lower(), "-").split(":")[0] for question in _COLUMNS]
    return (f"{row.agent.name}{mark}", version, tested, *words)
