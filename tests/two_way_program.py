"""A program that speaks like Claude Code on its pipe and plays the script of its test.

    two_way_program.py SCRIPT ...      (the arguments of Claude Code are ignored)

The script is a list of steps for each start, by the text that its prompt begins with:

    {"ask": PATH, "id": ID}      ask to write a file; {"bash": COMMAND, "id": ID}: to run a command
    {"wait": ID}                 wait for the answer; what was allowed is done, the rest is not
    {"withdraw": ID}             take the request back
    {"mark": NAME}               leave a file beside the script; {"until": NAME}: wait for one
    {"hear": COUNT}              wait until so many messages were received besides the prompt
    {"run": COMMAND}             do it without asking

What it was told is written to `heard.jsonl` beside the script: one line for each message.
"""

import json
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any


class Program:
    def __init__(self, script: Path) -> None:
        self.home = script.parent
        self.script = json.loads(script.read_text())
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.asked: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, dict[str, Any]] = {}
        self.messages: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            self.lines.put(line)
        self.lines.put(None)

    def take(self) -> None:
        """Take in one line; the end of the input ends the program."""
        line = self.lines.get()
        if line is None:
            sys.exit(1)
        record = json.loads(line)
        if record["type"] == "user":
            text = record["message"]["content"]
            self.messages.append(text)
            with (self.home / "heard.jsonl").open("a") as heard:
                heard.write(json.dumps(text) + "\n")
        elif record["type"] == "control_response":
            response = record["response"]
            request = response["request_id"]
            with (self.home / "answers.jsonl").open("a") as answers:
                answers.write(json.dumps([request, response["response"]]) + "\n")
            self.answers[request] = response["response"]

    def say(self, record: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()

    def play(self) -> None:
        while not self.messages:
            self.take()
        self.say({"type": "system", "subtype": "init", "session_id": "s", "model": "m"})
        prompt = self.messages[0]
        steps = next((each for key, each in self.script.items() if key in prompt), [])
        for step in steps:
            self.do(step)
        self.say(
            {
                "type": "result", "subtype": "success", "is_error": False, "result": "done",
                "session_id": "s", "total_cost_usd": 0, "usage": {},
            }
        )  # fmt: skip

    def do(self, step: dict[str, Any]) -> None:
        if "ask" in step:
            self.ask(step["id"], "Write", {"file_path": step["ask"], "content": "x\n"})
        elif "bash" in step:
            self.ask(step["id"], "Bash", {"command": step["bash"]})
        elif "wait" in step:
            while step["wait"] not in self.answers:
                self.take()
            if self.answers[step["wait"]]["behavior"] == "allow":
                self.use(self.asked[step["wait"]])
        elif "withdraw" in step:
            self.say({"type": "control_cancel_request", "request_id": step["withdraw"]})
        elif "mark" in step:
            (self.home / step["mark"]).touch()
        elif "until" in step:
            while not (self.home / step["until"]).exists():
                time.sleep(0.02)
        elif "hear" in step:
            while len(self.messages) <= step["hear"]:
                self.take()
        elif "run" in step:
            subprocess.run(["bash", "-c", step["run"]], check=False, stdout=subprocess.DEVNULL)

    def ask(self, request: str, tool: str, arguments: dict[str, Any]) -> None:
        self.asked[request] = {"tool": tool, **arguments}
        self.say(
            {
                "type": "control_request", "request_id": request,
                "request": {"subtype": "can_use_tool", "tool_name": tool, "input": arguments},
            }
        )  # fmt: skip

    def use(self, call: dict[str, Any]) -> None:
        if call["tool"] == "Bash":
            subprocess.run(["bash", "-c", call["command"]], check=False, stdout=subprocess.DEVNULL)
        else:
            path = Path(call["file_path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(call["content"])


if __name__ == "__main__":
    if "--version" in sys.argv:
        sys.stdout.write("2.1.197\n")
    else:
        Program(Path(sys.argv[1])).play()
