"""Which tools of which agent program write, and where their path is."""

import json
from pathlib import Path

import pytest
from growth import grows_less_than
from hypothesis import given
from hypothesis import strategies as st

from dos.agenthooks import dialects
from dos.permission import tools
from dos.permission.footprint import read_footprint
from dos.permission.shell.patches import patched_paths

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hooks"
PATCH = (
    "*** Begin Patch\n*** Add File: docs/new\n+x\n*** Update File: docs/a\n*** Move to: docs/b\n"
    "*** Delete File: docs/c\n*** End Patch\n"
)
PATCHED = ("docs/new", "docs/a", "docs/b", "docs/c")
X = "/r/docs/x"
# host, tool, arguments -> what it writes; "?": that is not known; (): it only reads
WRITES = [
    ("claude-code", "Write", {"file_path": X, "content": "c"}, ("docs/x",)),
    ("claude-code", "Edit", {"file_path": X, "old_string": "a", "new_string": "b"}, ("docs/x",)),
    ("claude-code", "MultiEdit", {"file_path": X, "edits": []}, ("docs/x",)),
    ("claude-code", "NotebookEdit", {"notebook_path": X, "new_source": ""}, ("docs/x",)),
    ("claude-code", "Bash", {"command": "echo a > docs/x"}, ("docs/x",)),
    ("claude-code", "Bash", {"command": "make test", "description": "d"}, "?"),
    ("claude-code", "Bash", {"command": "git status"}, ()),
    ("codex", "Bash", {"command": "echo a > docs/x"}, ("docs/x",)),
    ("codex", "exec_command", {"cmd": "echo a > x", "workdir": "/r/docs"}, ("docs/x",)),
    ("codex", "shell", {"command": ["bash", "-lc", "echo a > docs/x"]}, ("docs/x",)),
    ("codex", "shell", {"command": ["touch", "docs/a b"], "workdir": "docs"}, ("docs/docs/a b",)),
    ("codex", "apply_patch", {"command": PATCH}, PATCHED),
    ("codex", "apply_patch", {"input": PATCH}, PATCHED),
    ("codex", "write_stdin", {"text": "rm x"}, "?"),
    ("gemini", "write_file", {"file_path": X, "content": "c"}, ("docs/x",)),
    ("gemini", "replace", {"file_path": "docs/x", "old_string": "", "new_string": ""}, ("docs/x",)),
    ("gemini", "run_shell_command", {"command": "touch x", "directory": "docs"}, ("docs/x",)),
    ("gemini", "run_shell_command", {"command": "touch x", "description": "d"}, ("x",)),
    ("opencode", "write", {"filePath": X, "content": "c"}, ("docs/x",)),
    ("opencode", "edit", {"filePath": X, "oldString": "", "newString": ""}, ("docs/x",)),
    ("opencode", "bash", {"command": "touch docs/x"}, ("docs/x",)),
    ("opencode", "patch", {"patchText": PATCH}, PATCHED),
    ("cursor", "beforeShellExecution", {"command": "touch docs/x"}, ("docs/x",)),
    ("cursor", "afterFileEdit", {"file_path": X, "edits": []}, ("docs/x",)),
    ("cursor", "Write", {"file_path": X}, ("docs/x",)),
    ("antigravity", "write_to_file", {"TargetFile": X}, ("docs/x",)),
    ("antigravity", "run_command", {"CommandLine": "touch x", "Cwd": "/r/docs"}, ("docs/x",)),
    ("hermes", "write_file", {"path": "docs/x"}, ("docs/x",)),
    ("", "mcp__files__write_file", {"path": "docs/x"}, ("docs/x",)),
    ("", "mcp__x__move_file", {"source": "docs/x", "destination": "a"}, ("docs/x", "a")),
    ("", "mcp__files__create_directory", {"path": "docs/x"}, ("docs/x",)),
    ("", "mcp__shell__run", {"command": "touch docs/x"}, ("docs/x",)),
    ("", "mcp__notes__sync", {"path": "docs/x", "content": "c"}, ("docs/x",)),
]  # fmt: skip
READS = {
    "claude-code": "Read WebFetch WebSearch Glob Grep LS NotebookRead Agent Task Skill SendMessage "
    "EnterWorktree ExitWorktree Workflow TodoWrite TaskOutput ToolSearch",
    "codex": "view_image web_search request_user_input update_plan get_goal create_goal",
    "gemini": "read_file glob grep_search list_directory web_fetch google_web_search write_todos "
    "invoke_agent activate_skill read_many_files",
    "opencode": "read glob grep webfetch task skill todowrite list",
    "cursor": "beforeReadFile",
    "antigravity": "view_file",
    "": "mcp__files__read_file mcp__files__list_directory mcp__issues__search mcp__shop__buy",
}


