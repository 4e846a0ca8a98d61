"""Show the agent programs that dos knows, and which are here.

Of each program: where it was found, its version, the versions that dos was tested with, how it is
asked before it acts, and what `dos agents test` measured here last. A program that speaks the Agent
Client Protocol and is not in the list works too: `[agents.NAME] adapter = "acp"`.
"""

import shutil
from typing import Any

from msgspec import Struct

from dos.agents.programs.catalog import KnownAgent, Transport, known_agents
from dos.agents.registry import VersionVerdict, judge_version
from dos.conformance.io.results import LastResult
from dos.errors import DosError
from dos.unknown import Unknown
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2}
_ASKED_BY = {
    Transport.CONTROL: "its control pipe",
    Transport.APP_SERVER: "its app-server",
    Transport.ACP: "ACP",
    Transport.HOOKS: "its hooks",
    Transport.ONE_WAY: "not at all",
}
_HEADS = ("AGENT", "PROGRAM", "VERSION", "TESTED WITH", "ASKED BY", "MEASURED HERE")


class Args(Struct, kw_only=True):
    """There is nothing to choose."""


class Row(Struct, frozen=True, kw_only=True):
    """One program: what dos knows, what is here, what was measured."""

    agent: KnownAgent
    path: str  # empty: not on the PATH
    version: str  # empty: it prints none
    last: LastResult | None

    @property
    def asked_by(self) -> str:
        """How it is asked before it acts."""
        if self.agent.transport is Transport.ACP and not self.agent.asks:
            return "not at all"
        return _ASKED_BY[self.agent.transport]

    @property
    def version_verdict(self) -> VersionVerdict | None:
        """Whether dos was tested with this version; None: there is none."""
        if not self.version:
            return None
        return judge_version(self.version, self.agent.tested)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        agent = self.agent
        measured = None
        if self.last is not None:
            measured = {
                "version": self.last.version,
                "at": self.last.at,
                "result": self.last.result,
                "answers": self.last.answers,
            }
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
            "measured": measured,
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
    """The rows in columns, and below them what to type next."""
    table = [_HEADS, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in table
    ]
    return "\n".join([*lines, "", "Measure one with its real program: dos agents test AGENT"])


def _cells(row: Row) -> tuple[str, ...]:
    oldest, newest = row.agent.tested
    tested = oldest if oldest == newest else f"{oldest} to {newest}"
    version = row.version or ("?" if row.path else "not found")
    if row.version_verdict in (VersionVerdict.NEWER, VersionVerdict.OLDER):
        version = f"{version} ({row.version_verdict})"
    return (row.agent.name, row.agent.program, version, tested, row.asked_by, _measured(row.last))


def _measured(last: LastResult | None) -> str:
    """How many of the answers were a yes, of which version."""
    if last is None:
        return "-"
    yes = sum(answer.split(":")[0] == "yes" for answer in last.answers.values())
    return f"{yes} of {len(last.answers)} yes, {last.version or 'version unknown'}"
