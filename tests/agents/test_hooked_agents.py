"""An agent that asks by hooks is answered in the words of its program, and fails closed."""

import re
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import patience
import pytest
from msgspec import json, structs
from patience import PATIENCE
from test_agent_monitor import RUN, take, told, wait_for

from dos.agenthooks.events import Action, HookEvent, HookVerdict
from dos.agenthooks.socket_protocol import Request
from dos.agents import opencode
from dos.agents.adapter import Clocks, Ending
from dos.agents.conversation import Asks
from dos.agents.homes import hook_wiring
from dos.agents.io import halt_listener, hook_monitor, hook_shim, hook_socket, hooked_home
from dos.agents.io.hook_monitor import HookedMonitor
from dos.errors import StoreFailed
from dos.fleet.effects import RunAgent, Worktree
from dos.journal import fold
from dos.journal.backends.memory import MemoryBackend
from dos.journal.store import Store
from dos.machine.execute import never_stop
from dos.permission import refusals, tools
from dos.permission.ask import HOOK, Allow, Answer, AskPerson, Deny
from dos.questions import state
from dos.questions.state import Decisions, OpenQuestion
from dos.sandbox.walls import Walls
from dos.units.unit import Unit

WRITES = {"tool_name": "write", "tool_input": {"filePath": "other/a", "content": "x"}}
READS = {"tool_name": "bash", "tool_input": {"command": "git log -1"}}
BEFORE = {
    "gemini": {"hook_event_name": "BeforeTool"},
    "opencode": {"hook_event_name": "PreToolUse"},
}
AFTER = {"gemini": {"hook_event_name": "AfterTool"}, "opencode": {"hook_event_name": "PostToolUse"}}
REFUSAL = Deny(reason="It is outside of lane api.", hint="Stay in it.")
SENTENCE = "It is outside of lane api. Stay in it."
RETRY = {
    "hook_event_name": "session.status",
    "status": {"type": "retry", "attempt": 1, "message": "Overloaded", "seconds": 7.5},
}
SHIM = Path(hook_shim.__file__).read_text()
PLUGIN = Path(hooked_home.__file__).parents[2] / "agenthooks" / "opencode_plugin.js"


def refuse(asked: Asks, via: str) -> Answer:
    return REFUSAL


def fail(asked: Asks, via: str) -> Answer:
    raise StoreFailed("the journal is away")


def forget(event: HookEvent) -> HookVerdict:
    return HookVerdict()


@pytest.fixture
def store(monkeypatch) -> Store:
    monkeypatch.setattr(halt_listener, "POLL_SECONDS", 0.02)
    return Store(MemoryBackend())


@pytest.fixture
def monitor(store, tmp_path):
    """monitor(judge, remember): of an agent that holds a lane."""

    def make(judge, remember=forget, answer_seconds=PATIENCE) -> HookedMonitor:
        lease = take(store, "api")
        effect = RunAgent(
            unit=Unit(plan="A", id="A1", title="write"),
            lease=lease,
            run_lease=lease,
            run_id=RUN,
            iteration=1,
            attempt=1,
            worktree=Worktree(path="", target="main", base="", salvaged=[]),
            history=[],
            agent="opencode",
        )
        return HookedMonitor(
            opencode,
            effect,
            lambda usage: "",
            judge,
            remember,
            tmp_path / "hook",
            answer_seconds=answer_seconds,
            open_store=lambda: Store(store.backend),
            is_lost=never_stop,
        )

    return make


def answer(monitor: HookedMonitor, moment: str, dialect: str, event: dict) -> dict:
    """What the hook prints, as its program reads it."""
    request = Request(v=1, ask="hook", moment=moment, dialect=dialect, event=event)
    printed = json.decode(monitor._answer(request, None))["stdout"]
    return json.decode(printed) if printed else {}


def refused(said: dict) -> str:
    """The reason, in either dialect; empty where the call may be made."""
    inner = said.get("hookSpecificOutput", {})
    if said.get("decision") == "deny":
        return said["reason"]
    return inner["permissionDecisionReason"] if "permissionDecision" in inner else ""


