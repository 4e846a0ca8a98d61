"""A person's own session of an agent program: in a repository of theirs, with the hooks of dos."""

import json
import os
import shutil
import subprocess
import threading
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from installing import Unavailable, path_of
from model_server import ModelServer
from patience import wait_for
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program, Step

import dos
from dos import workspace
from dos.agenthooks.socket_protocol import SOCKET_FOLDER, SOCKET_NAME
from dos.agenthooks.wiring import HOSTS

RUN_SECONDS = 300
PROMPT = "Do the work."
NO_MODEL = "http://model.invalid"  # until there is one
CONFIG = """[lanes]
concurrent = ["api", "web"]
[lanes.trees]
api = ["api/**"]
web = ["web/**"]
[enforcement]
posture = "block"
"""
# How a person starts each without questions of the program itself.
WORDS = {
    CLAUDE_CODE: ("-p", PROMPT, "--allowedTools", "Bash,Write", "--permission-mode", "acceptEdits"),
    CODEX: ("exec", "--dangerously-bypass-approvals-and-sandbox", PROMPT),
    GEMINI: ("-p", PROMPT, "--yolo", "--model", "gemini-2.5-flash"),
    OPENCODE: ("run", "--auto", PROMPT),
}
HOST_OF = {
    CLAUDE_CODE: "claude-code",
    CODEX: "codex",
    GEMINI: "gemini",
    OPENCODE: "opencode",
}


class Session(NamedTuple):
    """What was seen of one session that has ended."""

    said: str
    code: int
    told: str  # everything that the model was told


class OwnRepository:
    def __init__(self, folder: Path, program: Program) -> None:
        try:
            self._path = path_of(program)
        except Unavailable as error:
            pytest.skip(str(error))
        self.program = program
        self.host = HOST_OF[program]
        self.home = folder / "home"
        self.root = folder / "repository"
        self.installed_dos = folder / "dos"
        self.bin = self.installed_dos / "bin"
        for path in (self.home, self.root):
            path.mkdir()
        self.environment = {
            "PATH": os.pathsep.join([str(self.bin), str(self._path.parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "LANG": "C.UTF-8",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        (self.home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.invalid\n")
        self._install_dos()
        (self.root / "dos.toml").write_text(CONFIG)
        for lane in ("api", "web"):
            (self.root / lane).mkdir()
            (self.root / lane / "here.md").write_text("theirs\n")
        self.git("init", "--quiet", "--initial-branch=main", ".")
        self.commit("First")

    def _install_dos(self) -> None:
        """An environment of its own with dos in it, that can be taken away."""
        venv.create(self.installed_dos, symlinks=True, with_pip=False)
        python = self.bin / "python"
        (packages,) = self.installed_dos.glob("lib/*/site-packages")
        self._package = packages / "dos"
        self._package.symlink_to(Path(dos.__file__ or "").parent)
        (packages / "others.pth").write_text(f"{Path(msgspec.__file__ or '').parents[1]}\n")
        script = self.bin / "dos"
        script.write_text(f"#!{python}\nfrom dos.cli.main import main\nmain()\n")
        script.chmod(0o755)

    def uninstall_dos(self) -> None:
        """As `pip uninstall` does: the interpreter stays."""
        self._package.unlink()
        (self.bin / "dos").unlink()

    def remove_dos(self) -> None:
        """Its whole environment is gone, with the interpreter."""
        shutil.rmtree(self.installed_dos)

    @contextmanager
    def worker(self, lane: str) -> Iterator[None]:
        """A process that lives and holds a lane."""
        process = subprocess.Popen(["sleep", "1000"])
        try:
            words = ("--lane", lane, "--owner", "worker", "--pid", str(process.pid))
            self.dos("lease-lane", "acquire", *words)
            yield
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def server(self) -> Iterator[int]:
        """`dos serve` in the background, from its first answer on; yields its process."""
        process = subprocess.Popen(
            [self.bin / "dos", "serve"], cwd=self.root, env=self.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # Whoever killed it is not its parent, and sees it until somebody has waited for it.
        threading.Thread(target=process.wait, daemon=True).start()
        try:
            socket_path = workspace.find(self.root).state / SOCKET_FOLDER / SOCKET_NAME
            wait_for(socket_path.exists, "the server listens")
            yield process.pid
        finally:
            process.kill()
            process.wait()

    def git(self, *words: str) -> str:
        return self.run("git", *words)

    def commit(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def dos(self, *words: str, cwd: Path | None = None) -> str:
        return self.run(str(self.bin / "dos"), *words, cwd=cwd)

    def run(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            words, cwd=cwd or self.root, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def settle(self, url: str, *trees: Path) -> None:
        """The program's own settings: where its model is, and which folders its user trusts."""
        for name, text in self.program.files(url).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".toml":
                for tree in (self.root, *trees):
                    text += f'[projects."{tree}"]\ntrust_level = "trusted"\n'
            path.write_text(text)

    def play(
        self,
        script: list[Step],
        folder: Path,
        *,
        cwd: Path | None = None,
        through: tuple[str, ...] = (),
    ) -> Session:
        """One session from the prompt to its end. The hooks have to be installed by then, unless
        the words that it is started through pass them."""
        model = ModelServer(folder, script)
        try:
            # Its address is new: whatever Codex wrote into its settings stays.
            self._point_at(model.url)
            environment = {**self.environment, **self.program.settings(model.url)["environment"]}
            if self.program.first:
                subprocess.run(
                    [self._path, *self.program.first], env=environment, cwd=self.root,
                    check=True, capture_output=True, timeout=RUN_SECONDS,
                )  # fmt: skip
            done = subprocess.run(
                [*through, self._path, *WORDS[self.program]],
                cwd=cwd or self.root, env=environment,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS,
            )  # fmt: skip
        finally:
            model.stop()
        told = "\n".join(told["text"] for request in model.requests() for told in request["told"])
        return Session(done.stdout + done.stderr, done.returncode, told)

    def _point_at(self, url: str) -> None:
        path = self.home / ".codex" / "config.toml"
        if path.exists():
            path.write_text(path.read_text().replace(NO_MODEL, url))

    def install(self, *, cwd: Path | None = None, extra: tuple[Path, ...] = ()) -> dict[str, Any]:
        """`dos hooks install`, by a person whose program works already."""
        self.settle(NO_MODEL, *extra)
        answer = json.loads(self.dos("hooks", "install", self.host, "--json", cwd=cwd))
        return dict(answer["hosts"][self.host])

    @property
    def settings(self) -> Path:
        return Path(self.root, *HOSTS[self.host].path)

    def events(self, kind: str) -> list[dict[str, Any]]:
        shown = map(json.loads, self.dos("journal", "tail", "0").splitlines())
        return [event["body"] for event in shown if event["kind"] == kind]
