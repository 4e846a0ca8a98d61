"""Every tool answers as its verb does on the command line, and as its schemas say."""

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonschema
import pytest
import tool_cases
from asking import call, request
from sample_repository import Repository
from tool_cases import READING, WRITING, Case

from dos.mcp.catalog import TOOLS, Permits
from dos.mcp.outputs import FIELDS, SHARED
from dos.mcp.protocol import Session
from dos.verbs.listing.table import VERBS
from dos.verbs.lookup import exit_codes

# Two calls of a verb, one after another, differ in the time, and in how long ago something was.
MOVING = re.compile(r"(at|now|since|id|ts|loop_ts|position|begun)|.*_(ms|seconds|bytes)|events")
AGO = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)|\d[\d.:]* ?(ms|s|min|h|d)?\b")


def still(value: Any, root: str) -> Any:
    """An answer without what moves, and without the place of its workspace."""
    if isinstance(value, dict):
        return {
            key: type(inner).__name__ if MOVING.fullmatch(key) else still(inner, root)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        # Other programs of this machine open and close sockets meanwhile.
        stays = [inner for inner in value if not _is_about_sockets(inner)]
        return [still(inner, root) for inner in stays]
    return AGO.sub("0", value.replace(root, "ROOT")) if isinstance(value, str) else value


def _is_about_sockets(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "SANDBOX_SOCKETS"


PEOPLE = {"start", "stop", "answer", "add_unit", "steer"}  # who has to allow these


def differences(ours: Any, theirs: Any, where: str = "") -> Iterator[str]:
    """Where two answers differ, so that a failure can be read."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from differences(
                ours.get(key, "(nothing)"), theirs.get(key, "(nothing)"), f"{where}.{key}"
            )
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{where}[{number}]")
    elif ours != theirs:
        yield f"{where}: {ours!r} != {theirs!r}"


def typed(case: Case, root: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(case.command(root), capture_output=True, text=True, timeout=120)


def compare(case: Case, result: dict[str, Any], done: Any, root: str, other: str) -> None:
    """Hold the result of a tool to what the command line printed."""
    answer = dict(result["structuredContent"])
    assert json.loads(result["content"][0]["text"]) == answer
    assert answer.pop("exit_code") == done.returncode, done.stderr
    assert jsonschema.validate(answer, TOOLS[case.tool].listed()["outputSchema"]) is None
    token = answer.pop("token", None)
    if case.fails:
        assert done.stdout == "" and done.stderr.startswith(f"error: {answer['error']}")
        assert token == "contract_error" and result["isError"] == (done.returncode == 2)
        return
    assert not result["isError"]
    printed = json.loads(done.stdout)
    expected = case.shaped(printed) if case.shaped else printed
    if isinstance(expected, list):
        expected = {"rows": expected}
    if token is None or "token" in expected:  # the verb has one of its own
        answer["token"] = token
    else:
        codes = exit_codes(VERBS[TOOLS[case.tool].call(case.arguments).verb])
        assert codes[token] == done.returncode
    if case.shaped:  # the explanation is beside the rows, not in them
        expected = {"interpretation": answer.get("interpretation"), **expected}
        answer.setdefault("interpretation", None)
    assert list(differences(still(answer, root), still(expected, other))) == []
    declared = {name for names in FIELDS[case.tool].values() for name in names.split()}
    known = declared | set(SHARED) | {"interpretation"}
    if not case.arguments.get("full"):
        assert set(answer) <= known, "a field that the schema does not name"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return tool_cases.make(tmp_path_factory.mktemp("tools")).root


FIRST = [
    case
    for case, next_tool in zip(READING, ("", *(each.tool for each in READING)), strict=False)
    if case.tool != next_tool
]
REST = [case for case in READING if case not in FIRST]


@pytest.mark.parametrize(
    "cases", [FIRST, pytest.param(REST, marks=pytest.mark.soak)], ids=["one each", "the others"]
)
def test_each_tool_that_reads_answers_as_its_verb(workspace, cases):
    session = Session(str(workspace))
    with ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(lambda case: typed(case, workspace), cases))
    wrong = []
    for case, done in zip(cases, printed, strict=True):
        result = call(session, case.tool, **case.given(workspace))
        try:
            compare(case, result, done, str(workspace), str(workspace))
        except AssertionError as error:
            wrong.append(f"{case}: {error}")
    assert not wrong, "\n".join(wrong)


def test_each_tool_that_writes_answers_as_its_verb(tmp_path):
    """On two workspaces of the same history, since each call changes what the next one finds."""
    ours, theirs = (tool_cases.make(tmp_path / name).root for name in ("ours", "theirs"))
    session = Session(str(ours), Permits(fleet=True, answers=True))
    wrong = []
    for case in WRITING:
        done = typed(case, theirs)
        result = call(session, case.tool, **case.given(ours))
        try:
            compare(case, result, done, str(ours), str(theirs))
        except AssertionError as error:
            wrong.append(f"{case}: {error}")
    assert not wrong, "\n".join(wrong)


def test_a_fix_changes_the_directory_once(workspace):
    """A server stands elsewhere, so that every fix has to."""
    findings = call(Session(str(workspace)), "doctor")["structuredContent"]["findings"]
    assert findings
    assert {row["fix"].count(f"cd {workspace} && ") for row in findings} == {1}


def test_a_relative_workspace_is_below_that_of_the_server(workspace):
    session = Session(str(workspace))
    for named in ("one", ".", "", str(workspace), "one/.."):
        answer = call(session, "doctor", workspace=named)["structuredContent"]
        assert answer["workspace"] == str(workspace), named
    assert call(session, "doctor", workspace="tests")["isError"]  # of the current directory


def test_every_tool_is_compared():
    started_for_real = {"start"}
    assert {case.tool for case in (*READING, *WRITING)} == set(TOOLS) - started_for_real


def test_every_tool_has_schemas_that_are_schemas_and_a_list_of_what_it_answers():
    for tool in TOOLS.values():
        listed = tool.listed()
        for schema in (listed["inputSchema"], listed["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        for argument in (*tool.arguments,):
            assert argument.about, (tool.name, argument.name)
    assert set(FIELDS) >= set(TOOLS)


def test_a_released_name_is_another_name_of_the_tool_and_is_not_listed(workspace):
    session = Session(str(workspace))
    names = [tool["name"] for tool in request(session, "tools/list")["result"]["tools"]]
    assert len(names) == len(set(names))
    assert not any(name.startswith("dos_") for name in names)
    for released in ("dos_verify", "dos_doctor", "dos_arbitrate", "dos_refuse_reasons"):
        assert released.removeprefix("dos_") in names
    plain = call(session, "check_reason", reason_class="LANE_HELD")
    assert call(session, "dos_check_reason", reason_class="LANE_HELD") == plain


@pytest.mark.parametrize(
    ("permits", "missing"),
    [
        (Permits(), PEOPLE),
        (Permits(fleet=True), {"answer"}),
        (Permits(callers=False), PEOPLE | {"lane"}),
        (Permits(answers=True), PEOPLE - {"answer"}),
        (Permits(records=False), PEOPLE | {"lease", "attempt", "decide"}),
    ],
)
def test_a_tool_that_is_switched_off_is_neither_listed_nor_called(workspace, permits, missing):
    session = Session(str(workspace), permits)
    listed = {tool["name"] for tool in request(session, "tools/list")["result"]["tools"]}
    assert set(TOOLS) - listed == missing
    for name in missing:
        answer = request(session, "tools/call", name=name, arguments={})
        assert answer["error"]["code"] == -32602 and "switched off" in answer["error"]["message"]


def test_a_server_that_only_reads_overrules_no_refusal(workspace):
    session = Session(str(workspace), Permits(records=False))
    tools = {tool["name"]: tool for tool in request(session, "tools/list")["result"]["tools"]}
    assert "force" not in tools["arbitrate"]["inputSchema"]["properties"]
    refused = call(session, "arbitrate", lane="one", force=True)
    assert refused["isError"]
    assert "has no argument 'force'" in refused["structuredContent"]["error"]


def test_the_hints_of_a_tool_say_what_it_changes():
    hints = {name: tool.listed()["annotations"] for name, tool in TOOLS.items()}
    writers = {name for name, each in hints.items() if not each["readOnlyHint"]}
    assert writers == PEOPLE | {"lease", "attempt", "decide"}
    assert {name for name in writers if hints[name]["destructiveHint"]} == {"stop", "answer"}
    idempotent = {name for name in writers if hints[name]["idempotentHint"]}
    assert idempotent == {"start", "stop", "lease", "decide"}
    assert not any(each["openWorldHint"] for each in hints.values())


def test_the_list_of_tools_costs_a_model_few_words():
    """A client gives a model the names, the descriptions and the arguments."""
    shown = [tool.listed() for tool in TOOLS.values()]
    for tool in shown:
        del tool["outputSchema"]
    assert len(json.dumps(shown, separators=(",", ":"))) < 15_000  # about 3,700 tokens
    assert all(len(tool.about) <= 160 for tool in TOOLS.values())


WRONG = {
    "text": [7, True, [], {}, ["x"]],
    "integer": ["7", 1.5, True, [], {}, 1 << 70],
    "number": ["7", True, [], float("inf")],
    "flag": ["yes", 0, 1, []],
    "object": ["{}", [1], 7, True],
    "texts": ["x", [7], {}, [["x"]], [None]],
    "objects": ["x", ["x"], {}, [7]],
}


@pytest.mark.parametrize("name", TOOLS)
def test_arguments_that_cannot_be_used_are_errors_of_the_call(workspace, name):
    tool = TOOLS[name]
    session = Session(str(workspace), Permits(fleet=True, answers=True))
    cases = {case.tool: case.arguments for case in (*WRITING, *READING) if not case.fails}
    usable = cases.get(name, {})

    def refused(arguments: dict[str, Any], word: str) -> None:
        result = call(session, name, **arguments)
        assert result["isError"], arguments
        content = result["structuredContent"]
        assert content["exit_code"] == 2 and content["token"] == "contract_error"
        assert word in content["error"] + content["hint"], content

    refused({**usable, "nonsense": 1}, "nonsense")
    refused({**usable, "workspace": 7}, "workspace")
    refused({**usable, "workspace": "/nowhere/at/all"}, "/nowhere/at/all")
    for argument in tool.arguments:
        if argument.required:
            refused({key: usable[key] for key in usable if key != argument.name}, argument.name)
        for value in WRONG[argument.kind]:
            if value == [] and not argument.required:
                continue  # as if it were not given
            refused({**usable, argument.name: value}, argument.name)
        if argument.choices:
            refused({**usable, argument.name: "nosuch"}, "Choose one of")
        if argument.kind == "text" and not argument.choices:
            refused({**usable, argument.name: "a\0b"}, "NUL")


def test_what_is_said_to_be_markdown_is_a_table_that_no_text_breaks(tmp_path):
    repository = Repository(tmp_path)
    config = repository.root / "dos.toml"
    reason = '[reasons.VENDOR]\ncategory = "OPERATOR_GATE"\nsummary = "a | b\\nc"\nfix = "Ask."\n'
    config.write_text(config.read_text() + reason)
    session = Session(str(repository.root))
    read = {}
    for name in ("lanes", "reasons"):
        result = request(session, "resources/read", uri=f"dos://{name}")["result"]
        (content,) = result["contents"]
        assert content["mimeType"] == "text/markdown"
        heading, blank, head, rule, *rows = content["text"].splitlines()
        assert heading.startswith("# ") and (blank, set(rule)) == ("", {"|", "-"})
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in (head, rule, *rows)}
        assert columns == {5}, name
        read[name] = rows
    assert [row.split()[1] for row in read["lanes"]][:2] == ["one", "two"]
    assert r"| VENDOR | OPERATOR_GATE | a \| b c | Ask. |" in read["reasons"]


def test_a_reason_that_is_none_refuses_nothing_and_says_where_they_are(workspace):
    answer = call(Session(str(workspace)), "dos_check_reason", reason_class="NO_SUCH")
    found = answer["structuredContent"]
    assert not answer["isError"]
    assert (found["known"], found["refusal"], found["reason_class"]) == (False, False, "NO_SUCH")
    assert "dos man wedge" in found["interpretation"] and found["category"] == "UNCLASSIFIED"
    declared = call(Session(str(workspace)), "dos_check_reason", reason_class="LANE_HELD")
    assert declared["structuredContent"]["known"] and declared["structuredContent"]["refusal"]


def test_all_reasons_are_counted_and_name_their_workspace(workspace):
    found = call(Session(str(workspace)), "dos_refuse_reasons")["structuredContent"]
    assert found["workspace"] == str(workspace)
    assert found["count"] == len(found["reasons"]) > 20


def test_the_board_is_cut_where_it_is_asked_for(workspace):
    session = Session(str(workspace))
    whole, cut, none = (
        call(session, "dos_plan", **given)["structuredContent"]
        for given in ({}, {"limit": 2}, {"scope": ["two"], "limit": 5})
    )
    assert cut["phases"] == whole["phases"][:2] and cut["summary"] == whole["summary"]
    assert {row["lane"] for row in none["phases"]} == {"two"}
    assert call(session, "dos_plan", limit=-1)["isError"]