@pytest.mark.parametrize("dialect", hook_wiring.PROGRAMS)
@pytest.mark.parametrize(
    ("judge", "event", "reason"),
    [
        (refuse, WRITES, SENTENCE),
        (lambda asked, via: Allow(), WRITES, ""),
        (lambda asked, via: Allow(note="Mind the rest."), WRITES, ""),
        (fail, WRITES, "dos could not judge this call, so it is refused"),
        (fail, READS, ""),
        (lambda asked, via: Allow(), {}, refusals.UNKNOWN_EVENT.sentence),
    ],
)
def test_the_answer_of_the_judge_is_put_into_the_words_of_the_program(
    monitor, dialect, judge, event, reason
):
    said = refused(answer(monitor(judge), "pretool", dialect, {**BEFORE[dialect], **event}))
    assert said.startswith(reason) and bool(said) == bool(reason)


@pytest.mark.parametrize("dialect", hook_wiring.PROGRAMS)
@pytest.mark.parametrize("name", ["AfterTool", "BeforeToolCall", "Stop"])
def test_an_event_that_is_not_known_to_be_before_a_call_is_no_yes(monitor, dialect, name):
    event = {"hook_event_name": name, **WRITES}
    said = answer(monitor(lambda asked, via: Allow()), "pretool", dialect, event)
    assert refused(said) == refusals.UNKNOWN_EVENT.sentence


def test_the_judge_is_told_what_is_asked_and_that_it_came_by_a_hook(monitor):
    heard = []

    def judge(asked: Asks, via: str) -> Answer:
        heard.append((asked.tool, asked.arguments["filePath"], asked.cwd, via))
        return Allow()

    answer(monitor(judge), "pretool", "opencode", {**BEFORE["opencode"], **WRITES, "cwd": "/t"})
    assert heard == [("write", "other/a", "/t", "hook")]


@pytest.mark.parametrize("dialect", hook_wiring.PROGRAMS)
def test_an_agent_that_repeats_itself_is_told_and_one_that_stops_is_told_nothing(monitor, dialect):
    warning = HookVerdict(action=Action.WARN, context="You repeat yourself.")
    watched = monitor(refuse, lambda event: warning)
    said = answer(watched, "posttool", dialect, {**AFTER[dialect], **WRITES, "tool_response": "x"})
    assert said["hookSpecificOutput"]["additionalContext"] == "You repeat yourself."
    assert answer(watched, "stop", dialect, {"last_assistant_message": "A1 is done."}) == {}


def test_a_journal_that_is_away_does_not_break_what_was_done(monitor):
    def remember(event: HookEvent) -> HookVerdict:
        raise StoreFailed("the journal is away")

    watched = monitor(refuse, remember)
    assert answer(watched, "posttool", "opencode", {**AFTER["opencode"], **WRITES}) == {}


def test_silence_does_not_count_while_a_request_is_open(monitor):
    asked, decided = threading.Event(), threading.Event()

    def judge(request: Asks, via: str) -> Answer:
        asked.set()
        decided.wait()
        return Allow()

    watched = monitor(judge)
    event = {**BEFORE["opencode"], **WRITES}
    thread = threading.Thread(target=answer, args=(watched, "pretool", "opencode", event))
    assert not watched.is_asking_person()
    thread.start()
    asked.wait()
    assert watched.is_asking_person()
    decided.set()
    thread.join()
    assert not watched.is_asking_person()


class PersonJudge:
    """Every call needs a person, until one allows the tool for the run."""

    def __init__(self) -> None:
        self.allowed: set[str] = set()

    def __call__(self, asked: Asks, via: str) -> Answer:
        return Allow() if asked.tool in self.allowed else AskPerson(question=asked.tool)

    def after_person(self, asked: Asks, refusal: Deny | None, via: str) -> Allow | Deny:
        assert via == HOOK
        return refusal or Allow()

    def allow_for_run(self, tool: str) -> None:
        self.allowed.add(tool)


