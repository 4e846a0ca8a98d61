"""A real Claude Code plays the loops of the skills: the model issues the commands of the skill and
follows their exit codes."""

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from installing import Unavailable, path_of
from msgspec import json
from programs import CLAUDE_CODE
from sample_workspaces import SampleWorkspace
from skill_player import Play, Player, SkillRun

from dos.skills.io import packaged
from dos.testing.model_script import Step
from dos.testing.scripted_model import ScriptedModel

SECONDS = 300
PLAN = """# A sample plan

- [ ] SAMPLE API1: write api1
  - lane: api
  - paths: api/api1.py
"""
TOOLS = "Bash Skill Agent Task"


@pytest.fixture
def sample(tmp_path: Path) -> SampleWorkspace:
    """A repository with one unit, the skills, and a `dos` on the path."""
    workspace = SampleWorkspace(tmp_path, sys.executable)
    workspace.make()
    (workspace.root / "docs" / "sample-plan.md").write_text(PLAN)
    assert workspace.dos("init", "--all", "--commit").returncode == 0
    workspace.commit_all("Plan")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "dos"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m dos "$@"\n')
    script.chmod(0o755)
    return workspace


def play(sample: SampleWorkspace, player: Player, prompt: str) -> str:
    """Run Claude Code with the prompt until its turn ends; the output, for messages."""
    try:
        program = path_of(CLAUDE_CODE)
    except Unavailable as error:
        pytest.skip(str(error))
    with ScriptedModel(player, log=sample.home / "requests.jsonl") as model:
        environment = {
            **sample.environment,
            **CLAUDE_CODE.settings(model.url)["environment"],
            "PATH": os.pathsep.join([str(sample.home / "bin"), os.environ["PATH"]]),
        }
        done = subprocess.run(
            [program, "-p", prompt, "--allowedTools", TOOLS, "--permission-mode", "acceptEdits"],
            cwd=sample.root, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS,
        )  # fmt: skip
        # The program found the skill and gave the model its whole text.
        body = packaged.skills()[prompt.split()[0].removeprefix("/")].text.split("---\n")[-1]
        assert any(body.strip() in request["prompt"] for request in model.requests)
    assert player.failures == [], done.stdout + done.stderr
    return done.stdout + done.stderr


def journal(sample: SampleWorkspace) -> list[dict[str, Any]]:
    """Everything that happened, without the record of each verb that judged."""
    lines = sample.dos("journal", "tail", "0").stdout.splitlines()
    return [event for line in lines if (event := json.decode(line))["kind"] != "verdict_given"]


TASK = {"description": "one unit", "subagent_type": "general-purpose"}
GATES = {3: "DRAIN", 4: "STALE-STAMP", 5: "BLOCKED", 6: "RACE"}
SHIPPED = '{"kind":"SHIPPED","packet_judge":"SHIPPED-CLEAN","ship_count":1}'
WORK = """printf 'def api1():\\n    return 1\\n' > api/api1.py && git add api \\
&& git commit -qm 'Write api1' -m 'Unit: SAMPLE/API1'"""


class DispatchLoop:
    """What a model does that follows the skill, with the codes and the JSON of its commands."""

    def __init__(self) -> None:
        self.skill = SkillRun("dos-dispatch-loop", {"LANE": "api"})
        self.replan = SkillRun("dos-replan", {"PLAN": "SAMPLE", "PHASE": "API1"})
        self.rounds: list[str] = []
        self.decision: dict[str, Any] = {}

    def lead(self) -> Play:
        run = self.skill.run
        yield from run("dos doctor")
        self.skill.values["RID"] = (yield from run("dos run-id")).json["run_id"]
        assert (yield from run("dos lease-lane acquire")).code == 0
        mode = "dispatch"
        code = 0
        while code == 0:
            assert (yield from run("dos lease-lane heartbeat")).code == 0
            outcome = yield from self.tidy() if mode == "replan" else self.dispatch()
            decided = yield from run("dos decide", OUTCOME_JSON=outcome)
            code, self.decision = decided.code, decided.json
            mode = self.decision["next_mode"]
            self.rounds.append(mode or self.decision["stop_reason"])
            if self.decision["reconcile"]:
                yield from self.tidy()
        assert code == 3
        assert (yield from run("dos lease-lane release")).code == 0
        yield from run("dos why")

    def dispatch(self) -> Generator[Step, str, str]:
        run, values = self.skill.run, self.skill.values
        values["START"] = (yield from run("git rev-parse")).text.strip()
        packet = yield from run("dos packet")
        if packet.code:
            return json.encode({"kind": "GATE", "verdict": GATES[packet.code]}).decode()
        (pick,) = packet.json["picks"]
        values |= {"PLAN": pick["plan_id"], "PHASE": pick["phase_id"]}
        values["UNIT"] = f"{pick['plan_id']}/{pick['phase_id']}"
        yield {"tool": "Agent", "with": {**TASK, "prompt": pick["prompt_text"]}}
        assert (yield from run("dos reconcile")).code == 0
        assert (yield from run("dos scope-gate")).code == 0
        assert (yield from run("dos attempt", OUTCOME="shipped")).code == 0
        return SHIPPED

    def tidy(self) -> Generator[Step, str, str]:
        run = self.replan.run
        yield {"tool": "Skill", "with": {"skill": "dos-replan", "args": "--scope api"}}
        yield from run("dos doctor")
        assert (yield from run("dos plan --once")).code == 0
        productivity = "UNPRODUCTIVE"
        if "- [ ]" in (yield from self.document()):
            assert (yield from run("dos verify")).code == 0
            assert (yield from run("dos plan --tick --dry-run")).code == 0
            assert (yield from run("dos plan --tick", last=True)).code == 0
            yield from run("dos decisions")
            yield {"bash": "git commit -qam 'Mark API1 as shipped'"}
            productivity = "PRODUCTIVE"
        outcome = {"kind": "REPLAN_DONE", "replan_productivity": productivity}
        return json.encode(outcome).decode()

    def document(self) -> Generator[Step, str, str]:
        """The model looks into the plan."""
        return (yield {"bash": "cat docs/sample-plan.md"})


