"""Each adapter and its real program: the words that it is started with are understood, and its end
is read rightly."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from agent_fleet import IDENTITY
from installing import Unavailable, path_of
from model_server import ModelServer
from one_agent import OneAgent
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program

from dos.agents.adapter import (
    AgentOutcome,
    Clocks,
    Ending,
    EndingEvidence,
    Heard,
    Settings,
    ToolResult,
    Waiting,
)
from dos.permission.ask import Allow, Deny

PROMPT = "# Unit DEMO/A1: write a file\n\nCommit it.\n"
COMMIT = {"bash": "echo x > made.txt && git add made.txt && git commit --quiet -m 'Write a file'"}
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs
SLOW = pytest.mark.soak  # to start


class Ended:
    def __init__(
        self, outcome: AgentOutcome, lines: list[str], heard: list[Heard], tree: Path
    ) -> None:
        self.outcome = outcome
        self.lines = lines
        self.heard = heard
        self.tree = tree

    def commits(self) -> int:
        words = ["git", "rev-list", "--count", "HEAD"]
        return int(
            subprocess.run(words, cwd=self.tree, check=True, capture_output=True, text=True).stdout
        )


def end(
    tmp_path: Path,
    program: Program,
    script: object,
    *,
    max_turns: int | None = None,
    tries: int | None = None,
    answer: Allow | Deny = Allow(),
) -> Ended:
    """Start it as a worker does; its adapter says how it ended: by itself, or for its silence after
    a few tries. `answer` is what it is told when it asks."""
    try:
        command = (str(path_of(program)),)
    except Unavailable as error:
        pytest.skip(str(error))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    environment |= {
        f"GIT_{who}_{what}": it for who in ("AUTHOR", "COMMITTER") for what, it in IDENTITY.items()
    }
    tree = tmp_path / "tree"
    tree.mkdir()
    for words in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=tree, env=environment, check=True)
    model = ModelServer(tmp_path / "model", script)
    try:
        table = program.settings(model.url)
        for name, text in program.files(model.url).items():
            (tmp_path / "home" / name).parent.mkdir(parents=True)
            (tmp_path / "home" / name).write_text(text)
        settings = Settings(
            command=command, model=table.get("model", ""), max_turns=max_turns, directory=str(tree)
        )
        agent = OneAgent(program.name, settings)
        ran = agent.run(
            PROMPT,
            tree,
            environment | table["environment"],
            should_stop=lambda: tries is not None and model.refusals() >= tries,
            answer=answer,
        )
    finally:
        model.stop()
    clocks = Clocks(ended_at=datetime.now(UTC), silent=ran.ended_by is not None)
    outcome = agent.adapter.outcome(agent.state, ran.exit_code, clocks)
    return Ended(outcome, ran.lines, agent.heard, tree)


@pytest.mark.parametrize(
    "program",
    [CLAUDE_CODE, CODEX, GEMINI, pytest.param(OPENCODE, marks=SLOW)],
    ids=lambda program: program.name,
)
def test_work_ends_well_with_its_last_words_and_what_it_used(tmp_path, program):
    ended = end(tmp_path, program, [COMMIT, {"say": "It is done."}])
    assert ended.outcome.ending is Ending.OK, ended.lines
    assert ended.outcome.claim == "It is done."
    assert ended.outcome.session
    assert sum(usage.input_tokens for usage in ended.outcome.usage) == 200
    assert sum(usage.output_tokens for usage in ended.outcome.usage) == 40
    assert ended.commits() == 2


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, marks=SLOW, id=program.name)
        for program in (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)
    ],
)
def test_what_a_tool_returned_is_told_with_its_exit_code(tmp_path, program):
    fails = {"bash": "echo three lines; exit 3"}
    works = {"bash": "echo it works"}
    ended = end(tmp_path, program, [fails, works, {"say": "It is done."}])
    first, second = [event for event in ended.heard if isinstance(event, ToolResult)]
    # Gemini CLI reports a command that failed as a success, without its exit code.
    expected = (None, False) if program is GEMINI else (3, True)
    assert (first.exit_code, first.failed) == expected, ended.lines
    assert "three lines" in first.output
    assert not second.failed
    assert second.exit_code in (0, None)
    assert "it works" in second.output


@pytest.mark.parametrize(
    ("program", "status", "ending"),
    [
        (CLAUDE_CODE, 401, Ending.AUTH),
        (CLAUDE_CODE, 429, Ending.TRANSIENT),
        (CLAUDE_CODE, 500, Ending.TRANSIENT),
        (CLAUDE_CODE, 529, Ending.OVERLOADED),
        (CODEX, 401, Ending.AUTH),
        (CODEX, 429, Ending.TRANSIENT),
        (CODEX, 529, Ending.OVERLOADED),
        pytest.param(OPENCODE, 401, Ending.AUTH, marks=SLOW),
        (GEMINI, 401, Ending.AUTH),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_provider_that_refuses_is_told_apart_from_a_failure(tmp_path, program, status, ending):
    ended = end(tmp_path, program, [{"status": status, "message": "scripted"}])
    assert ended.outcome.ending is ending, ended.lines
    assert ended.outcome.found.raw
    assert ended.commits() == 1


@pytest.mark.parametrize(
    ("program", "status"),
    [
        (GEMINI, 429),
        pytest.param(GEMINI, 529, marks=SLOW),
        pytest.param(OPENCODE, 429, marks=SLOW),
        pytest.param(OPENCODE, 529, marks=SLOW),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_what_tries_again_in_silence_is_seen_to_wait(tmp_path, program, status):
    words = {429: "Too Many Requests", 529: "Overloaded"}[status]
    ended = end(tmp_path, program, [{"status": status, "message": words}], tries=2)
    assert [type(event) for event in ended.heard[:1]] == [Waiting]
    assert ended.outcome.ending is {429: Ending.TRANSIENT, 529: Ending.OVERLOADED}[status], (
        ended.lines
    )


def test_claude_code_that_runs_out_of_turns_says_so(tmp_path):
    ended = end(tmp_path, CLAUDE_CODE, [COMMIT, COMMIT, {"say": "It is done."}], max_turns=1)
    assert ended.outcome.ending is Ending.TURN_CAP, ended.lines


def test_claude_code_that_was_denied_a_tool_ends_well_and_the_denial_is_found(tmp_path):
    forbidden = {"tool": "Write", "with": {"file_path": "other/made.txt", "content": "x\n"}}
    refusal = Deny(reason="other is outside of your lane.")
    ended = end(tmp_path, CLAUDE_CODE, [forbidden, {"say": "It is done."}], answer=refusal)
    assert ended.outcome.ending is Ending.OK
    assert ended.outcome.found == EndingEvidence(field="permission_denials", raw="Write")
    assert not (ended.tree / "other").exists()
