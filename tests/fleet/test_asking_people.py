"""What an agent may do only when a person allows it, and what people tell an agent at work."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from commanding import in_process
from driven_worker import happened, work
from patience import wait_for

from dos.agents.io import halt_listener
from dos.journal import fold
from dos.questions.state import Decisions
from dos.world import World

PROGRAMS = {"claude_code": "two_way_program.py", "gemini": "hooking_program.py"}
BOTH_WAYS = pytest.mark.parametrize("talking", PROGRAMS, indirect=True)
PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/**
- acceptance: `test -s one/a.txt`
"""
PROMPT = "# Unit DEMO/A1"
COMMIT = "git add -A && git commit -qm 'Work' -m 'Unit: DEMO/A1'"
COMMITTING = [{"bash": COMMIT, "id": "commit"}, {"wait": "commit"}]


def writing(path: str) -> list[dict[str, str]]:
    return [{"ask": path, "id": path}, {"wait": path}]


@pytest.fixture
def talking(repository, monkeypatch, request):
    """A fleet of one unit, whose agent asks a person before it writes a file: by pipe or hook."""
    agent = getattr(request, "param", "claude_code")
    program = Path(__file__).parents[1] / PROGRAMS[agent]
    monkeypatch.setattr(halt_listener, "POLL_SECONDS", 0.05)
    text = repository.config.read_text()
    text = text.replace(f'agent = "scripted"\ncommand = ["{repository.script}"]\n', "")
    repository.config.write_text(
        f'{text}agent = "{agent}"\nsilence_seconds = 2\n\n[agents.{agent}]\n'
        f'command = ["{sys.executable}", "{program}", "{repository.script}"]\n\n'
        '[enforcement]\nask_person = ["Write"]\n'
    )
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN)
    repository.commit_all("Talk")
    return repository


@pytest.fixture
def at_work(talking):
    """Begins a worker in a thread; at the end it has ended."""
    begun: list[threading.Thread] = []

    def begin(*steps: dict[str, object]) -> threading.Thread:
        talking.play({PROMPT: steps})
        thread = threading.Thread(target=work, args=(talking,))
        thread.start()
        begun.append(thread)
        return thread

    yield begin
    for thread in begun:
        if thread.is_alive():
            dos(talking, "halt", "one", "--timeout", "0")
        thread.join()


def dos(repository, *words: str):
    return in_process("--workspace", str(repository.root), *words)


def open_requests(repository) -> list[str]:
    with World(repository.root) as world:
        decisions, _ = fold.current(world.journal, Decisions)
    found = decisions.open.values()
    return [asked.raised.id for asked in found if asked.raised.about == "tool_requested"]


def next_request(repository, besides: str = "") -> str:
    return wait_for(lambda: [each for each in open_requests(repository) if each != besides])[0]


def told(repository, file: str) -> list:
    path = repository.home / file
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def behaviours(repository) -> dict[str, str]:
    return {name: answer["behavior"] for name, answer in told(repository, "answers.jsonl")}


@BOTH_WAYS
@pytest.mark.soak
def test_the_answers_of_a_person_reach_the_agent(talking, at_work):
    thread = at_work(
        *writing("one/denied.txt"),
        *writing("one/a.txt"),
        *writing("one/b.txt"),
        {"bash": "echo no > two/elsewhere.txt", "id": "outside"},
        {"wait": "outside"},
        *COMMITTING,
    )
    first = next_request(talking)
    assert "needs you" in dos(talking, "top", "--once").out
    assert f"dos decide-for {first} allow" in dos(talking, "status").out
    assert dos(talking, "decide-for", first, "deny", "--by", "ann").code == 0
    second = next_request(talking, first)
    assert dos(talking, "decide-for", first, "allow").code == 1  # the first answer counts
    assert dos(talking, "decisions", "answer", second, "allow-run").code == 0
    thread.join()
    assert behaviours(talking) == {
        "one/denied.txt": "deny", "one/a.txt": "allow", "one/b.txt": "allow",
        "outside": "deny", "commit": "allow",
    }  # fmt: skip
    names = talking.git("ls-tree", "-r", "--name-only", "main", "one", "two").split()
    assert names == ["one/a.txt", "one/b.txt", "one/keep", "two/keep"]
    denied = [(one["reason_class"], one["tool"]) for one in happened(talking, "hook_answered")]
    assert denied == [("NEEDS_PERSON", "Write"), ("OUT_OF_REGION", "Bash")]
    assert "ann was asked" in told(talking, "answers.jsonl")[0][1]["message"]
    waits = [event["why"] for event in happened(talking, "run_parked")]
    assert waits == ["decision", "decision"] and len(happened(talking, "run_unparked")) == 2
    story = dos(talking, "why", "one").out
    assert "refused Write: ann was asked to allow this, and denied it" in story
    assert "refused Bash: two/elsewhere.txt is outside of lane one" in story
    assert f"{second} answered: allow-run" in dos(talking, "timeline", "one").out
    report = dos(talking, "report").out
    assert "Refused before it happened: 2" in report and "one: 1 call (OUT_OF_REGION)" in report
    assert dos(talking, "helped", "--json").json["by_reason"] == {
        "NEEDS_PERSON": 1, "OUT_OF_REGION": 1,
    }  # fmt: skip