def work() -> Play:
    """What the sub-agent does with the prompt of the packet."""
    yield {"bash": WORK}


def test_the_dispatch_loop_runs_to_its_typed_end(sample):
    loop = DispatchLoop()
    player = Player({"# Unit SAMPLE/API1": work, "dos-dispatch-loop": loop.lead})
    output = play(sample, player, "/dos-dispatch-loop --lane api")
    assert loop.rounds == ["dispatch", *["replan", "dispatch"] * 2, "replan", "replan-stalled"], (
        output
    )
    # All of the skill but what is for strays and for a measured number.
    assert {line.split()[1] for line in loop.skill.left_out} == {"decisions", "improve", "decide"}
    seen = [event["kind"] for event in journal(sample)]
    assert seen[0] == "lease_granted" and seen[-1] == "lease_released"
    assert seen.count("unit_attempted") == 1 and seen.count("iteration_committed") == 7
    (stop,) = [event["body"] for event in journal(sample) if event["kind"] == "run_stopped"]
    assert (stop["stop_reason"], stop["by_hand"]) == ("replan-stalled", True)
    assert sample.dos("verify", "SAMPLE", "API1").returncode == 0
    assert "- [x] SAMPLE API1" in (sample.root / "docs" / "sample-plan.md").read_text()


class SuperviseLoop:
    """What a model does that follows the skill for so many ticks; a sub-agent is the worker."""

    def __init__(self, ticks: int) -> None:
        self.skill = SkillRun("dos-supervise-loop", {"TARGET": "1"})
        self.ticks = ticks
        self.plans: list[dict[str, Any]] = []

    def lead(self) -> Play:
        run = self.skill.run
        template = (yield from run("dos doctor")).json["supervise"]["worker_launch_template"]
        for _ in range(self.ticks):
            plan = (yield from run("dos loop")).json
            self.plans.append(plan)
            for row in plan["reap"]:
                assert (yield from run("dos lease-lane reap", LANE=row["lane"])).code == 0
            for row in plan["spawn"]:
                if (yield from run("dos lease-lane spawn", LANE=row["lane"])).code == 0:
                    prompt = template.format(lane=row["lane"])
                    yield {"tool": "Agent", "with": {**TASK, "prompt": prompt}}
        yield from run("dos status")
        yield from run("dos decisions")

    def worker(self) -> Play:
        """A worker that takes its lane and still has it when its turn is over."""
        loop = SkillRun("dos-dispatch-loop", {"LANE": "api"})
        loop.values["RID"] = (yield from loop.run("dos run-id")).json["run_id"]
        assert (yield from loop.run("dos lease-lane acquire")).code == 0


def test_the_supervise_loop_ends_after_its_ticks(sample):
    dead = subprocess.Popen(["sleep", "600"])
    words = ("--owner", "dead", "--lane", "docs", "--pid", str(dead.pid))
    assert sample.dos("lease-lane", "acquire", *words).returncode == 0
    dead.kill()
    dead.wait()
    loop = SuperviseLoop(ticks=3)
    player = Player({"/dos-dispatch-loop --lane api": loop.worker, "dos-supervise-loop": loop.lead})
    output = play(sample, player, "/dos-supervise-loop --target 1 --interval 0 --max-ticks 3")
    first, *later = loop.plans
    lanes = [[row["lane"] for row in first[key]] for key in ("reap", "spawn")]
    assert lanes == [["docs"], ["api"]], output
    assert [plan["verdict"] for plan in later] == ["AT_TARGET", "AT_TARGET"]
    assert [(plan["reap"], plan["spawn"]) for plan in later] == [([], [])] * 2
    assert {line.split()[1] for line in loop.skill.left_out} == {"decisions"}  # nothing to flag
    kinds = [event["kind"] for event in journal(sample)]
    assert kinds == ["lease_granted", "lease_revoked", "spawn_intended", "lease_granted"]
