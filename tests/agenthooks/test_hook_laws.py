"""No event whatever stops an agent by a failure of ours, and the events are removed in time."""

import json
import os
from contextlib import chdir

import pytest
from commanding import git
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dos import workspace
from dos.agenthooks.dialects import DIALECTS
from dos.agenthooks.io.answer import Caller, answer_hook
from dos.journal.events.doors import HookAnswered, ToolCalled
from dos.journal.events.reader import select
from dos.journal.prune import DAY_MS, Records, prune
from dos.world import open_journal

CONFIG = """[lanes]
concurrent = ["api"]
[lanes.trees]
api = ["api/**"]
"""
MOMENTS = ("pretool", "posttool", "stop", "marker", "session")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    (root / "api").mkdir()
    (root / "dos.toml").write_text(CONFIG)
    git("init", "--quiet", ".", cwd=root)
    return root


texts = st.sampled_from(
    ["", "s", "\0", "\ud800", "\udcff", "../..", "/", "~", "x" * 5_000, "\x1b[2J", "Write", "Bash"]
) | st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
NAMES = ["PreToolUse", "BeforeTool", "PostToolUse", "Stop", "SessionStart", "beforeShellExecution"]
TOOLS = ["Write", "Bash", "apply_patch", "Read", "mcp__x__write", "write_stdin"]
arguments = st.dictionaries(
    st.sampled_from(["file_path", "command", "input", "path", "content", "directory"]),
    values | st.sampled_from(["api/x", "echo a > api/x", "rm -rf /", "$(", "'"]),
)
events = st.fixed_dictionaries(
    {},
    optional={
        "hook_event_name": st.sampled_from(NAMES) | values,
        "session_id": texts,
        "tool_name": st.sampled_from(TOOLS) | values,
        "tool_input": arguments | arguments.map(json.dumps) | values,
        "tool_response": values,
        "workspace_roots": values,
        "toolCall": values,
        "stop_hook_active": values,
        "transcript_path": texts,
        "last_assistant_message": values,
    },
)
KEYS = ["", "k", "\udcff"]


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    moment=st.sampled_from(MOMENTS),
    dialect=st.sampled_from(DIALECTS),
    event=events,
    key=st.sampled_from(KEYS),
    inside=st.booleans(),
)
def test_any_event_gets_nothing_or_one_object(root, moment, dialect, event, key, inside):
    if inside:
        event["cwd"] = str(root)
    caller = Caller(pid=os.getpid(), environment={"DOS_LEASE_KEY": key} if key else {})
    with chdir(root):
        reply = answer_hook(moment, dialect, event, caller=caller)
    if reply.stdout:
        assert isinstance(json.loads(reply.stdout), dict)
        assert reply.stdout.count("\n") <= 1
    assert "Traceback" not in reply.stderr and reply.stderr.count("\n") <= 2
    reply.stdout.encode()
    reply.stderr.encode()


def test_old_events_of_hooks_are_removed_and_the_newest_stay(tmp_path):
    git("init", "--quiet", ".", cwd=tmp_path)
    with open_journal(workspace.find(tmp_path), "") as store:
        for number in range(10):
            call = ToolCalled(session="s", tool=f"T{number}", args_digest="0" * 16)
            store.record("session/s", call)
            answered = HookAnswered(moment="pretool", action="DENY", tool=f"A{number}")
            store.record("session/s", answered)

        def pruned(days, most):
            prune(
                store, older_than_ms=DAY_MS, max_entries=None, archive=tmp_path / "archive",
                dry_run=False, records=Records(hook_events=most),
                now_ms=store.now_ms() + days * DAY_MS,
            )  # fmt: skip
            kept = select(store.load("session/s"), ToolCalled, HookAnswered)
            return [fact.tool for _, fact in kept]

        assert len(pruned(0, 3)) == 20, "those of a day stay"
        assert len(pruned(40, None)) == 20
        assert pruned(40, 3) == ["A8", "T9", "A9"]


def test_a_warning_about_an_odd_path_can_be_printed(root):
    event = {"hook_event_name": "Stop", "transcript_path": "/no/\ud800"}
    with chdir(root):
        reply = answer_hook("stop", "claude-code", event, caller=Caller())
    assert "warning" in reply.stderr and reply.stderr.encode()
