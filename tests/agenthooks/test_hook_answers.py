"""What each hook answers in a real repository with real leases: who asks, and for what."""

import io
import json
import os
import subprocess
from functools import partial
from pathlib import Path

import pytest
from commanding import git, in_process

from dos import run_ids, workspace
from dos.agenthooks import tool_stream
from dos.agenthooks.dialects import DIALECTS
from dos.agenthooks.io.answer import Caller, HookOptions, answer_hook

CONFIG = """[lanes]
concurrent = ["api", "docs"]
[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
"""


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "repository"
    for folder in ("api", "docs", "web"):
        (root / folder).mkdir(parents=True)
        (root / folder / "made.txt").write_text("x\n")
    (root / "dos.toml").write_text(CONFIG)
    git("init", "--quiet", ".", cwd=root)
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "begin", cwd=root)
    monkeypatch.chdir(root)
    for name in ("DOS_LEASE_KEY", "DOS_RUN_ID", "CID_RUN_ID", "DOS_LOOP", "DISPATCH_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    return root


@pytest.fixture(scope="module", autouse=True)
def holder():
    """A process that lives, and is no ancestor of this one: whoever holds a lane is not here."""
    with subprocess.Popen(["sleep", "600"]) as process:
        HOLDER_PID.append(process.pid)
        yield
        process.kill()


HOLDER_PID: list[int] = []


def take(lane, run="", owner="A"):
    words = ["lease-lane", "acquire", "--lane", lane, "--owner", owner]
    if run:
        words += ["--run-id", run]
    answer = in_process(*words, "--pid", str(HOLDER_PID[-1]))
    assert answer.code == 0, answer


def event(root, path="", command="", session="s", tool="Write"):
    found = {"session_id": session, "cwd": str(root), "hook_event_name": "PreToolUse"}
    if command:
        return {**found, "tool_name": "Bash", "tool_input": {"command": command}}
    return {**found, "tool_name": tool, "tool_input": {"file_path": str(root / path)}}


def ask(raw, *, moment="pretool", dialect="claude-code", environment=None, **options):
    reply = answer_hook(
        moment,
        dialect,
        raw,
        caller=Caller(pid=os.getpid(), environment=environment or {}),
        options=HookOptions(**options),
    )
    assert not reply.stderr, reply
    return json.loads(reply.stdout) if reply.stdout else None


def decision(reply):
    """deny, ask, allow, told, or None where nothing is said."""
    if reply is None:
        return None
    output = reply["hookSpecificOutput"]
    return output.get("permissionDecision", "told")


RUN = "RID-1M7ED9AEG24KF00"
HOLDER = {"CID_RUN_ID": RUN}


@pytest.fixture
def nested(repository, monkeypatch):
    """A repository whose workspace is a folder of it, with a name that is a glob as well."""
    inner = repository / "p[k]g"
    (inner / "api").mkdir(parents=True)
    (repository / "dos.toml").rename(inner / "dos.toml")
    monkeypatch.chdir(inner)
    return inner


@pytest.mark.parametrize("set_up", [".", ".."], ids=["in its folder", "at the top"])
@pytest.mark.parametrize("works", ["..", ".", "api"])
def test_a_holder_is_let_into_its_lane_wherever_its_session_started(nested, set_up, works):
    take("api", RUN)
    take("docs", owner="B")
    start = (nested / set_up).resolve()
    cwd = str((nested / works).resolve())

    def told(path, environment, **more):
        raw = {**event(nested, path, **more), "cwd": cwd}
        return decision(ask(raw, environment=environment, start=start))

    assert told("api/new.py", HOLDER) is None
    assert told("", HOLDER, command=f"echo x > {nested}/api/new.py") is None
    for stray in ("web/new.py", "docs/new.py", "../api/new.py"):
        assert told(stray, HOLDER) == "deny", stray
    blocked = {"DOS_HOOK_POSTURE": "block"}
    assert told("api/new.py", blocked) == told("docs/new.py", blocked) == "deny"
    assert told("../api/new.py", blocked) is told("web/new.py", blocked) is None


def test_lanes_of_two_workspaces_in_one_repository_keep_their_own_folders(nested):
    other = nested.parent / "other"
    other.mkdir()
    (other / "dos.toml").write_text(CONFIG.replace("api", "web"))
    take("api", RUN)
    words = ["--workspace", str(other), "lease-lane", "acquire", "--lane", "web", "--owner", "B"]
    assert in_process(*words, "--pid", str(HOLDER_PID[-1])).code == 0
    for start in (nested, other, nested.parent):
        told = partial(ask, environment={"DOS_HOOK_POSTURE": "block"}, start=start)
        assert decision(told(event(nested, "api/new.py"))) == "deny"
        assert decision(told(event(other, "web/new.py"))) == "deny"
        assert told(event(other, "api/new.py")) is told(event(nested, "web/new.py")) is None
        assert ask(event(nested, "api/new.py"), environment=HOLDER, start=start) is None
        assert decision(ask(event(other, "api/x"), environment=HOLDER, start=start)) == "deny"


@pytest.mark.parametrize(
    ("posture", "said"),
    [("observe", "told"), ("gate", "ask"), ("block", "deny"), ("assist", "ask")],
)
def test_a_persons_session_in_a_lane_that_a_worker_holds_gets_what_the_posture_says(
    repository, posture, said
):
    take("api")
    environment = {"DOS_HOOK_POSTURE": posture}
    for wrong in ({"path": "api/new.py"}, {"command": "echo x > api/new.py"}):
        reply = ask(event(repository, session=str(wrong), **wrong), environment=environment)
        assert decision(reply) == said, wrong
        assert "lane api" in json.dumps(reply)
    allowed = "allow" if posture == "assist" else None
    for fine in ({"path": "web/new.py"}, {"command": "make test"}):
        assert decision(ask(event(repository, **fine), environment=environment)) is None
    for read in ({"path": "api/made.txt", "tool": "Read"}, {"command": "cat api/made.txt"}):
        assert decision(ask(event(repository, **read), environment=environment)) == allowed


def test_the_table_sets_the_posture_and_a_warning_comes_once_a_session_and_lane(repository):
    take("api")
    take("docs", owner="B")
    path = {"path": "api/new.py"}
    said = [decision(ask(event(repository, **path))) for _ in range(3)]
    assert said == ["told", None, None]
    assert decision(ask(event(repository, path="docs/x.md"))) == "told"
    assert decision(ask(event(repository, session="another", **path))) == "told"
    (repository / "dos.toml").write_text(f'{CONFIG}[enforcement]\nposture = "block"\n')
    assert decision(ask(event(repository, **path))) == "deny"


@pytest.mark.parametrize("name", run_ids.VARIABLES)
def test_a_tool_call_is_recorded_with_the_run_that_the_environment_names(repository, name):
    used = {**event(repository, path="api/x.py"), "hook_event_name": "PostToolUse"}
    ask(used, moment="posttool", environment={name: RUN})
    events = [line["body"] for line in in_process("journal", "tail", "--json").lines]
    assert [body["run_id"] for body in events if "args_digest" in body] == [RUN]


def test_the_holder_works_inside_its_lane_and_is_refused_outside(repository):
    take("api", run=RUN)
    assert ask(event(repository, path="api/new.py"), environment=HOLDER) is None
    for wrong in ({"path": "web/new.py"}, {"command": "echo x > web/new.py"}):
        reply = ask(event(repository, **wrong), environment=HOLDER)
        assert decision(reply) == "deny"
        assert "lane api" in reply["hookSpecificOutput"]["permissionDecisionReason"]
    recorded = [
        line["body"] for line in in_process("journal", "tail", "--json").lines
        if line["kind"] == "hook_answered"
    ]  # fmt: skip
    assert [(each["action"], each["lane"], each["reason_class"]) for each in recorded] == [
        ("DENY", "api", "OUT_OF_REGION")
    ] * 2


def test_a_lost_lease_refuses_every_write_and_no_read(repository):
    take("api")
    lost = {"DOS_LEASE_KEY": "of-a-lease-that-ended", "DOS_LANE": "api", "DOS_FENCE": "7"}
    reply = ask(event(repository, path="api/new.py"), environment=lost)
    assert decision(reply) == "deny"
    assert ask(event(repository, path="api/made.txt", tool="Read"), environment=lost) is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_program_is_refused_in_its_own_words(repository, dialect):
    take("api")
    environment = {"DOS_HOOK_POSTURE": "block"}
    path = str(repository / "api" / "new.py")
    raw = {
        "cursor": {
            "conversation_id": "s",
            "hook_event_name": "beforeMCPExecution",
            "workspace_roots": [str(repository)],
            "tool_name": "write",
            "tool_input": json.dumps({"path": path}),
        },
        "antigravity": {
            "conversationId": "s",
            "workspacePaths": [str(repository)],
            "toolCall": {"name": "write_to_file", "args": {"TargetFile": path}},
        },
        "gemini": {
            "session_id": "s",
            "cwd": str(repository),
            "hook_event_name": "BeforeTool",
            "tool_name": "write_file",
            "tool_input": {"file_path": path, "content": "x"},
        },
        "codex": {
            **event(repository),
            "tool_name": "apply_patch",
            "tool_input": {"command": "*** Begin Patch\n*** Add File: api/new.py\n+x\n"},
        },
        "opencode": {
            **event(repository),
            "tool_name": "write",
            "tool_input": {"filePath": path},
        },
        "hermes": {
            "hook_event_name": "pre_tool_call",
            "session_id": "s",
            "cwd": str(repository),
            "tool_name": "write_file",
            "tool_input": {"path": path},
        },
    }.get(dialect, event(repository, path="api/new.py"))
    reply = ask(raw, dialect=dialect, environment=environment)
    assert reply is not None and "api" in json.dumps(reply)
    for word in ("deny", "block"):
        if f'"{word}"' in json.dumps(reply):
            return
    raise AssertionError(reply)


def test_a_repository_without_dos_gets_no_opinion_and_no_state(repository):
    (repository / "dos.toml").unlink()
    for moment in ("pretool", "posttool", "session", "marker"):
        raw = event(repository, path="api/new.py")
        raw["hook_event_name"] = {
            "posttool": "PostToolUse", "session": "SessionStart", "marker": "Stop",
        }.get(moment, "PreToolUse")  # fmt: skip
        assert ask(raw, moment=moment, loop=True, environment={"DOS_LOOP": "1"}) is None
    assert not (repository / ".git" / "dos").exists()


def test_a_broken_dos_toml_stops_no_person_and_every_unjudged_write_of_the_fleet(repository):
    take("api")
    (repository / "dos.toml").write_text("[lanes\n")
    caller = Caller(pid=os.getpid(), environment={})
    reply = answer_hook("pretool", "codex", event(repository, path="api/x"), caller=caller)
    assert (reply.stdout, reply.stderr.count("\n")) == ("", 0) and "dos.toml" in reply.stderr
    fleet = Caller(pid=os.getpid(), environment={"DOS_LEASE_KEY": "k"})
    reply = answer_hook("pretool", "codex", event(repository, path="api/x"), caller=fleet)
    assert decision(json.loads(reply.stdout)) == "deny"
    read = event(repository, path="api/x", tool="Read")
    assert answer_hook("pretool", "codex", read, caller=fleet).stdout == ""


def test_the_folder_of_the_agent_does_not_switch_the_judge_off(repository, tmp_path):
    """It can go anywhere; the hook was set up in this repository."""
    take("api")
    other = tmp_path / "other"
    other.mkdir()
    git("init", "--quiet", ".", cwd=other)
    (other / "dos.toml").write_text("")
    block = {"DOS_HOOK_POSTURE": "block"}
    for cwd in ("/", str(tmp_path), str(other), "/nowhere", "/proc/self/cwd", "a\0b", ""):
        for path, said in (("api/new.py", "deny"), ("web/new.py", None)):
            raw = {**event(repository, path), "cwd": cwd}
            assert decision(ask(raw, environment=block)) == said, (cwd, path)
    for path in ("/proc/self/cwd/api/x", f"/proc/self/root{repository}/api/x"):
        assert decision(ask(event(repository, path), environment=block)) == "deny"
    lying = {**event(repository), "cwd": "/proc/self/cwd", "tool_input": {"file_path": "api/x"}}
    assert decision(ask(lying, environment=block)) == "deny"


def test_relative_paths_start_in_the_folder_of_the_agent(repository, tmp_path):
    take("api")
    git("worktree", "add", "--quiet", str(tmp_path / "linked"), cwd=repository)
    block = {"DOS_HOOK_POSTURE": "block"}
    for folder, path, said in (
        (repository / "web", "../api/x", "deny"), (repository / "web", "api/x", None),
        (tmp_path / "linked", "api/x", "deny"), (tmp_path / "linked", "web/x", None),
        (tmp_path / "linked" / "web", "../api/x", "deny"), (tmp_path, "api/x", None),
    ):  # fmt: skip
        raw = {**event(repository), "cwd": str(folder), "tool_input": {"file_path": path}}
        assert decision(ask(raw, environment=block)) == said, (folder, path)


def test_whoever_goes_into_the_tree_of_a_lane_changes_nothing_there(repository):
    lane = workspace.find(repository).worktrees / "api"
    git("clone", "--quiet", "--shared", str(repository), str(lane), cwd=repository)
    raw = {**event(repository), "cwd": str(lane), "tool_input": {"file_path": "web/x"}}
    assert decision(ask(raw)) == "deny"
    assert decision(ask({**raw, "tool_name": "Read"})) is None


def test_a_hook_for_all_repositories_is_about_the_one_that_the_agent_is_in(
    repository, tmp_path, monkeypatch
):
    take("api")
    monkeypatch.chdir(tmp_path)
    block = {"DOS_HOOK_POSTURE": "block"}
    raw = event(repository, "api/x")
    assert decision(ask(raw, environment=block)) == "deny"
    here = {**block, "CLAUDE_PROJECT_DIR": str(repository)}
    assert decision(ask({**raw, "cwd": str(tmp_path)}, environment=here)) == "deny"
    nowhere = {**block, "CLAUDE_PROJECT_DIR": str(tmp_path)}
    assert decision(ask(raw, environment=nowhere)) == "deny"


def test_antigravity_runs_its_hooks_in_the_folder_of_its_settings(repository, monkeypatch):
    take("api")
    assert in_process("hooks", "install", "antigravity").code == 0
    monkeypatch.chdir(repository / ".agents")
    for path, said in (("api/new.py", "deny"), ("web/new.py", None)):
        raw = {
            "conversationId": "s", "workspacePaths": [str(repository)],
            "toolCall": {"name": "write_to_file", "args": {"TargetFile": str(repository / path)}},
        }  # fmt: skip
        answer = ask(raw, dialect="antigravity", environment={"DOS_HOOK_POSTURE": "block"})
        assert (answer["decision"] if answer else None) == said


def posttool(root, **more):
    return {
        **event(root, command="cat x"),
        "hook_event_name": "PostToolUse",
        "tool_response": {"stdout": "same"},
        **more,
    }


def test_identical_calls_with_identical_results_are_told_from_the_third_on(repository):
    said = [decision(ask(posttool(repository), moment="posttool")) for _ in range(5)]
    assert said == [None, None, "told", "told", "told"]
    other = posttool(repository, tool_response={"stdout": "another"})
    assert ask(other, moment="posttool") is None
    assert ask(posttool(repository), moment="posttool") is None
    states = [
        line["body"].get("reason_class") for line in in_process("journal", "tail", "--json").lines
        if line["kind"] == "hook_answered"
    ]  # fmt: skip
    assert states == ["TOOL_STREAM_REPEATING"] * 2 + ["TOOL_STREAM_STALLED"]


def test_a_call_is_remembered_by_digests_and_never_by_its_content(repository):
    ask(posttool(repository, tool_response="a secret of mine"), moment="posttool")
    raw = in_process("journal", "tail", "--json")
    (call,) = [line["body"] for line in raw.lines if line["kind"] == "tool_called"]
    assert len(call["args_digest"]) == len(call["result_digest"]) == 16
    assert "secret" not in raw.out and "cat x" not in raw.out


HALF = "\ud800"


@pytest.mark.parametrize(
    "odd",
    [
        {"tool_name": f"T{HALF}"},
        {"session_id": f"s{HALF}"},
        {"tool_input": {"file_path": f"docs/{HALF}"}},
        {"tool_input": {HALF: 1}},
        {"tool_response": {"stdout": HALF}},
        {"tool_response": HALF},
    ],
    ids=lambda odd: "-".join(odd),
)
def test_a_call_with_half_of_a_character_is_remembered_as_any_other(repository, odd):
    said = [ask(posttool(repository, **odd), moment="posttool") for _ in range(3)]
    assert [decision(reply) for reply in said] == [None, None, "told"]


def test_halves_of_characters_are_told_apart_and_their_order_does_not_count():
    texts = (HALF, "\ud801", "\\ud800", "?")
    assert len({tool_stream.args_digest("T", {"a": text}) for text in texts}) == len(texts)
    one, other = {"a": HALF, "b": 1}, {"b": 1, "a": HALF}
    assert tool_stream.args_digest("T", one) == tool_stream.args_digest("T", other)
    assert tool_stream.result_digest(one) == tool_stream.result_digest(other)
    assert tool_stream.args_digest(HALF, {}) != tool_stream.args_digest("\ud801", {})


def test_what_is_remembered_of_a_call_is_bounded_whatever_a_program_sends(repository):
    long = {"DOS_RUN_ID": "r" * 100_000}
    raw = posttool(
        repository, tool_name="t" * 100_000, session_id="s" * 100_000,
        toolCall={"args": {}}, tool_input={"TargetFile": "p" * 100_000},
    )  # fmt: skip
    said = [ask(raw, moment="posttool", environment=long) for _ in range(3)]
    assert decision(said[-1]) == "told"
    ask(event(repository, path="docs/" + "p" * 100_000, tool="w" * 100_000), environment=long)
    raw["tool_response"] = {}
    honest = posttool(
        repository, tool_name="Write", tool_input={"TargetFile": "docs/a.md"}, session_id="short"
    )
    ask(honest, moment="posttool", environment={"DOS_RUN_ID": RUN})
    events = in_process("journal", "tail", "--json").lines
    assert max(len(json.dumps(each)) for each in events) < 10_000
    last = events[-1]["body"]
    assert (last["tool"], last["run_id"]) == ("Write", RUN)
    assert last["paths"] == ["docs/a.md"], "what an honest program sends is kept"


def test_tools_that_poll_are_left_out_and_the_numbers_can_be_set(repository):
    (repository / "dos.toml").write_text(
        f'{CONFIG}[tool_stream]\nrepeat_n = 2\nstall_n = 2\nignore_tools = ["bash"]\n'
    )
    assert [ask(posttool(repository), moment="posttool") for _ in range(3)] == [None] * 3
    other = [ask(posttool(repository, tool_name="Fetch"), moment="posttool") for _ in range(2)]
    assert [decision(each) for each in other] == [None, "told"]


def test_a_tool_that_needs_a_lookup_is_told_so_until_one_was_made(repository):
    (repository / "dos.toml").write_text(
        f'{CONFIG}[precursor.requires]\nmcp__shop__update_order = ["get_order"]\n'
        '[precursor.aliases]\nget_order = ["mcp__shop__find-order"]\n'
    )
    update = {**event(repository), "tool_name": "mcp__shop__update-order", "tool_input": {"id": 7}}
    assert ask(update) is None, "nothing is known of the conversation yet"
    ask(posttool(repository), moment="posttool")
    assert "get_order" in ask(update)["hookSpecificOutput"]["additionalContext"]
    ask(posttool(repository, tool_name="mcp__shop__find_order"), moment="posttool")
    assert ask(update) is None


STOP = {"hook_event_name": "Stop", "session_id": "s"}


def test_a_waiting_loop_is_held_four_times_and_again_after_a_reset(repository):
    raw = {**STOP, "cwd": str(repository)}

    def held(**more):
        return ask(raw, moment="marker", **more) is not None

    assert not held(), "nothing says that this is a loop"
    assert [held(loop=True) for _ in range(5)] == [True] * 4 + [False]
    assert held(loop=True, max_markers=5)
    assert not ask(raw, moment="marker", reset=True)
    assert held(environment={"DOS_LOOP": "1"})
    again = {**raw, "stop_hook_active": True}
    assert ask(again, moment="marker", loop=True) is None
    (repository / "dos.toml").write_text(
        f"{CONFIG}[noop_streak]\nmax_streak = 3\n[marker]\nrespect_stop_hook_active = false\n"
    )
    held_more = [ask(again, moment="marker", loop=True) is not None for _ in range(3)]
    assert held_more == [True, True, False], "one was held since the reset"


def test_the_session_hook_binds_a_conversation_to_the_lease_of_its_process(repository):
    words = ("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--pid", str(os.getpid()))
    assert in_process(*words).code == 0
    raw = {"hook_event_name": "SessionStart", "session_id": "mine", "cwd": str(repository)}
    told = ask(raw, moment="session")
    assert "lane api" in told["hookSpecificOutput"]["additionalContext"]
    events = in_process("journal", "tail").out
    assert '"session_bound"' in events and f'"pid":{os.getpid()}' in events
    assert decision(ask(event(repository, path="web/x", session="mine"))) == "deny"


def test_the_session_hook_takes_nobodys_word_for_a_conversation(repository):
    take("api", run=RUN)
    raw = {"hook_event_name": "SessionStart", "session_id": "mine", "cwd": str(repository)}
    told = ask(raw, moment="session", environment=HOLDER)
    assert "lane api" in told["hookSpecificOutput"]["additionalContext"]
    outside = event(repository, path="web/x", session="mine")
    assert decision(ask(outside)) is None, "the name of a run is no proof"
    assert decision(ask(outside, environment=HOLDER)) == "deny", "each hook of the run names it"
    stranger = ask({**raw, "session_id": "other"}, moment="session")
    assert "workers hold" in stranger["hookSpecificOutput"]["additionalContext"]


def test_an_agent_of_the_fleet_binds_no_conversation(repository, monkeypatch):
    words = ("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--session", "mine")
    monkeypatch.setenv("DOS_LEASE_KEY", "k")
    assert in_process(*words).code == 77
    assert in_process(*words[:-2]).code == 0, "what it takes for itself is its own"


def test_a_lease_that_is_taken_for_a_conversation_binds_it(repository):
    words = ("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--session", "mine")
    assert in_process(*words).code == 0
    assert decision(ask(event(repository, path="api/x", session="mine"))) is None
    assert decision(ask(event(repository, path="web/x", session="mine"))) == "deny"
    assert decision(ask(event(repository, path="web/x", session="other"))) is None
    assert in_process("lease-lane", "release", "--lane", "api", "--owner", "A").code == 0
    assert decision(ask(event(repository, path="web/x", session="mine"))) is None


def test_a_refused_lease_binds_nothing(repository):
    take("api", owner="B")
    words = ("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--session", "mine")
    assert in_process(*words).code == 1
    assert decision(ask(event(repository, path="web/x", session="mine"))) is None


def test_the_command_prints_the_same_bytes(repository, monkeypatch):
    take("api")
    monkeypatch.setenv("DOS_HOOK_POSTURE", "block")
    raw = json.dumps(event(repository, path="api/new.py")).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    answer = in_process("hook", "pretool", "--workspace", ".")
    assert (answer.code, answer.err) == (0, "")
    assert decision(json.loads(answer.out)) == "deny"


@pytest.mark.parametrize("moment", ["pretool", "posttool", "marker", "session"])
def test_a_released_flag_that_nothing_reads_is_taken_and_not_shown(repository, moment, monkeypatch):
    raw = json.dumps(event(repository, path="api/x")).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    answer = in_process("hook", moment, "--handler", "observe")
    assert (answer.code, answer.err) == (0, "")
    assert "--handler" not in in_process("hook", moment, "--help").out