def start_hook(watched: HookedMonitor, tool: str = "write") -> subprocess.Popen[bytes]:
    hook = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SHIM, "pretool", "gemini"],
        env={"DOS_HOOK_SOCKET": str(watched._socket.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    event = {**BEFORE["gemini"], **WRITES, "tool_name": tool}
    hook.stdin.write(json.encode(event))
    hook.stdin.close()
    return hook


def answer_of(hook: subprocess.Popen[bytes]) -> str:
    """What it refuses, read as its program reads it; empty: nothing."""
    with hook:
        printed = hook.stdout.read()
    assert hook.returncode == 0
    return refused(json.decode(printed)) if printed else ""


def questions(store: Store) -> Decisions:
    return fold.current(store, Decisions)[0]


def open_questions(store: Store, count: int) -> list[OpenQuestion]:
    return sorted(
        patience.wait_for(
            lambda: (
                (found := questions(store).open) and len(found) == count and list(found.values())
            )
        ),
        key=lambda each: each.raised.id,
    )


CHOICES = {"allow": "", "allow-run": "", "deny": "ann was asked to allow this, and denied it."}


@pytest.mark.parametrize("choice", CHOICES)
def test_a_hook_is_held_open_until_a_person_has_answered(monitor, store, choice):
    with monitor(PersonJudge()) as watched:
        hook = start_hook(watched)
        (asked,) = open_questions(store, 1)
        assert watched.is_asking_person() and asked.question.tool == "write"
        store.append_all(state.answer_entries(asked, choice, by="ann"))
        assert answer_of(hook).startswith(CHOICES[choice])
        patience.wait_for(lambda: not watched.is_asking_person())
        if choice == "allow-run":
            assert answer_of(start_hook(watched)) == ""
    assert told(store) == ["run_parked", "run_unparked"]


def test_a_hook_whose_question_nobody_answers_in_time_is_refused(monitor, store):
    with monitor(PersonJudge(), answer_seconds=0) as watched:
        assert answer_of(start_hook(watched)) == refusals.NOT_ANSWERED.sentence
        (closed,) = questions(store).answered.values()
        assert closed.expired and closed.choice == "deny"


def test_a_question_ends_before_its_program_gives_up_on_the_hook(monitor, store):
    with monitor(PersonJudge(), answer_seconds=100_000_000) as watched:
        hook = start_hook(watched)
        (asked,) = open_questions(store, 1)
        assert asked.raised.expires_ms - asked.at_ms < hook_wiring._HELD_OPEN_MS
    assert answer_of(hook)


def test_the_question_of_a_hook_that_was_ended_closes(monitor, store):
    with monitor(PersonJudge()) as watched:
        hook = start_hook(watched)
        open_questions(store, 1)
        hook.kill()
        patience.wait_for(lambda: questions(store).answered)
        assert not watched.is_asking_person()
        with hook:
            pass


def test_a_hook_is_refused_and_its_question_closed_when_the_agent_has_ended(monitor, store):
    with monitor(PersonJudge()) as watched:
        hook = start_hook(watched)
        open_questions(store, 1)
    assert answer_of(hook) == refusals.NOT_ANSWERED.sentence
    assert not questions(store).open


def test_hooks_that_wait_for_a_person_keep_no_other_waiting(monitor, store, monkeypatch):
    monkeypatch.setattr(hook_socket, "MOST_AT_ONCE", 1)
    judge = PersonJudge()
    judge.allowed.add("edit")
    with monitor(judge) as watched:
        hooks = [start_hook(watched), start_hook(watched)]
        open_questions(store, 2)
        assert answer_of(start_hook(watched, "edit")) == ""
    for hook in hooks:
        assert answer_of(hook)


def test_only_so_many_hooks_wait_for_a_person_at_once(monitor, store, monkeypatch):
    monkeypatch.setattr(hook_monitor, "MOST_OPEN", 1)
    with monitor(PersonJudge()) as watched:
        first = start_hook(watched)
        open_questions(store, 1)
        assert answer_of(start_hook(watched)) == refusals.too_many(1).sentence
    assert answer_of(first)


def test_a_retry_that_the_program_does_not_print_is_waiting_and_ends_as_a_limit(monitor, store):
    with monitor(refuse) as watched:
        answer(watched, "session", "opencode", RETRY)
        wait_for(store, "agent_waiting")
        now = datetime.now(UTC)
        silent = opencode.outcome(watched.state, None, Clocks(ended_at=now, silent=True))
        assert silent.ending is Ending.OVERLOADED
        assert watched.state.waiting.seconds == 7.5
        watched.on_line('{"type":"step_start","sessionID":"ses_1","part":{}}')
        wait_for(store, "agent_went_on")
    assert told(store) == ["agent_waiting", "agent_went_on"]


def test_what_is_no_retry_changes_nothing(monitor):
    watched = monitor(refuse)
    before = watched.state
    for status in ({"type": "busy"}, {"type": "idle"}, None, "retry"):
        answer(watched, "session", "opencode", {**RETRY, "status": status})
    assert watched.state.waiting is before.waiting is None


# What the private home has


def worker() -> hook_wiring.Worker:
    return hook_wiring.Worker(
        socket="/t/hook", shim=("/py", "-c", "ask 'it'"), plugin="// js", instructions=("/w/A.md",)
    )


def wired(program: str, **files: object) -> tuple[dict[str, object], dict[str, str]]:
    texts = {name: json.encode(value).decode() for name, value in files.items()}
    wiring = hook_wiring.wire(program, worker(), lambda name: texts.get(Path(name).name, ""))
    return {
        Path(name).name: json.decode(text) for name, text in wiring.files.items() if "{" in text
    }, wiring.variables


def gemini_matcher() -> re.Pattern[str]:
    files, _ = wired("gemini")
    return re.compile(files["hooks.json"]["hooks"]["BeforeTool"][0]["matcher"])


@pytest.mark.parametrize("tool", sorted(tools.READERS))
def test_gemini_reads_without_a_question(tool):
    assert not gemini_matcher().search(tool)


@pytest.mark.parametrize(
    "tool",
    sorted({*tools.WRITERS, *tools.SHELLS, *tools.PATCHERS, "mcp_x_read", "read_file2", "new"}),
)
def test_gemini_asks_before_everything_else(tool):
    assert gemini_matcher().search(tool)


def test_gemini_keeps_its_login_and_takes_no_trust_from_elsewhere():
    user = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "hooksConfig": {"enabled": False, "disabled": ["dos"]},
        "ui": {"theme": "x"},
    }
    files, variables = wired("gemini", **{"settings.json": user})
    assert files["settings.json"] == {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": True}},
        "hooksConfig": {"enabled": True},
        "ui": {"theme": "x"},
    }
    assert variables == {"DOS_HOOK_SOCKET": "/t/hook", "GEMINI_CLI_TRUST_WORKSPACE": ""}


def test_opencode_reads_no_settings_of_the_repository_but_its_instructions():
    files, variables = wired("opencode", **{"opencode.json": {"model": "m"}})
    assert files["opencode.json"] == {"model": "m", "instructions": ["/w/A.md"]}
    assert variables["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"


def test_the_plugin_lets_only_tools_pass_unasked_that_read():
    listed = re.search(r"const READERS = \[(.*?)\]", PLUGIN.read_text(), re.DOTALL)
    assert listed is not None
    names = re.findall(r'"(\w+)"', listed[1])
    assert names and set(names) <= tools.READERS


@pytest.mark.parametrize(
    ("program", "walls", "expected"),
    [
        ("gemini", None, True),
        ("opencode", Walls(), True),
        ("opencode", Walls(no_sockets=True), False),
        ("gemini", Walls(program=("docker", "run")), False),
        ("command", None, False),
        ("claude_code", None, False),
    ],
)
def test_hooks_are_wired_where_they_can_reach_the_worker(program, walls, expected):
    assert hooked_home.can_ask(program, walls) is expected


@pytest.mark.parametrize("shim", [(sys.executable, "-I", "-S", "-c", SHIM), ("/no/python",)])
def test_gemini_is_told_once_that_nobody_answered(shim, tmp_path):
    wiring = hook_wiring.wire("gemini", structs.replace(worker(), shim=shim), lambda name: "")
    (text,) = [text for name, text in wiring.files.items() if name.endswith("hooks.json")]
    command = json.decode(text)["hooks"]["BeforeTool"][0]["hooks"][0]["command"]
    done = subprocess.run(
        ["sh", "-c", command],
        input=json.encode({**BEFORE["gemini"], **WRITES}),
        env={"DOS_HOOK_SOCKET": str(tmp_path / "gone")},
        capture_output=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().count(refusals.NO_ANSWER) == 1


def test_the_plugin_says_what_the_command_of_gemini_says():
    assert refusals.NO_ANSWER in PLUGIN.read_text()
