"""One call gets one answer, by whatever way its program asks: every pipe and every hook."""

import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commanding import git
from msgspec import json, structs

from dos import workspace
from dos.agenthooks import dialects
from dos.agenthooks.io.answer import Caller, answer_hook
from dos.agenthooks.socket_protocol import Request
from dos.agents import opencode
from dos.agents.acp.conversation import CONVERSATIONS
from dos.agents.acp.updates import State as AcpState
from dos.agents.conversation import Asks
from dos.agents.conversations import claude_code, codex
from dos.agents.io.hook_monitor import HookedMonitor
from dos.fleet.effects import RunAgent, Worktree
from dos.fleet.io import tool_judge
from dos.fleet.io.tool_judge import ToolJudge
from dos.journal.events.doors import HookAnswered
from dos.journal.events.reader import select
from dos.lanes.io.gather import admission_rules
from dos.lanes.io.held_leases import lease_request
from dos.lease import Lease
from dos.machine import process
from dos.permission.ask import Allow, Deny
from dos.permission.io.record import session_stream
from dos.permission.policy import Enforcement
from dos.units.unit import Unit
from dos.world import World, open_journal

LANES = """[lanes]
concurrent = ["api", "docs", "old", "plans", "web"]
[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
old = ["old/**"]
plans = ["plans/**"]
web = ["web/**"]
"""
KEY = "k" * 43
RUN, OTHER = "RID-1M7ED9AEG24KF00", "RID-1M7ED9AEG24KF01"
DENIED = "denied"
CALLER = None  # what is answered at once does not look at who waits


class Call(NamedTuple):
    """What an agent wants, before its program puts it into its own words."""

    kind: str  # write, shell, read, tool
    what: str
    cwd: str = ""


class Fleet:
    """A lane with an agent, and others beside it: one of a worker, one of a person, one left."""

    def __init__(self, top: Path, folder: str) -> None:
        self.top, self.root = top, top / folder
        for name in ("api", "docs", "old", "web", "plans"):
            (self.root / name).mkdir(parents=True)
            (self.root / name / "made.txt").write_text("x\n")
        (self.root / "dos.toml").write_text(LANES)
        git("init", "--quiet", ".", cwd=top)
        self.place = workspace.find(self.root)
        self.store = open_journal(self.place, "")
        self.holder = subprocess.Popen(["sleep", "600"])
        gone = subprocess.Popen(["sleep", "600"])
        started = process.identify(gone.pid).started
        gone.kill()
        gone.wait()
        self.lease = self.take("api", run=RUN, key=KEY)
        self.take("plans", run=RUN)
        self.take("docs", run=OTHER)
        self.take("web", holder="ana")
        self.take("old", pid=gone.pid, started=started)
        self.is_lost = False

    def take(self, lane, *, run="", key="", pid=None, started=None, **more):
        config = World(self.root).config
        pid = pid or self.holder.pid
        request = structs.replace(
            lease_request(config, lane, run_id=run, lease_key=key),
            **{"pid": pid, "pid_started": started or process.identify(pid).started, **more},
        )
        taken = self.store.acquire(request, admission_rules(self.root, config))
        assert isinstance(taken, Lease), taken
        return taken

    @property
    def effect(self) -> RunAgent:
        return RunAgent(
            unit=Unit(plan="A", id="A1", title="write"), lease=self.lease, run_lease=self.lease,
            run_id=RUN, iteration=1, attempt=1, history=[], agent="claude_code",
            worktree=Worktree(path=str(self.top), target="main", base="", salvaged=[]),
        )  # fmt: skip

    @property
    def judge(self) -> ToolJudge:
        return ToolJudge(
            self.effect, workspace=self.place, enforcement=Enforcement(),
            region_globs=[f"{self.place.prefix}{glob}" for glob in self.lease.region.globs],
            is_lost=lambda: self.is_lost, allowed=set(),
            open_store=lambda: open_journal(self.place, ""),
        )  # fmt: skip

    def lose(self) -> None:
        self.store.release(self.lease.fence)
        self.is_lost = True

    def recorded(self, session=RUN):
        events = self.store.load(session_stream(session))
        return [(fact.action, fact.reason) for _, fact in select(events, HookAnswered)]

    def end(self) -> None:
        self.holder.kill()
        self.holder.wait()
        self.store.close()


@pytest.fixture(params=["", "svc"], ids=["at the top", "in a folder"])
def fleet(request, tmp_path, monkeypatch):
    fleet = Fleet(tmp_path / "repository", request.param)
    monkeypatch.chdir(fleet.root)  # where a hook was set up counts, and not where pytest runs
    yield fleet
    fleet.end()


# The pipes


def judged(fleet: Fleet, turn) -> str:
    (asked,) = turn.asks
    answer = fleet.judge(asked)
    return answer.sentence if isinstance(answer, Deny) else ""


WORDS = {
    "write": lambda call: ("Write", {"file_path": call.what, "content": "x"}),
    "read": lambda call: ("Read", {"file_path": call.what}),
    "shell": lambda call: ("Bash", {"command": call.what}),
    "tool": lambda call: ("mcp__shop__weigh", {"path": call.what, "command": "> docs/x"}),
}