def footprint(tool, arguments, **more):
    return read_footprint(tool, arguments, cwd="/r", root="/r", **more)


@pytest.mark.parametrize(("host", "tool", "arguments", "writes"), WRITES)
def test_the_tools_that_write(host, tool, arguments, writes):
    found = footprint(tool, arguments, host=host)
    if writes == "?":
        assert found.unknown and not found.paths
    else:
        assert (found.paths, found.unknown) == (writes, "")


@pytest.mark.parametrize("host", READS)
def test_the_tools_that_read(host):
    for tool in READS[host].split():
        for arguments in ({}, {"path": X}, {"file_path": X, "query": "q", "prompt": "rm -rf docs"}):
            assert footprint(tool, arguments, host=host).reads_only, (tool, arguments)


@pytest.mark.parametrize("tool", [*tools.WRITERS, *tools.PATCHERS, *sorted(tools.SHELLS)])
def test_a_tool_that_writes_is_never_a_read_for_want_of_arguments(tool):
    for arguments in ({}, {"x": 1}, {"file_path": 7, "command": {}}, {"path": ""}):
        assert not footprint(tool, arguments).reads_only, arguments


def test_a_path_may_come_from_the_protocol():
    found = footprint("edit", {}, paths=("/r/docs/x", "api/y"))
    assert found.paths == ("docs/x", "api/y")
    assert footprint("other", {}, command="touch docs/x").paths == ("docs/x",)


def test_a_patch_that_cannot_be_read_is_no_read():
    for text in ("", "nonsense", "*** Begin Patch\n*** End Patch"):
        assert footprint("apply_patch", {"command": text}).unknown


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude.jsonl", {("Bash", ("one.py",), True)}),
        (
            "codex_trusted.jsonl",
            {("Bash", ("docs/evil2.md",), False), ("Bash", ("src/ok.py",), False)},
        ),
        ("codex_pretool.jsonl", {("Bash", ("one.txt",), False)}),
        ("gemini_before_tool.jsonl", {("run_shell_command", ("one.txt",), False)}),
    ],
)
def test_what_real_programs_sent_has_a_footprint(name, expected):
    decoder = json.JSONDecoder()
    text = (FIXTURES / name).read_text()
    host = name.partition(".")[0].partition("_")[0].replace("claude", "claude-code")
    seen = set()
    while text := text.strip():
        event, end = decoder.raw_decode(text)
        text = text[end:]
        parsed = dialects.parse(host, "other", event.get("ev", event))
        if parsed.tool:
            found = parsed.call().footprint("/repo")
            seen.add((parsed.tool, found.paths, bool(found.unknown)))
    assert seen == expected


EFFECTS = {
    "Read": True, "Grep": True, "read_file": True, "view_image": True,
    "WebFetch": False, "Agent": False, "mcp__shop__buy": False, "mcp__shop__get_order": False,
}  # fmt: skip
COMMANDS = {
    "cat a | wc -l": True, "git log": True, "make": False, "curl -X POST https://h": False,
    "kill -9 7": False, "ls; kill 7": False, "$(kill 7)": False, "dos lease-lane acquire": False,
    "touch a": False, "echo a > /dev/null": True,
}  # fmt: skip


def test_only_what_is_proven_to_have_no_effect_is_allowed_at_once():
    for tool, expected in EFFECTS.items():
        assert footprint(tool, {"id": 7}).has_no_effect == expected, tool
    for command, expected in COMMANDS.items():
        assert footprint("Bash", {"command": command}).has_no_effect == expected, command


