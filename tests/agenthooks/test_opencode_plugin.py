"""The plugin of opencode, run by Node: what a call gets when dos answers, and when it does not."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE

from dos.agenthooks.io.install import plugin_text

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no Node")

# It makes one call, and prints what became of it.
CALLER = """
const { Dos } = await import(process.argv[2])
const hooks = await Dos({ client: {}, directory: process.cwd() })
const [tool, args] = JSON.parse(process.argv[3])
try {
  await hooks["tool.execute.before"]({ tool, sessionID: "s", callID: "c" }, { args })
  console.log("")
} catch (error) {
  console.log(error.message)
}
"""
DENIES = json.dumps(
    {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "Not yours."}}
)
# What stands for dos: the lines of its script.
COMMANDS = {
    "it denies": f"cat >/dev/null; echo '{DENIES}'",
    "it has no opinion": "cat >/dev/null",
    "it fails": "exit 1",
    "it is killed": "kill -9 $$",
    "it is not there": None,
}
WRITE = ["write", {"filePath": "docs/x", "content": "x"}]
READ = ["read", {"filePath": "docs/x"}]
NO_ANSWER = "dos did not answer, so this call is refused."
# Command, call -> what a person's session gets, and what an agent with the key of a lease gets.
EXPECTED = [
    ("it denies", WRITE, "Not yours.", "Not yours."),
    ("it has no opinion", WRITE, "", ""),
    ("it fails", WRITE, "", NO_ANSWER),
    ("it is killed", WRITE, "", NO_ANSWER),
    ("it is not there", WRITE, "", NO_ANSWER),
    ("it is not there", READ, "", ""),
]


def become(folder: Path, what: str, call: object, key: str) -> str:
    program = folder / "dos"
    if (script := COMMANDS[what]) is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    (folder / "plugin.mjs").write_text(plugin_text(str(program)))
    (folder / "caller.mjs").write_text(CALLER)
    environment = {"PATH": os.environ["PATH"], **({"DOS_LEASE_KEY": key} if key else {})}
    done = subprocess.run(
        [NODE, "caller.mjs", str(folder / "plugin.mjs"), json.dumps(call)],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("what", "call", "of_person", "of_fleet"), EXPECTED)
def test_without_an_answer_a_person_goes_on_and_an_agent_of_the_fleet_only_reads(
    tmp_path, what, call, of_person, of_fleet
):
    assert become(tmp_path, what, call, "") == of_person
    assert become(tmp_path, what, call, "k" * 43) == of_fleet
