"""A program that asks by the hooks of its home, as Gemini CLI does, and plays its test's script.

    hooking_program.py SCRIPT ...      (the arguments of Gemini CLI are ignored)

The script is that of `two_way_program.py`, without messages: a request that is taken back is a hook
that is ended.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOOKS = Path.home() / ".gemini/extensions/dos/hooks/hooks.json"


class Program:
    def __init__(self, script: Path) -> None:
        self.home = script.parent
        self.script = json.loads(script.read_text())
        (group,) = json.loads(HOOKS.read_text())["hooks"]["BeforeTool"]
        (self.hook,) = group["hooks"]
        self.asking: dict[str, subprocess.Popen[str]] = {}
        self.asked: dict[str, dict[str, Any]] = {}

    def say(self, record: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()

    def play(self, prompt: str) -> None:
        self.say({"type": "init", "session_id": "s", "model": "m"})
        steps = next((each for key, each in self.script.items() if key in prompt), [])
        for step in steps:
            self.do(step)
        self.say({"type": "result", "status": "success", "stats": {}})

    def do(self, step: dict[str, Any]) -> None:
        if "ask" in step:
            self.ask(step["id"], "Write", {"file_path": step["ask"], "content": "x\n"})
        elif "bash" in step:
            self.ask(step["id"], "Bash", {"command": step["bash"]})
        elif "wait" in step:
            if self.answer(step["wait"]) == "allow":
                self.use(self.asked[step["wait"]])
        elif "withdraw" in step:
            os.killpg(self.asking[step["withdraw"]].pid, 9)
        elif "mark" in step:
            (self.home / step["mark"]).touch()
        elif "until" in step:
            while not (self.home / step["until"]).exists():
                time.sleep(0.02)
        elif "run" in step:
            subprocess.run(["bash", "-c", step["run"]], check=False, stdout=subprocess.DEVNULL)

    def ask(self, request: str, tool: str, arguments: dict[str, Any]) -> None:
        """Start the hook; what it answers is looked at when the script waits for it."""
        self.asked[request] = {"tool": tool, **arguments}
        event = {
            "hook_event_name": "BeforeTool", "session_id": "s", "cwd": os.getcwd(),
            "tool_name": tool, "tool_input": arguments,
        }  # fmt: skip
        hook = subprocess.Popen(
            ["bash", "-c", self.hook["command"]],
            env={**os.environ, **self.hook["env"]},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(event))
        hook.stdin.close()
        hook.stdin = None
        self.asking[request] = hook

    def answer(self, request: str) -> str:
        """Wait for the hook: a code of 2 or a decision that denies is a no."""
        printed, complaint = self.asking[request].communicate()
        said = json.loads(printed or "{}")
        behavior, message = "allow", ""
        if self.asking[request].returncode == 2:
            behavior, message = "deny", complaint
        elif said.get("decision") == "deny":
            behavior, message = "deny", said["reason"]
        with (self.home / "answers.jsonl").open("a") as answers:
            answers.write(json.dumps([request, {"behavior": behavior, "message": message}]) + "\n")
        return behavior

    def use(self, call: dict[str, Any]) -> None:
        if call["tool"] == "Bash":
            subprocess.run(["bash", "-c", call["command"]], check=False, stdout=subprocess.DEVNULL)
        else:
            path = Path(call["file_path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(call["content"])


if __name__ == "__main__":
    Program(Path(sys.argv[1])).play(sys.stdin.read())
