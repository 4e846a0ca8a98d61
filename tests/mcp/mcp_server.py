"""A real `dos mcp` at the other end of two pipes."""

import subprocess
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Self

from commanding import command
from msgspec import json


class Server:
    """Sends lines and takes answers, each with the time that the test allows."""

    def __init__(self, root: Path, *flags: str, log: Path | None = None, **more: Any) -> None:
        self._log = (log or root / ".git" / "mcp-stderr").open("wb")
        self.process = subprocess.Popen(
            command("mcp", *flags),
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            **more,
        )
        self._lines: Queue[bytes] = Queue()
        self._reads_on = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self._log):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                continue

    @property
    def printed(self) -> str:
        """What it wrote to stderr."""
        return Path(self._log.name).read_text()

    def send(self, *lines: bytes | dict[str, Any] | list[Any]) -> None:
        assert self.process.stdin
        for line in lines:
            self.process.stdin.write(
                (line if isinstance(line, bytes) else json.encode(line)) + b"\n"
            )
        self.process.stdin.flush()

    def request(self, identity: object, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})

    def call(self, identity: object, tool: str, **arguments: Any) -> None:
        self.request(identity, "tools/call", name=tool, arguments=arguments)

    def cancel(self, identity: object) -> None:
        params = {"requestId": identity, "reason": "the user"}
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def next(self, seconds: float = 120) -> dict[str, Any]:
        line = self._lines.get(timeout=seconds)
        answer = json.decode(line)
        assert isinstance(answer, dict) and answer["jsonrpc"] == "2.0", line
        assert ("result" in answer) != ("error" in answer), line
        return answer

    def until(self, identity: object) -> list[dict[str, Any]]:
        """All answers up to that of a request, which is the last."""
        answers = [self.next()]
        while answers[-1]["id"] != identity:
            answers.append(self.next())
        return answers

    def is_silent(self, seconds: float) -> bool:
        try:
            self._lines.get(timeout=seconds)
        except Empty:
            return True
        return False

    def stop_reading(self) -> None:
        """Close its output, as a client does that dies; one more answer ends the thread."""
        assert self.process.stdout
        self._reads_on = False
        self.request("last", "ping")
        self._reader.join()
        self.process.stdout.close()

    def close(self, seconds: float = 60) -> int:
        """End its input, and return how it ended."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(seconds)

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
            if not self._reads_on:
                return
