"""A real server of a real repository, and clients of its two doors."""

import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commanding import command, git
from msgspec import Struct
from patience import PATIENCE

from dos.agenthooks.io import shim
from dos.agenthooks.socket_protocol import hook_request, verb_request
from dos.server.io.client import connect
from dos.server.io.location import Location

CONFIG = """[lanes]
concurrent = ["api", "docs"]
[lanes.trees]
api = ["api/**"]
docs = ["docs/**"]
[enforcement]
posture = "block"
"""
FLEET_VARIABLES = (
    "DOS_LEASE_KEY",
    "DOS_RUN_ID",
    "CID_RUN_ID",
    "DISPATCH_RUN_ID",
    "DOS_HOOK_SOCKET",
)
SHIM = str(Path(shim.__file__).resolve())


class Serving(Struct, frozen=True, kw_only=True):
    """A server that runs."""

    root: Path
    process: subprocess.Popen[str]
    port: int
    token: str
    location: Location

    def kill(self) -> None:
        """End it as a crash does."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def line(self, line: bytes) -> Any:
        """What the socket answers to a line."""
        with connect(self.location, PATIENCE) as client:
            client.sendall(line)
            return json.loads(read_to_end(client))

    def ask(self, verb: str, **arguments: Any) -> Any:
        return self.line(verb_request(verb, arguments))

    def hook(self, moment: str, event: dict[str, Any], dialect: str = "claude-code") -> Any:
        return self.line(hook_request(moment, dialect, event))

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: dict[str, str] | None = None,
        bearer: bool = True,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an HTTP request; with the token unless told otherwise."""
        sent = dict(headers or {})
        if bearer:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            client.request(method, path, body=content, headers=sent)
            answer = client.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            client.close()

    def get_json(self, path: str) -> Any:
        status, _, body = self.request("GET", path)
        assert status == 200, body
        return json.loads(body)


def read_to_end(client: socket.socket) -> bytes:
    pieces = b""
    while piece := client.recv(1 << 16):
        pieces += piece
    return pieces


def clean_environment(**added: str) -> dict[str, str]:
    """The environment without what a fleet sets."""
    kept = {name: value for name, value in os.environ.items() if name not in FLEET_VARIABLES}
    return kept | added


def make_repository(root: Path) -> Path:
    for folder in ("api", "docs", "web"):
        (root / folder).mkdir(parents=True)
        (root / folder / "made.txt").write_text("x\n")
    (root / "dos.toml").write_text(CONFIG)
    git("init", "--quiet", ".", cwd=root)
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message", "begin", cwd=root)
    return root


@contextmanager
def serving(root: Path) -> Iterator[Serving]:
    """Start `dos serve` and wait until it says that it serves."""
    with subprocess.Popen(
        command("--workspace", str(root), "serve", "--json"),
        cwd=root,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            location = Location(root / ".git" / "dos")
            yield Serving(
                root=root,
                process=process,
                port=int(ready["address"].rstrip("/").rpartition(":")[2]),
                token=location.token(),
                location=location,
            )
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE)


def tool_call(root: Path, path: str, tool: str = "Write", session: str = "s") -> dict[str, Any]:
    """The event of Claude Code before a tool call."""
    return {
        "session_id": session,
        "cwd": str(root),
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": {"file_path": str(root / path), "content": "x"},
    }


def decision(stdout: str | bytes) -> str:
    """What a hook of Claude Code answered."""
    if not stdout:
        return ""
    output = json.loads(stdout)["hookSpecificOutput"]
    return str(output.get("permissionDecision", "context"))
