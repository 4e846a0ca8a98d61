#!/usr/bin/env python3
"""Print docs/troubleshooting.md: one entry for each stop, hold, refusal and question.

    make_troubleshooting.py > docs/troubleshooting.md      (`make docs` does it)

The entries come from the table of reasons and from the classes of the questions, so that the page
says what `dos man wedge` and `dos decisions` say.
"""

import inspect
import sys

from dos.agents.adapter import Ending
from dos.agents.conversation import Asks
from dos.limits.accounts import LaneDay, Measure
from dos.limits.budget import BudgetLine
from dos.limits.quota import Key, Limit
from dos.questions.agent_requests import ToolRequested
from dos.questions.catalog import Added, AnyQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.documents import PlanChanged, SettingsChanged
from dos.questions.lanes import FailedUnit, LaneFailed, LaneStopped, UnitsFailed
from dos.questions.resources import BaselineFailed, BudgetSpent, LimitDoubted, LimitReached
from dos.questions.runs import HaltProposed, RunStopped, Spinning
from dos.questions.units import Incident, LandingBlocked, LandingConflict, UnitHeld, UnitUndone
from dos.reasons.reason import ClearsBy, Kind, Reason
from dos.reasons.table import TABLE
from dos.units.unit import Landing
from dos.verify.baseline import CheckResult

HEAD = """# Troubleshooting

Start with the verb that answers your question:

| you want to know | type |
|---|---|
| what needs you now | `dos decisions` |
| why a lane is idle, or a unit is not worked on | `dos top`, or `dos pickable UNIT` |
| why a run stopped, and how each iteration was decided | `dos why RUN` |
| what is wrong with this machine or workspace | `dos doctor`, or `dos doctor --deep` to run\
 the tests |
| what an agent printed | `dos logs LANE` |
| what a word in the output means | `dos man wedge WORD`, or find it below |
| what crashed, and where its work is | `dos report`, `dos salvage list` |

The rest of this page is generated (`make docs`): an entry for each reason of a stop, a hold and a
refusal, and for each question that dos asks. Words in `code` are the tokens of `--json`.
"""
SECTIONS = {
    Kind.STOP: ("A run stopped", "A worker stopped its loop on a lane for one of these reasons."),
    Kind.HOLD: ("A unit is not offered", "`dos pickable UNIT` names the one reason that counts."),
    Kind.REFUSAL: (
        "A lane or a launch was refused",
        "`dos arbitrate` and `dos lease-lane acquire` refuse with one of these reasons.",
    ),
    Kind.CAUSE: ("A dispatch was blocked", "`dos gate` and `dos decide` know these causes."),
    Kind.RESULT: (
        "An agent ended without a result",
        "`dos verify-result` reads them from a transcript.",
    ),
    Kind.CALL: (
        "A tool call was refused or noted",
        "Hooks and workers answer agents with one of these reasons; `dos helped` counts them.",
    ),
}
CLEARED_BY = {
    ClearsBy.REPLAN: "a replan",
    ClearsBy.OPERATOR: "you",
    ClearsBy.TIME: "time",
    ClearsBy.OTHER_WORKER: "another worker that finishes",
    ClearsBy.CODE_FIX: "a fix of what causes it",
    ClearsBy.NOBODY: "nothing has to be cleared",
}


