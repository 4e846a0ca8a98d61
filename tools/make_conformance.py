"""Writes docs/agent-conformance.md: what each agent program was seen to do.

    make conformance                                        every program on the PATH
    .venv/bin/python tools/make_conformance.py codex qwen   these alone

It runs the real programs against the scripted model, which takes minutes. The rows of programs that
are not run stay as they are, with the version and the date of their measurement.
"""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from dos.agents.programs.catalog import KnownAgent, known_agents
from dos.conformance.io.measure import Measured, measure
from dos.conformance.questions import Answer, Question, Verdict

PAGE = Path(__file__).parents[1] / "docs" / "agent-conformance.md"
HEADS = ("agent", "program", "version", "measured", *Question)
INTRODUCTION = """\
# What agent programs can

A fleet needs some things of its agents that not all of them can. This page says what each program
was *seen* to do: `make conformance` runs the real program against a model that follows a script,
and looks at the disk, at what the model was told, and at what dos could read. Nothing here is
copied from a manual. To measure the program on your machine, run `dos agents test AGENT`; the list
of all programs with their last results is `dos agents`.

"""
EXPLANATION = """
## The questions

- **asks before an edit**: the model asks for two writes outside of its lane, one by the program's
  tool for files and one by a shell redirect. Both are refused. *yes* means that neither file was
  on the disk afterwards, and that two allowed files were.
- **reports usage**: the tokens that dos read from the program, against those that the model
  counted.
- **tells a limit**, **tells an overload**: the model answers every request with HTTP 429, or 529.
  *yes* means that dos learned of it within a minute, from the running program or from how it
  ended. A program that is silent then looks like one that hangs.
- **resumes**: a second start of the program went on with the first conversation.
- **takes a message while it works**: a message that was handed over while a tool ran reached the
  model, and the tool was not interrupted.
- **ends when its input ends**: it exited by itself after its work. One that does not is killed by
  dos.

*unknown* means that the run showed nothing either way.
"""


def cell(answer: Answer) -> str:
    """Return an answer as a cell of the table."""
    text = str(answer.verdict)
    if answer.verdict is not Verdict.YES:
        text = f"**{text}**"
    return f"{text}: {answer.detail}".rstrip(": ").replace("|", "/").replace("\n", " ")


def row(agent: KnownAgent, measured: Measured, date: str) -> str:
    """Return the line of one program."""
    cells = [f"`{agent.name}`", agent.title, measured.version or "not printed", date]
    cells += [cell(measured.answers[question]) for question in Question]
    return f"| {' | '.join(cells)} |"


def rows_of(page: str) -> dict[str, str]:
    """Return the rows of an earlier page, by agent."""
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    return {line.split("`")[1]: line for line in rows}


def page(rows: dict[str, str]) -> str:
    """Return the page: the measured programs, then the names of the others."""
    lines = [f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}"]
    agents = known_agents()
    lines += [rows[agent.name] for agent in agents if agent.name in rows]
    missing = [f"`{agent.name}`" for agent in agents if agent.name not in rows]
    if missing:
        lines += ["", f"Not measured yet: {', '.join(missing)}."]
    return INTRODUCTION + "\n".join(lines) + "\n" + EXPLANATION


def main(names: list[str]) -> None:
    """Measure the named programs, or all that are on the PATH, and write the page."""
    rows = rows_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    for agent in known_agents():
        is_wanted = agent.name in names or (not names and shutil.which(agent.program))
        if not is_wanted:
            continue
        measured = measure(agent, lambda line: print(line, file=sys.stderr, flush=True))
        if measured.answers:
            rows[agent.name] = row(agent, measured, date)
        else:
            print(f"{agent.name}: {measured.why_not}", file=sys.stderr)
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
