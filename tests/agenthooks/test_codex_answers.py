"""Codex is told to trust the hooks of dos, and no form of answer breaks that."""

import json
import os
import sys

import pytest

from dos.agenthooks.io.codex_trust import trust
from dos.unknown import Unknown

# It answers each request from the table in its environment, and keeps what it was asked to write.
SERVER = f"""#!{sys.executable}
import json, os, sys
answers = json.loads(os.environ["ANSWERS"])
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        with open(os.environ["ASKED"], "a") as asked:
            asked.write(json.dumps([request["method"], request["params"]]) + "\\n")
        said = answers.get(request["method"], {{"result": {{}}}})
        print(json.dumps({{"method": "news"}}), json.dumps({{"id": request["id"], **said}}),
              sep="\\n", flush=True)
"""
OURS = {
    "key": "k:0", "currentHash": "h0", "command": "dos hook pretool --dialect codex || true",
    "trustStatus": "untrusted", "eventName": "preToolUse", "enabled": True,
}  # fmt: skip
TRUSTED = {**OURS, "key": "k:1", "currentHash": "h1", "trustStatus": "trusted"}
FOREIGN = {"key": "k:2", "currentHash": "h2", "command": "rm -rf /", "trustStatus": "untrusted"}
PROMPT = {"key": "k:3", "currentHash": "h3", "command": None}


@pytest.fixture
def codex(tmp_path):
    """codex(answer to hooks/list): what `trust` returns, and what was asked."""
    program = tmp_path / "codex"
    program.write_text(SERVER)
    program.chmod(0o755)

    def run(listed):
        environment = {
            **os.environ,
            "ANSWERS": json.dumps({"hooks/list": listed}),
            "ASKED": str(tmp_path / "asked"),
        }
        found = trust(str(program), tmp_path, environment, [OURS["command"]])
        asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
        return found, asked

    return run


def test_our_hooks_are_trusted_and_no_others(codex):
    hooks = [OURS, TRUSTED, FOREIGN, PROMPT]
    found, asked = codex({"result": {"data": [{"cwd": "/r", "hooks": hooks, "errors": []}]}})
    assert found == ["k:0", "k:1"]
    (edit,) = next(what for method, what in asked if method == "config/batchWrite")["edits"]
    assert edit["value"] == {"k:0": {"trusted_hash": "h0"}}


def test_hooks_that_are_trusted_already_are_not_written_again(codex):
    found, asked = codex({"result": {"data": [{"hooks": [TRUSTED]}]}})
    assert found == ["k:1"] and "config/batchWrite" not in [method for method, _ in asked]


ODD = {
    "a list of texts": {"result": {"data": ["x"]}},
    "a hook without a key": {"result": {"data": [{"hooks": [{"command": "dos hook stop"}]}]}},
    "no list": {"result": {"data": 7}},
    "an error in words": {"error": "no such method"},
    "an error of its own": {"error": {"code": 7}},
}


@pytest.mark.parametrize("listed", ODD.values(), ids=ODD)
def test_an_answer_of_another_form_is_told_and_breaks_nothing(codex, listed):
    found, _ = codex(listed)
    assert isinstance(found, Unknown) and "codex app-server" in found.why


def test_a_folder_that_codex_does_not_trust_lists_nothing(codex):
    assert codex({"result": {"data": [{"hooks": []}]}})[0] == []
    assert codex({"result": {}})[0] == []
