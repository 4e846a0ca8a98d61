"""Requests that describe one call several times: a harmless description proves nothing."""

import pytest

from dos.agents.acp.permission import read_request
from dos.agents.conversations import codex
from dos.permission.ask import Ask, Asker, AskerKind
from dos.permission.judge import judge
from dos.regions import region

HOLDER = Asker(kind=AskerKind.HOLDER, lane="api", region=region(["api/**"]))
LOST = Asker(kind=AskerKind.LOST)


def refusal(asked, asker=HOLDER):
    """Why a request is refused; empty where it is allowed."""
    ask = Ask(asker=asker, tool=asked.tool, footprint=asked.footprint("/repo"))
    return judge(ask).reason_class


def acp(call, known=()):
    return read_request(1, {"toolCall": call}, dict(known))


def named(tool, **call):
    return {"_meta": {"claudeCode": {"toolName": tool}}, **call}


def diff(path):
    return [{"type": "diff", "path": path, "oldText": "", "newText": "x"}]


INSIDE, OUTSIDE = "/repo/api/a.py", "/repo/docs/a.md"
DECOYS = {
    "a command under another key": (
        {"kind": "execute", "rawInput": {"command": "ls", "fullCommandText": "rm docs/a"}}, {},
    ),
    "a command that was told before": (
        {"kind": "execute", "rawInput": {"command": "ls"}},
        {"rawInput": {"command": "rm docs/a"}},
    ),
    "a command in the title": (
        {"kind": "execute", "title": "rm docs/a", "rawInput": {"command": "ls"}}, {},
    ),
    "a command in a title with quotes": (
        {"kind": "execute", "title": "echo a > docs/a", "rawInput": {"cmd": "ls api"}}, {},
    ),
    "a path that was told before": (
        {"kind": "edit", "rawInput": {"file_path": INSIDE}}, {"rawInput": {"file_path": OUTSIDE}},
    ),
    "a path under another key": (
        {"kind": "edit", "rawInput": {"file_path": INSIDE, "path": OUTSIDE}}, {},
    ),
    "a location": ({"kind": "edit", "locations": [{"path": OUTSIDE}], "rawInput": {}}, {}),
    "a change beside a location": (
        {"kind": "edit", "locations": [{"path": INSIDE}], "content": diff(OUTSIDE)}, {},
    ),
    "a change by a tool that says it reads": (
        {"kind": "read", "rawInput": {"path": INSIDE}, "content": diff(OUTSIDE)}, {},
    ),
    "a change that was shown before": ({"kind": "other"}, {"content": diff(OUTSIDE)}),
    "another kind than before": (
        {"kind": "read", "rawInput": {"path": OUTSIDE}}, {"kind": "edit"},
    ),
    "another name than before": (
        named("Read", rawInput={"file_path": OUTSIDE}), named("Write"),
    ),
    "a kind that writes, beside a name that reads": (
        named("Read", kind="edit", rawInput={"file_path": OUTSIDE}), {},
    ),
    "a command of a tool that edits": (
        {"kind": "edit", "rawInput": {"path": INSIDE, "command": "rm docs/a"}}, {},
    ),
    "words": ({"kind": "execute", "rawInput": {"command": ["bash", "-c", "rm docs/a"]}}, {}),
}  # fmt: skip


@pytest.mark.parametrize(("call", "known"), DECOYS.values(), ids=DECOYS)
def test_every_description_of_a_call_is_judged(call, known):
    assert refusal(acp(call, known)) == "OUT_OF_REGION"


HONEST = {
    "a command with its title": (
        {"kind": "execute", "title": "`pytest api`", "rawInput": {"command": "pytest api"}}, {},
    ),
    "a title that says what for": (
        {"kind": "execute", "title": "Remove docs > all", "rawInput": {"command": "ls"}}, {},
    ),
    "a title that is cut": (
        {"kind": "execute", "title": "echo a > api/a…", "rawInput": {"command": "echo a > api/ab"}},
        {},
    ),
    "a title with the folder": (
        {"kind": "execute", "title": "ls [current working directory /repo] (lists)"}, {},
    ),
    "a first title that was a placeholder": (
        named("Bash", kind="execute", rawInput={"command": "ls"}, title="ls"),
        named("Bash", kind="execute", rawInput={}, title="Terminal"),
    ),
    "an edit with all it has": (
        named("Edit", kind="edit", rawInput={"file_path": INSIDE}, content=diff(INSIDE),
              locations=[{"path": INSIDE}]),
        named("Edit", kind="edit", rawInput={}),
    ),
    "an edit by a tool with commands of its own": (
        {"kind": "edit", "rawInput": {"path": INSIDE, "command": "str_replace"}}, {},
    ),
    "a read elsewhere": (
        {"kind": "read", "rawInput": {"path": OUTSIDE}, "locations": [{"path": OUTSIDE}]}, {},
    ),
    "a search for a command": ({"kind": "search", "rawInput": {"command": "rm docs/a"}}, {}),
}  # fmt: skip


@pytest.mark.parametrize(("call", "known"), HONEST.values(), ids=HONEST)
def test_what_says_the_same_in_several_ways_is_allowed(call, known):
    assert refusal(acp(call, known)) == ""


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "read", "rawInput": {"path": OUTSIDE}, "title": "Read"},
        named("Read", kind="read", rawInput={"file_path": OUTSIDE}),
        named("BashOutput", kind="execute", rawInput={"bash_id": "1"}, title="Tail Logs"),
    ],
)
def test_reads_are_allowed_to_whoever_asks(call):
    assert refusal(acp(call), LOST) == ""
    assert refusal(acp({**call, "content": diff(OUTSIDE)}), LOST) == "FENCE_LOST"


def command(text, *parts, **more):
    actions = [{"type": "unknown", "command": part} for part in parts]
    params = {"command": text, "cwd": "/repo", "commandActions": actions, **more}
    state = codex.open("", codex.Settings()).state
    message = {"id": 1, "method": "item/commandExecution/requestApproval", "params": params}
    (asked,) = codex.converse(state, codex.json.encode(message).decode()).asks
    return asked


def test_the_parts_that_codex_names_are_judged_too():
    assert refusal(command("ls", "rm docs/a")) == "OUT_OF_REGION"
    assert refusal(command(None, "ls", "rm docs/a")) == "OUT_OF_REGION"
    assert refusal(command("/bin/bash -lc 'rm docs/a'", "ls")) == "OUT_OF_REGION"
    assert refusal(command("/bin/bash -lc 'cd api && echo a > x'", "echo a > x")) == ""
    assert refusal(command("/bin/bash -lc 'cat docs/a'", "cat docs/a"), LOST) == ""


def patched(started, approval):
    state = codex.open("", codex.Settings()).state
    for changes in started:
        item = {"type": "fileChange", "id": "i", "changes": [{"path": each} for each in changes]}
        message = {"method": "item/started", "params": {"item": item}}
        state = codex.converse(state, codex.json.encode(message).decode()).state
    params = {"itemId": "i", **approval}
    message = {"id": 1, "method": "item/fileChange/requestApproval", "params": params}
    (asked,) = codex.converse(state, codex.json.encode(message).decode()).asks
    return asked


def test_all_paths_that_codex_names_of_a_patch_are_judged():
    assert refusal(patched([["api/a"]], {})) == ""
    assert refusal(patched([["docs/a"], ["api/a"]], {})) == "OUT_OF_REGION"
    assert refusal(patched([["api/a"]], {"changes": [{"path": "docs/a"}]})) == "OUT_OF_REGION"
    assert refusal(patched([["api/a"]], {"grantRoot": "/repo/docs"})) == "OUT_OF_REGION"