Y = "api/y"
OTHER = PATCH.replace("docs/", "api/")
# What a harmless argument stands beside: tool, arguments -> what counts; "?": and there may be more
DECOYS = [
    ("Write", {"file_path": Y, "path": X, "content": ""}, (Y, "docs/x"), False),
    ("write", {"filePath": Y, "file_path": X}, (Y, "docs/x"), False),
    ("Write", {"file_path": Y, "path": 7}, (Y,), True),
    ("Write", {"file_path": [Y, 7]}, (Y,), True),
    ("Write", {"file_path": Y, "path": None}, (Y,), False),
    ("MultiEdit", {"file_path": Y, "edits": [{"file_path": X}]}, (Y, "docs/x"), False),
    ("mcp__x__edit", {"files": [{"path": Y}, {"path": X}]}, (Y, "docs/x"), False),
    ("Bash", {"command": "ls", "cmd": "touch docs/x"}, ("docs/x",), False),
    ("Bash", {"command": "touch api/y", "script": ["touch", "docs/x"]}, (Y, "docs/x"), False),
    ("Bash", {"command": "ls", "cmd": "ls"}, (), False),
    ("Bash", {"command": "touch x", "cwd": "api", "workdir": "docs"}, ("docs/x", "api/x"), False),
    ("Bash", {"command": "touch x", "cwd": "docs", "workdir": "/r/docs"}, ("docs/x",), False),
    ("mcp__x__exec", {"command": "ls", "path": X, "content": "c"}, ("docs/x",), False),
    ("mcp__x__exec", {"command": "touch api/y", "path": X}, (Y,), False),
    ("apply_patch", {"input": OTHER, "patch": PATCH},
     ("api/new", "api/a", "api/b", "api/c", *PATCHED), False),
    ("apply_patch", {"input": PATCH, "patch": "nonsense"}, PATCHED, True),
    ("patch", {"patch": "*** Add File: api/y\n--- a/docs/x\n+++ b/docs/x\n"}, (Y, "docs/x"), False),
    ("patch", {"patch": "*** Begin Patch\n*** Update File: api/y\n--- a/docs/x\n"}, (Y,), False),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "paths", "is_open"), DECOYS)
def test_a_harmless_argument_hides_no_other(tool, arguments, paths, is_open):
    found = footprint(tool, arguments)
    assert (set(found.paths), bool(found.unknown)) == (set(paths), is_open)


def test_the_time_for_a_patch_grows_with_its_length():
    texts = [f"*** Add File: a{' ' * size}b\n" + "*** \t\r" * size for size in (2_000, 16_000)]
    assert grows_less_than(24, patched_paths, *texts)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
NAMES = [
    *tools.WRITERS,
    *tools.PATCHERS,
    *sorted(tools.SHELLS),
    "mcp__x__write",
    "mcp__x__read",
    "other",
]
KEYS = [*tools.PATH_ARGUMENTS, *tools.COMMAND_ARGUMENTS, *tools.FOLDER_ARGUMENTS, "content"]


@given(
    tool=st.sampled_from(NAMES) | st.text(),
    arguments=st.dictionaries(st.sampled_from(KEYS) | st.text(), values),
    cwd=st.sampled_from(["", "/r", "r", "/", "\0"]) | st.text(),
)
def test_any_call_has_a_footprint(tool, arguments, cwd):
    found = read_footprint(tool, arguments, cwd=cwd, root="/r")
    assert all(isinstance(path, str) and path for path in found.paths)


# Tools that the programs offered in their own requests, and that write no file of a tree.
OFFERED = """
    Agent CronCreate CronDelete CronList EnterWorktree ExitWorktree ReportFindings ScheduleWakeup
    SendMessage Skill Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate WebFetch
    WebSearch Workflow spawn_agent send_message request_user_input create_goal write_todos
    update_topic invoke_agent activate_skill agent task_stop ask_user_question exit_plan_mode
"""


@pytest.mark.parametrize("tool", OFFERED.split())
def test_a_tool_that_only_speaks_of_a_file_writes_none(tool):
    about = {"path": "docs/x", "file_path": "docs/x", "content": "c", "description": "d"}
    assert footprint(tool, about).reads_only


def test_a_tool_that_watches_a_command_runs_it():
    assert footprint("Monitor", {"command": "touch docs/x"}).paths == ("docs/x",)
    assert footprint("Monitor", {"command": "tail -f api/log"}).reads_only
