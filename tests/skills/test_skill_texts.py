"""Every command of every skill runs, and every word about it is true."""

import os
import re
from pathlib import Path

import pytest
from commanding import git, in_process
from msgspec import convert, json
from skill_commands import commands, words

from dos.agenthooks.wiring import HOSTS
from dos.errors import BadInput
from dos.loop.types import IterationOutcome
from dos.skills.io import packaged
from dos.skills.skill import CORE, parse_skill
from dos.verbs.listing.table import VERBS
from dos.verbs.lookup import exit_codes

SKILLS = packaged.names()
ALL = (
    "dos-class-cycle", "dos-dispatch", "dos-dispatch-loop", "dos-goal-gate", "dos-next-up",
    "dos-promote", "dos-replan", "dos-replan-loop", "dos-self-improve", "dos-supervise-loop",
    "dos-unstick", "dos-witness-claim",
)  # fmt: skip
TRANSCRIPT = {
    "type": "assistant",
    "message": {
        "role": "assistant",
        "content": [{"type": "text", "text": "DOS-CLAIM: SAMPLE API1"}],
    },
}


@pytest.fixture
def values(workspace: Path) -> dict[str, str]:
    """A value for every placeholder."""
    (workspace.parent / "t.jsonl").write_bytes(json.encode(TRANSCRIPT) + b"\n")
    (workspace.parent / "m.txt").write_text("DOS-CLAIM: SAMPLE API1\n")
    return {
        "LANE": "api",
        "SCOPE": "api",
        "RID": in_process("run-id", "mint", "test").json["run_id"],
        "PLAN": "SAMPLE",
        "PHASE": "API1",
        "UNIT": "SAMPLE/API1",
        "DOC": "docs/sample-plan.md",
        "START": git("rev-parse", "HEAD", cwd=workspace).strip(),
        "COUNT": "2",
        "SINCE": "30d",
        "TARGET": "2",
        "OUTCOME": "drained",
        "OUTCOME_JSON": '{"kind":"SHIPPED","packet_judge":"SHIPPED-DIRTY","ship_count":0}',
        "TEXT": "'which vendor?'",
        "CAUSE": "consecutive-dirty-zero",
        "HOST": "claude-code",
        "TRANSCRIPT": str(workspace.parent / "t.jsonl"),
        "MESSAGE": str(workspace.parent / "m.txt"),
        "EFFECT": "built",
        "COMMAND": "true",
        "WORK": "12",
        "BASELINE": "10",
        "TOKENS": "900",
        "REVERTS": "0",
        "KEPT": "1",
        "PRODUCTIVITY": "PRODUCTIVE",
        "VERDICT": "KEEP",
    }


def test_there_are_twelve():
    assert SKILLS == ALL
    assert set(CORE) < set(SKILLS)


def verb_of(arguments: list[str]) -> str:
    for count in (2, 1):
        if " ".join(arguments[:count]) in VERBS:
            return " ".join(arguments[:count])
    raise AssertionError(f"no verb: {arguments}")


def test_every_command_runs_and_answers_with_one_of_its_codes(values):
    lines = dict.fromkeys(line for skill in SKILLS for line in commands(skill))
    assert len(lines) > 30
    for line in lines:
        arguments = words(line.replace("$PPID", str(os.getpid())), values)
        answer = in_process(*arguments)
        codes = exit_codes(VERBS[verb_of(arguments)])
        usable = {
            code
            for token, code in codes.items()
            if token not in ("contract_error", "not_permitted")
        }
        assert answer.code in usable, (line, answer)


@pytest.mark.parametrize("skill", SKILLS)
def test_a_skill_names_no_place_and_never_forces(skill):
    lines = packaged.skills()[skill].command_lines
    assert lines
    assert not [line for line in lines if "--force" in line or "/dos.toml" in line]
    assert {line.split()[0] for line in lines} <= {"dos", "git"}
    assert "Never add `--force` to a `dos` command" in packaged.skills()[skill].text


def test_every_outcome_of_the_dispatch_loop_is_one_that_decide_takes():
    text = packaged.skills()["dos-dispatch-loop"].text
    outcomes = re.findall(r"^ *\|.*\| `(\{.*\})` \|$", text, re.MULTILINE)
    assert len(outcomes) == 12
    kinds = {convert(json.decode(outcome), IterationOutcome).kind for outcome in outcomes}
    assert len(kinds) == 7  # of every kind


def test_supervising_points_at_the_way_without_a_model():
    text = packaged.skills()["dos-supervise-loop"].text
    assert text.index("`dos up` does this without a model") < text.index("## ")


@pytest.mark.parametrize(
    "text",
    [
        "no front matter\n",
        "---\nname: other\ndescription: x\n---\nText\n",
        "---\nname: dos-x\ndescription:\n---\nText\n",
        f"---\nname: dos-x\ndescription: {'x' * 1025}\n---\nText\n",
    ],
)
def test_a_skill_that_no_program_would_load_is_an_error(text):
    with pytest.raises(BadInput):
        parse_skill("dos-x", text)
    assert parse_skill("dos-x", "---\nname: dos-x\ndescription: y\n---\nText\n").name == "dos-x"


@pytest.mark.parametrize(
    ("document", "held"),
    [
        ("# D\n\n## 1. D D1 — one\n\n- class: draft\n- paths: api/d.txt\n", "class"),
        (
            "---\nclassification: draft\n---\n# D\n\n## 1. D D1 — one\n\n- paths: api/d.txt\n",
            "classification",
        ),
    ],
)
def test_a_draft_is_activated_as_promoting_says(workspace, document, held):
    text = packaged.skills()["dos-promote"].text
    assert f"`{held}: draft`" in text and f"`{held}: active`" in text
    plan = workspace / "docs" / "draft-plan.md"
    plan.write_text(document)
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "Plan a draft", cwd=workspace)
    assert in_process("pickable", "D/D1").code == 10
    plan.write_text(document.replace(f"{held}: draft", f"{held}: active"))
    git("commit", "--quiet", "--all", "--message", "Activate D/D1", cwd=workspace)
    assert in_process("pickable", "D/D1").code == 0


def test_the_goal_gate_names_every_program_that_can_be_wired():
    text = packaged.skills()["dos-goal-gate"].text
    named = re.findall(r"`([a-z-]+)`", text.partition("HOST is ")[2].partition(". Look")[0])
    assert sorted(named) == sorted(HOSTS)
