"""Measures what agent programs can, and writes docs/agent-conformance.md from it.

    make conformance                                        every program on the PATH
    .venv/bin/python tools/make_conformance.py codex qwen   these alone
    .venv/bin/python tools/make_conformance.py --page       measure nothing: print the page

It runs the real programs against the scripted model, which takes minutes. The measurements are data
of the package (`dos agents` shows them); those of programs that are not run stay as they are.
"""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from msgspec import json

from dos.agents.programs.catalog import KnownAgent, known_agents
from dos.conformance.io.measure import Measured, measure
from dos.conformance.io.published import FILE, Measurement, measurements
from dos.conformance.questions import Answer, Question, Verdict

HOUSE = Path(__file__).parents[1]
PAGE = HOUSE / "docs" / "agent-conformance.md"
DATA = HOUSE / "src" / "dos" / "conformance" / FILE
HEADS = ("agent", "program", "version", "measured", *Question)
INTRODUCTION = """\
# What agent programs can

A fleet needs some things of its agents that not all of them can. This page says what each program
was *seen* to do: `make conformance` runs the real program against a model that follows a script,
and looks at the disk, at what the model was told, and at what dos could read. Nothing here is
copied from a manual. `dos agents` lists the same answers beside what is installed; to measure the
program on your machine, run `dos agents test AGENT`.

"""
EXPLANATION = """
## The questions

- **asks before an edit**: the model asks for two writes outside of its lane, one by the program's
  tool for files and one by a shell redirect. Both are refused. *yes* means that neither file was
  on the disk afterwards, and that two allowed files were.
- **reports usage**: the tokens that dos read from the program, against those that the model
  counted.
- **tells a limit**, **tells an overload**: the model answers every request with HTTP 429, or 529,
  and asks to be left alone for 30 s (`retry-after`). *yes* means that dos learned of it within a
  minute, from the running program or from how it ended. A fleet ends a program that is silent for
  too long (`[workers] silence_seconds`); one that speaks ACP then counts as limited, not as hung,
  if it was waiting for its model.
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


def row(agent: KnownAgent, measured: Measurement) -> str:
    """Return the line of one program."""
    cells = [f"`{agent.name}`", agent.title, measured.version or "not printed", measured.date]
    cells += [cell(measured.answers[question.name.lower()]) for question in Question]
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """Return the page: the measured programs, then the names of the others."""
    known = measurements()
    lines = [f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}"]
    lines += [row(agent, known[agent.name]) for agent in known_agents() if agent.name in known]
    missing = [f"`{agent.name}`" for agent in known_agents() if agent.name not in known]
    if missing:
        lines += ["", f"Not measured: {', '.join(missing)}."]
    return INTRODUCTION + "\n".join(lines) + "\n" + EXPLANATION


def publish(measured: Measured) -> None:
    """Add the answers of one program to the data of the package."""
    answers = {question.name.lower(): answer for question, answer in measured.answers.items()}
    found = Measurement(
        version=measured.version, date=f"{datetime.now(UTC):%Y-%m-%d}", answers=answers
    )
    known = {**measurements(), measured.agent: found}
    ordered = {agent.name: known[agent.name] for agent in known_agents() if agent.name in known}
    DATA.write_bytes(json.format(json.encode(ordered), indent=1) + b"\n")
    measurements.cache_clear()


def main(words: list[str]) -> None:
    """Measure the named programs, or all that are on the PATH, and write the page."""
    if words == ["--page"]:
        print(page(), end="")
        return
    for agent in known_agents():
        is_wanted = agent.name in words or (not words and shutil.which(agent.program))
        if not is_wanted:
            continue
        measured = measure(agent, lambda line: print(line, file=sys.stderr, flush=True))
        if measured.answers:
            publish(measured)
        else:
            print(f"{agent.name}: {measured.why_not}", file=sys.stderr)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
