"""The scripted model as a process of its own, on a free port of loopback."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parents[2] / "tools" / "scripted_model.py"


class ModelServer:
    def __init__(self, folder: Path, script: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "requests.jsonl"
        (folder / "script.json").write_text(json.dumps(script))
        words = [
            sys.executable,
            str(SERVER),
            "--script",
            str(folder / "script.json"),
            "--log",
            str(self._log),
        ]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the scripted model did not start"

    def requests(self) -> list[dict[str, Any]]:
        return (
            [json.loads(line) for line in self._log.read_text().splitlines()]
            if self._log.exists()
            else []
        )

    def refusals(self) -> int:
        return sum("status" in request["step"] for request in self.requests())

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()