def by_claude_pipe(fleet: Fleet, call: Call) -> str | None:
    if call.cwd:
        return None  # it does not say where a tool runs
    tool, arguments = WORDS[call.kind](call)
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": arguments}
    line = {"type": "control_request", "request_id": "r", "request": request}
    return judged(fleet, claude_code.converse(claude_code.claude_code.begin(), text(line)))


def by_codex_pipe(fleet: Fleet, call: Call) -> str | None:
    state = codex.State()
    if call.kind == "shell":
        method = "item/commandExecution/requestApproval"
        params = {"command": f"bash -lc {quoted(call.what)}", "cwd": call.cwd or str(fleet.root)}
    elif call.kind == "write":
        method = "item/fileChange/requestApproval"
        params = {"itemId": "i"}
        item = {"id": "i", "type": "fileChange", "changes": [{"path": call.what, "kind": {}}]}
        line = text({"method": "item/started", "params": {"item": item}})
        state = codex.converse(state, line).state
    else:
        return None  # it asks for nothing else
    return judged(fleet, codex.converse(state, text({"id": 7, "method": method, "params": params})))


def by_acp(fleet: Fleet, call: Call) -> str | None:
    if call.kind == "tool" or call.cwd:
        return None  # it has no arguments of its own, and does not say where it runs
    raw = {"command": call.what} if call.kind == "shell" else {"file_path": call.what}
    kind = {"write": "edit", "shell": "execute", "read": "read"}[call.kind]
    tool = {"toolCallId": "c", "kind": kind, "title": call.what, "rawInput": raw}
    options = [{"optionId": "y", "kind": "allow_once"}]
    params = {"sessionId": "s", "toolCall": tool, "options": options}
    line = {"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params}
    return judged(fleet, CONVERSATIONS["qwen"].converse(AcpState(row="qwen"), text(line)))


# The hooks: of an agent of the fleet, and of a session with the key of its lease

NAMES = {
    "gemini": {"write": "write_file", "shell": "run_shell_command", "read": "read_file"},
    "opencode": {"write": "write", "shell": "bash", "read": "read"},
}
EVENTS = {"gemini": "BeforeTool", "cursor": "preToolUse", "hermes": "pre_tool_call"}


def event_of(dialect: str, fleet: Fleet, call: Call) -> dict[str, Any]:
    tool, arguments = WORDS[call.kind](call)
    if dialect == "opencode" and call.kind in ("write", "read"):
        arguments = {"filePath": call.what, "content": "x"}
    common = {"session_id": RUN, "cwd": call.cwd or str(fleet.root)}
    if dialect == "antigravity":
        if call.kind == "write":
            made = {"name": "write_to_file", "args": {"TargetFile": call.what}}
        elif call.kind == "shell":
            made = {"name": "run_command", "args": {"CommandLine": call.what}}
        else:
            made = {"name": {"read": "view_file"}.get(call.kind, tool), "args": arguments}
        return {**common, "toolCall": made}
    tool = NAMES.get(dialect, {}).get(call.kind, tool)
    name = EVENTS.get(dialect, "PreToolUse")
    return {**common, "hook_event_name": name, "tool_name": tool, "tool_input": arguments}


def by_worker_hook(dialect: str):
    def ask(fleet: Fleet, call: Call) -> str:
        monitor = HookedMonitor(
            opencode, fleet.effect, lambda usage: "", fleet.judge, None, fleet.top / "hook",
            answer_seconds=60, open_store=lambda: None, is_lost=lambda: False,
        )  # fmt: skip
        event = event_of(dialect, fleet, call)
        request = Request(v=1, ask="hook", moment="pretool", dialect=dialect, event=event)
        return refused(json.decode(monitor._answer(request, CALLER))["stdout"])

    return ask


def by_session_hook(dialect: str):
    def ask(fleet: Fleet, call: Call) -> str:
        caller = Caller(
            pid=os.getpid(), environment={"DOS_LEASE_KEY": KEY, **LOST_WORDS[fleet.is_lost]}
        )
        reply = answer_hook("pretool", dialect, event_of(dialect, fleet, call), caller=caller)
        assert not reply.stderr, reply
        return refused(reply.stdout)

    return ask


LOST_WORDS = {False: {}, True: {"DOS_LANE": "api", "DOS_FENCE": "1"}}


def refused(printed: str) -> str:
    """The reason of a refusal, in whatever words."""
    said = json.decode(printed) if printed else {}
    inner = said.get("hookSpecificOutput", {})
    if inner.get("permissionDecision") == "deny":
        return str(inner["permissionDecisionReason"])
    if said.get("decision") in ("deny", "block"):
        return str(said["reason"])
    return str(said["agent_message"]) if said.get("permission") == "deny" else ""


def text(record: dict[str, Any]) -> str:
    return json.encode(record).decode()


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


TRANSPORTS = {
    "claude pipe": by_claude_pipe,
    "codex pipe": by_codex_pipe,
    "acp": by_acp,
    **{f"worker's {name}": by_worker_hook(name) for name in NAMES},
    **{f"{name} hook": by_session_hook(name) for name in dialects.DIALECTS},
}
# Each with what its answer has to say; empty: it is allowed.
CALLS = [
    (Call("write", "{root}/api/new.py"), ""),
    (Call("write", "{root}/web/new.py"), "web/new.py belongs to lane web, which 'ana' holds;"),
    (Call("write", "{root}/docs/x.md"), f"belongs to lane docs, which the worker of run {OTHER}"),
    (Call("write", "{root}/old/x"), "old/x is outside of lane api ({prefix}api/**)."),
    (Call("write", "{root}/plans/x"), "plans/x is outside of lane api ({prefix}api/**)."),
    (Call("write", "{root}/other"), "other is outside of lane api ({prefix}api/**)."),
    (Call("write", "{top}/.git/config"), "no lane may write to git's own files."),
    (Call("read", "{root}/docs/x.md"), ""),
    (Call("tool", "{root}/docs/x.md"), ""),
    (Call("shell", "cat {root}/docs/made.txt"), ""),
    (Call("shell", "make test"), ""),
    (Call("shell", "cd {root}/api && echo x > new.py"), ""),
    (Call("shell", "cd {root} && echo x > docs/new.md"), "docs/new.md belongs to lane docs"),
    (Call("shell", "echo x > made.txt", cwd="{root}/api"), ""),
    (Call("shell", "echo x > made.txt", cwd="{root}/docs"), "docs/made.txt belongs to lane docs"),
    (Call("shell", "rm -r {root}/web {root}/api"), "belongs to lane web"),
]  # fmt: skip


def filled(fleet: Fleet, words: str) -> str:
    return words.format(root=fleet.root, top=fleet.top, prefix=fleet.place.prefix)


@pytest.mark.parametrize("name", TRANSPORTS)
def test_the_same_call_gets_the_same_answer_by_every_transport(fleet, name):
    for call, expected in CALLS:
        real = Call(call.kind, filled(fleet, call.what), filled(fleet, call.cwd))
        said = TRANSPORTS[name](fleet, real)
        reference = by_session_hook("claude-code")(fleet, real)
        assert filled(fleet, expected) in reference and bool(reference) == bool(expected), call
        assert said in (None, reference), (call, said, reference)


@pytest.mark.parametrize("name", TRANSPORTS)
def test_whoever_lost_its_lease_may_read_and_no_more_by_every_transport(fleet, name):
    fleet.lose()
    for call, _ in CALLS:
        real = Call(call.kind, filled(fleet, call.what), filled(fleet, call.cwd))
        said = TRANSPORTS[name](fleet, real)
        only_reads = call.kind in ("read", "tool") or call.what.startswith("cat ")
        assert said is None or bool(said) != only_reads, (call, said)
        assert not said or said.startswith("Your lease of lane api (fence"), said


def test_a_refusal_is_recorded_with_the_same_words_by_pipe_and_hook(fleet):
    call = Call("write", str(fleet.root / "docs/x.md"))
    for name in ("claude pipe", "worker's gemini", "claude-code hook"):
        assert TRANSPORTS[name](fleet, call)
    assert len(set(fleet.recorded())) == 1 and len(fleet.recorded()) == 3


def test_a_warning_is_told_once_by_the_hooks_of_the_fleet(fleet):
    event = {
        "hook_event_name": "BeforeTool", "cwd": str(fleet.top), "tool_name": "write_stdin",
        "tool_input": {"text": "make"},
    }  # fmt: skip
    asked = dialects.parse("gemini", "pretool", event)
    monitor = HookedMonitor(
        opencode, fleet.effect, lambda usage: "", fleet.judge, None, fleet.top / "hook",
        answer_seconds=60, open_store=lambda: None, is_lost=lambda: False,
    )  # fmt: skip
    told = [monitor._judged(asked, CALLER).context for _ in range(2)]
    assert "cannot be read. You hold lane api" in told[0] and told[1] == ""
    assert [action for action, _ in fleet.recorded()] == ["WARN"]


@pytest.mark.parametrize("via", ["pipe", "hook"])
def test_a_call_that_cannot_be_judged_is_refused_and_recorded_but_a_read_is_not(
    fleet, via, monkeypatch
):
    def fails(*given):
        raise RuntimeError("a bug")

    monkeypatch.setattr(tool_judge, "decide", fails)
    write = Asks(id="1", tool="Write", arguments={"file_path": str(fleet.root / "api/x")})
    for answer in (fleet.judge(write, via), fleet.judge.after_person(write, None, via)):
        assert answer.reason_class == "NOT_JUDGED" and "a bug" in answer.sentence
    assert fleet.recorded() == [("DENY", answer.sentence)] * 2
    read = Asks(id="2", tool="Read", arguments={"file_path": str(fleet.root / "docs/x")})
    assert fleet.judge(read, via) == Allow()
    refused = Deny(reason="No.")
    assert fleet.judge.after_person(write, refused, via) == refused