@BOTH_WAYS
@pytest.mark.soak
def test_without_an_answer_it_is_denied_and_waiting_is_not_silence(talking, at_work):
    talking.config.write_text(talking.config.read_text() + "answer_seconds = 4\n")
    talking.commit_all("Wait for four seconds")
    thread = at_work(
        {"ask": "one/taken_back.txt", "id": "back"},
        {"until": "asked"},
        {"withdraw": "back"},
        *writing("one/late.txt"),
        {"run": "echo x > one/a.txt"},
        *COMMITTING,
    )
    withdrawn = next_request(talking)
    (talking.home / "asked").touch()
    late = next_request(talking, withdrawn)
    wait_for(lambda: withdrawn not in open_requests(talking))
    answer = dos(talking, "decide-for", withdrawn, "allow")
    assert answer.code == 1 and "does not ask any more" in answer.out
    thread.join()
    assert late not in open_requests(talking)
    assert behaviours(talking) == {"one/late.txt": "deny", "commit": "allow"}
    assert [one["outcome"] for one in happened(talking, "agent_ended")] == ["ok"]
    assert talking.subjects()[0] == "Work"


@pytest.mark.soak
def test_a_message_reaches_the_agent_at_work_once_and_the_next_one_in_its_prompt(talking, at_work):
    thread = at_work({"mark": "ready"}, {"hear": 1}, {"mark": "heard"}, {"until": "go"})
    wait_for((talking.home / "ready").exists)
    answer = dos(talking, "steer", "one", "Prefer short words.", "--timeout", "60", "--json")
    assert answer.code == 0 and answer.json["delivered"]
    wait_for((talking.home / "heard").exists)
    talking.play({PROMPT: [{"run": "echo x > one/a.txt"}, *COMMITTING]})
    (talking.home / "go").touch()
    thread.join()
    first, message, second = told(talking, "heard.jsonl")
    assert message == "Prefer short words." and message not in first + second
    assert talking.subjects()[0] == "Work"
    assert dos(talking, "steer", "one", "Too late.").code == 1
    story = dos(talking, "why", "one").out
    assert "to the agent: 'Prefer short words.'" in story and "while it worked" in story


@pytest.fixture
def worker_process(talking):
    """Begins a worker as a process of its own, and returns it once its agent is ready."""
    begun: list[subprocess.Popen[bytes]] = []

    def begin(*steps: dict[str, object]) -> subprocess.Popen[bytes]:
        talking.play({PROMPT: [{"mark": "ready"}, *steps, {"until": "never"}]})
        command = [sys.executable, "-m", "dos", "worker", "--lane", "one"]
        process = subprocess.Popen(
            command, cwd=talking.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        begun.append(process)
        wait_for((talking.home / "ready").exists)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.wait()


@pytest.mark.soak
def test_no_message_is_lost_or_told_twice_when_the_worker_is_killed(talking, worker_process):
    process = worker_process({"hear": 1}, {"mark": "heard"})
    told_before = dos(talking, "steer", "one", "Told before.", "--timeout", "60", "--json")
    assert told_before.json["delivered"]
    wait_for((talking.home / "heard").exists)
    process.send_signal(signal.SIGSTOP)  # the next message is recorded, and goes no further
    assert not dos(talking, "steer", "one", "Told after.", "--timeout", "0", "--json").json[
        "delivered"
    ]
    process.kill()
    process.wait()
    talking.play({PROMPT: [{"run": "echo x > one/a.txt"}, *COMMITTING]})
    work(talking, number=2)
    first, message, second = told(talking, "heard.jsonl")
    assert (message, "Told" in first) == ("Told before.", False)
    assert second.count("Told after.") == 1 and "Told before." not in second
    assert [one.get("in_prompt", False) for one in happened(talking, "steer_delivered")] == [
        False,
        True,
    ]
    assert talking.subjects()[0] == "Work"


@BOTH_WAYS
@pytest.mark.soak
def test_the_question_of_an_agent_whose_worker_was_killed_closes_by_itself(talking, worker_process):
    process = worker_process({"ask": "one/never.txt", "id": "never"})
    question = next_request(talking)
    process.kill()
    process.wait()
    wait_for(lambda: "No open decisions" in dos(talking, "decisions").out)
    answer = dos(talking, "decide-for", question, "allow")
    assert answer.code == 1 and "has ended" in answer.out
    talking.play({PROMPT: [{"run": "echo x > one/a.txt"}, *COMMITTING]})
    work(talking, number=2)
    names = talking.git("ls-tree", "-r", "--name-only", "main", "one").split()
    assert names == ["one/a.txt", "one/keep"]