def sample_questions() -> list[AnyQuestion]:
    """One of each kind, as a person would see it."""
    failed = FailedUnit(unit="AUTH/AUTH3", tries=3, why="no commit was made")
    limit = Limit(
        key=Key(vendor="anthropic"), ending=Ending.AUTH, hit_ms=1, times=1, agent="claude_code"
    )
    far = Limit(
        key=Key(vendor="openai"),
        ending=Ending.USAGE_WINDOW,
        hit_ms=1_800_000_000_000,
        resets_at_ms=1_831_536_000_000,
        times=1,
        agent="codex",
    )
    check = CheckResult(
        host="build1",
        branch="main",
        commit="e7b022d8d",
        tree="4b825dc",
        commands="3c9a",
        ordinal=1,
        command="npm test",
        passed=False,
        reason="exit 127, sh: 1: mocha: not found",
    )
    edited = {"digest": "9f2c", "approved": "1a7b", "where": "checkout"}
    budget = BudgetLine(
        account=LaneDay(lane="api", day="2026-11-16"), measure=Measure.USD, spent=5.0, limit=5.0
    )
    run = "RID-1M7JCG0GMFYS09M"
    return [
        UnitsFailed.ask("api", run, [failed]),
        LaneStopped.ask("api", run, "the setup command failed", [failed]),
        LaneFailed.ask("api", "3 workers died within 60 s"),
        LandingConflict.ask("AUTH/AUTH3", ["api/login.py was changed on both sides"], lane="api"),
        LandingBlocked.ask(
            "AUTH/AUTH3", "api/login.py is edited in your checkout", commit="7fe0962aa", lane="api"
        ),
        TestsChanged.ask(
            Landing(unit="AUTH/AUTH3", branch="main", base="3b1c9d0ff", commit="7fe0962aa"),
            "it weakens tests: tests/test_login.py: tests removed: test_expired",
            refused=2,
            lane="api",
        ),
        UnitUndone.ask("AUTH/AUTH1", commit="7fe0962aa"),
        UnitHeld.ask("AUTH/AUTH2", "OPERATOR_GATED", "the operator picks a vendor", lane="api"),
        Incident.ask(
            "i1",
            what="The agent on lane api put 1 commit on main",
            units=["AUTH/AUTH3"],
            commits=["7fe0962aa"],
            run_id=run,
            lane="api",
        ),
        Spinning.ask(run, "api", "no commit for 45 min"),
        ToolRequested.ask(
            run,
            "1.1",
            Asks(id="1", tool="Bash", command="git push origin main"),
            lane="api",
            unit="AUTH/AUTH3",
            agent="claude_code",
            expires_ms=1_763_500_000_000,
        ),
        HaltProposed.ask("worker-7", position=1, lane="api", reason="no progress for 2 h"),
        RunStopped.ask(run_id=run, lane="api", stop_reason="launch-failed", reason="exit 127"),
        BaselineFailed.ask(check),
        LimitReached.ask(limit),
        LimitDoubted.ask(far),
        BudgetSpent.ask(budget),
        PlanChanged.ask(document="docs/auth-plan.md", **edited),
        SettingsChanged.ask(document="dos.toml", **edited),
        Added.ask("FLAG", "api", "The vendor's key has expired.", "dos limits", answered=()),
    ]


def page() -> str:
    parts = [HEAD]
    parts.append("## dos asks a question\n")
    parts.append(
        "`dos decisions` lists the open questions, `dos decisions answer ID CHOICE` answers one.\n"
    )
    parts += [question_entry(question) for question in sample_questions()]
    for kind, (title, text) in SECTIONS.items():
        parts += [f"## {title}\n", f"{text}\n"]
        parts += [reason_entry(row) for row in TABLE if row.kind is kind]
    return "\n".join(parts).rstrip("\n") + "\n"


def question_entry(question: AnyQuestion) -> str:
    """What it is about, an example, the choices, and what happens without an answer."""
    lines = [f"### `{question.about}`", ""]
    if isinstance(question, UnitsFailed):
        lines = [f"### `{question.about}` (units)", ""]
    lines += [inspect.getdoc(type(question)) or "", "", f"> {question.text}", ""]
    lines += [f"- `{choice.name}`: {choice.meaning}" for choice in question.choices]
    if question.otherwise:
        when = " at the next `dos up`" if question.until_start else ""
        lines.append(f"- without an answer{when}: {question.otherwise}")
    return "\n".join(lines) + "\n"


def reason_entry(reason: Reason) -> str:
    lines = [f"### `{reason.token}`", "", reason.message]
    if reason.fix:
        lines += ["", f"**Do:** {reason.fix}"]
    cleared = f"Cleared by: {CLEARED_BY[reason.clears_by]}."
    if reason.retryable:
        cleared += " The same request can succeed later."
    lines += ["", cleared]
    return "\n".join(lines) + "\n"


def main() -> int:
    sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
