"""A hostile agent in a lane of a real `dos up` tries everything, behind walls and without.

The table says which walls stop what. What no wall is said to stop must succeed, so that an attempt
that is refused somewhere is known to work elsewhere. `hostile_agent.py` has the attempts.
"""

import errno
import fcntl
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import termios
from contextlib import ExitStack, suppress
from pathlib import Path

import old_kernel
import psutil
import pytest
from msgspec import Struct
from patience import PATIENCE, wait_for
from sample_fleet import Fleet, history, landed
from sample_repository import Repository

from dos import workspace
from dos.sandbox.io.launcher import seccomp
from dos.sandbox.io.probe import probe
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import ANYONE
from dos.world import World

HERE = Path(__file__).parent
REFUSED = 77
LANDLOCK, SECCOMP, NAMESPACES = "landlock", "seccomp", "namespaces"
NO_SOCKETS = "no sockets"
NAMED_SOCKETS = "landlock from version 9 on"
LISTED = "listed reads"
ALWAYS = "always"  # also with the sandbox off
GATE = "commit gate"  # `dos hooks git install`, here on the machines with Landlock
PLAIN_USER = "no capability"  # an ordinary user has none; of root every wall takes them
FILES = {LANDLOCK, NAMESPACES}
PROCESSES = {LANDLOCK, NAMESPACES}

# What stops each attempt: any one of these.
STOPPED_BY: dict[str, set[str]] = {
    **{
        f"write: {name}": FILES
        for name in (
            "checkout", "plan", "settings", "shell start-up", "program settings", "git config",
            "git exclude", "journal", "neighbour's file", "neighbour's git",
        )
    },
    **{f"create: {name}": FILES for name in ("grafts", "hook", "new file", "neighbour's home")},
    "truncate a file": FILES,
    "rename a file": FILES,
    "remove a file": FILES,
    "link a file into the lane": FILES,
    "change the mode of a file": {NAMESPACES},
    "change the times of a file": {NAMESPACES},
    "leave a file in /tmp": {LANDLOCK, NAMESPACES},
    "leave a file in /dev/shm": {NAMESPACES},
    **{f"read: {name}": {LISTED}
       for name in ("secret", "checkout", "git config")},
    "read: journal": {LISTED, NAMESPACES},
    "read: neighbour's file": {LISTED, NAMESPACES},
    "move the target branch": FILES,
    "move the fence of a neighbour": FILES,
    "empty the journal": FILES,
    "commit outside of its lane": {GATE},
    "hold the gate of the journal": {LISTED, NAMESPACES},
    **{f"signal: {name}": PROCESSES for name in ("worker", "supervisor", "neighbour")},
    **{f"limit: {name}": {SECCOMP, NAMESPACES} for name in ("worker", "supervisor", "neighbour")},
    "read the environment: worker": {PLAIN_USER},
    "read the environment: supervisor": {PLAIN_USER},
    "read the environment: neighbour": PROCESSES,
    **{f"read the command line: {name}": {NAMESPACES}
       for name in ("worker", "supervisor", "neighbour")},
    "change the priority of a neighbour": {NAMESPACES},
    "keep capabilities": {PLAIN_USER},
    "gain rights by setuid programs": {LANDLOCK, SECCOMP, NAMESPACES},
    "have the user's terminal": {ALWAYS},
    "type into the user's terminal": {PLAIN_USER, SECCOMP},
    "use an inherited descriptor": {ALWAYS},
    "reach an abstract socket": {LANDLOCK, NO_SOCKETS},
    "reach a named socket": {NO_SOCKETS, NAMED_SOCKETS},
    "reach a named socket in /tmp": {NO_SOCKETS, NAMED_SOCKETS, NAMESPACES},
    "connect to a port that is not listed": {LANDLOCK},
    "listen on a port that is not listed": {LANDLOCK},
}  # fmt: skip

# Every operator verb of a fleet, with the words that it needs to be understood at all.
OPERATOR_VERBS = {
    "up": ["up", "--until-idle"],
    "down": ["down", "--now"],
    "pause": ["pause"],
    "resume": ["resume"],
    "halt": ["halt", "--handle", "7"],
    "config set": ["config", "set", "workers.test", "true"],
    "config unset": ["config", "unset", "lanes.autopick"],
    "init": ["init"],
    "decisions answer": ["decisions", "answer", "x", "retry"],
    "decide-for": ["decide-for", "x", "retry"],
    "salvage apply": ["salvage", "apply", "1"],
    "salvage drop": ["salvage", "drop", "1"],
    "journal import": ["journal", "import", "/dev/null"],
    "journal prune": ["journal", "prune"],
    "journal compact": ["journal", "compact"],
    "reap": ["reap", "--apply"],
    "receipt-key make": ["receipt-key", "make"],
    "web": ["web"],
    "attest": ["attest", "--claim", "c", "--accept-cmd", "true"],
    "service install": ["service", "install"],
    "service status": ["service", "status"],
    "service remove": ["service", "remove"],
    "hooks install": ["hooks", "install", "claude-code"],
    "hooks uninstall": ["hooks", "uninstall", "claude-code"],
    "hooks test": ["hooks", "test", "claude-code"],
    "agents test": ["agents", "test", "claude_code"],
    "plan add": ["plan", "add", "DEMO/9", "More"],
    "steer": ["steer", "two", "Stop"],
    "notify decisions": ["notify", "decisions"],
    "notify top": ["notify", "top"],
    "export": ["export"],
    "hooks git install": ["hooks", "git", "install"],
    "hooks git remove": ["hooks", "git", "remove"],
    "limits lift": ["limits", "lift"],
    "lease-lane adopt": ["lease-lane", "adopt", "--lane", "two", "--owner", "me"],
    "lease-lane reap": ["lease-lane", "reap", "--lane", "two"],
    "lease-lane release": ["lease-lane", "release", "--lane", "two", "--owner", "me"],
}

# Each verb takes a quarter of a second: all of them are tried where nothing else stops them, in the
# two guises that `tests/cli/test_operator_verbs.py` does not try on all.
FEW_VERBS = ("pause", "lease-lane release")


class Machine(Struct, frozen=True, kw_only=True):
    """A machine and a setting: how `dos up` is started, and what is active then."""

    settings: str
    active: set[str]
    missing: str = ""  # system calls that fail there


LANDLOCK_PARTS = {LANDLOCK, SECCOMP, LISTED, PLAIN_USER, GATE}
MACHINES = {
    "landlock": Machine(settings='level = "landlock"', active=LANDLOCK_PARTS),
    "landlock and namespaces": Machine(
        settings='level = "auto"\nsockets = "none"',
        active={*LANDLOCK_PARTS, NAMESPACES, NO_SOCKETS},
    ),
    "without landlock": Machine(
        settings='level = "auto"', active={SECCOMP, NAMESPACES, PLAIN_USER}, missing="landlock"
    ),
    "without landlock and namespaces": Machine(
        settings='level = "auto"\nsockets = "none"',
        active={SECCOMP, NO_SOCKETS, PLAIN_USER},
        missing="landlock,unshare",
    ),
    "off": Machine(settings='level = "off"', active=set()),
}


class HostileFleet(Fleet):
    """A user with a home, a terminal and servers, whose fleet has a hostile agent."""

    def __init__(self, folder: Path, machine: Machine) -> None:
        super().__init__(Repository(folder))
        self.folder = folder
        self.machine = machine
        self.home = folder / "home"
        self.share = folder / "tool" / "share"
        self.mark = f"dos-test-daemon-{os.getpid()}-{folder.name}"
        self.resources = ExitStack()
        self.terminal, self.own_end = pty.openpty()
        self._make_home()
        self._make_agent()
        self._configure()

    def _make_home(self) -> None:
        for name in (".claude", ".ssh", "victims"):
            (self.home / name).mkdir(parents=True)
        for name in (".bashrc", ".claude/settings.json", ".ssh/id", "victims/a", "victims/b"):
            (self.home / name).write_text("{}\n")

    def _make_agent(self) -> None:
        program = self.share.parent / "bin" / "claude"
        program.parent.mkdir(parents=True)
        self.share.mkdir()
        program.write_text(f"#!{sys.executable}\n" + (HERE / "hostile_agent.py").read_text())
        program.chmod(0o755)
        captured = HERE.parent / "fixtures" / "agents" / "claude-ok.jsonl"
        shutil.copy(captured, self.share / "ok.jsonl")
        shutil.copy(HERE / "operator_verbs.py", self.share)
        few = {name: OPERATOR_VERBS[name] for name in FEW_VERBS}
        (self.share / "few.json").write_text(json.dumps(few))
        every = few if self.machine.active else OPERATOR_VERBS
        (self.share / "every.json").write_text(json.dumps(every))

    def _configure(self) -> None:
        config = self.repository.root / "dos.toml"
        scripted = f'agent = "scripted"\ncommand = ["{self.repository.script}"]\n'
        program = f'agent = "claude_code"\n\n[agents.claude_code]\ncommand = ["{self.program}"]\n'
        config.write_text(config.read_text().replace(scripted, program))
        self.repository.set_walls(self.machine.settings)
        self.repository.commit_all("Hire")
        if GATE in self.machine.active:
            assert self.dos("hooks", "git", "install").returncode == 0

    @property
    def program(self) -> str:
        return str(self.share.parent / "bin" / "claude")

    def start(self) -> subprocess.Popen[str]:
        """`dos up` on the user's terminal, with a descriptor that is open for its children."""
        words = [
            sys.executable,
            "-m",
            "dos",
            "up",
            "--tick",
            "0.3",
            "--until-idle",
            "--target",
            "2",
        ]
        if self.machine.missing:
            words = old_kernel.command(errno.ENOSYS, self.machine.missing, *words)
        secret = self.resources.enter_context((self.home / ".ssh" / "id").open())
        process = subprocess.Popen(
            words,
            cwd=self.repository.root,
            stdin=self.own_end,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=[secret.fileno()],
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.started.append(process)
        return process

    def aim(self, supervisor: int) -> dict[str, object]:
        """Tell the agent what to try its attempts on, as soon as both lanes are at work."""
        root = self.repository.root
        found = workspace.find(root)
        worker, other = self.worker_at("one"), self.worker_at("two")
        neighbour = wait_for(lambda: self._agent_of(other))
        journal = found.state / "state.db"
        assert journal.exists(), list(found.state.iterdir())
        lane = found.worktrees / "two"
        targets: dict[str, object] = {
            "checkout": root / "one" / "keep",
            "plan": root / "docs" / "demo-plan.md",
            "settings": root / "dos.toml",
            "shell start-up": self.home / ".bashrc",
            "program settings": self.home / ".claude" / "settings.json",
            "secret": self.home / ".ssh" / "id",
            "git": root / ".git",
            "git config": root / ".git" / "config",
            "git exclude": root / ".git" / "info" / "exclude",
            "grafts": root / ".git" / "info" / "grafts",
            "hook": root / ".git" / "hooks" / "post-checkout",
            "journal": journal,
            "gate": f"{journal}-gate",
            "new file": self.home / "new",
            "victim": self.home / "victims" / "a",
            "another": self.home / "victims" / "b",
            "neighbour's file": lane / "two" / "keep",
            "neighbour's git": lane / ".git" / "HEAD",
            "neighbour's home": found.homes / "two" / "left",
            "in /tmp": f"/tmp/{self.mark}",
            "in /dev/shm": f"/dev/shm/{self.mark}",
            "terminal": os.ttyname(self.own_end),
        }
        targets = {name: str(path) for name, path in targets.items()}
        targets |= {
            "base": self.repository.git("rev-parse", "main"),
            "neighbour's fence": self.repository.git("rev-parse", "refs/dos/fence/two"),
            "worker": worker,
            "supervisor": supervisor,
            "neighbour": neighbour,
            "mark": self.mark,
            "abstract": self._serve(socket.AF_UNIX, f"\0{self.mark}")[1:],
            "socket": self._serve(socket.AF_UNIX, str(self.folder / "s")),
            "socket in /tmp": self._serve(socket.AF_UNIX, f"/tmp/{self.folder.name}.socket"),
            "port": self._serve_on_low_port(),
            "free port": self._free_low_port(),
            "guises": self._guises(),
        }
        (self.share / "new").write_text(json.dumps(targets))
        (self.share / "new").rename(self.share / "targets.json")
        return targets

    def _agent_of(self, worker: int) -> int | None:
        for process in psutil.Process(worker).children(recursive=True):
            with suppress(psutil.Error):  # a git of the worker may have ended
                if self.program in process.cmdline():
                    return process.pid
        return None

    def _serve(self, family: int, address):
        server = self.resources.enter_context(socket.socket(family))
        server.bind(address)
        server.listen()
        return address

    def _serve_on_low_port(self) -> int:
        """Below those that the system hands out, and above those of lanes."""
        for port in range(31_000, 32_000):
            server = socket.socket()
            try:
                server.bind(("127.0.0.1", port))
            except OSError:
                server.close()
                continue
            self.resources.enter_context(server).listen()
            return port
        raise AssertionError("every port is taken")

    def _free_low_port(self) -> int:
        for port in range(30_000, 31_000):
            with socket.socket() as server:
                try:
                    server.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port
        raise AssertionError("every port is taken")

    def _guises(self) -> dict[str, list[str]]:
        """In which an agent calls the verbs of people."""
        words = [sys.executable, str(self.share / "operator_verbs.py"), str(self.repository.root)]
        every = [*words, str(self.share / "every.json")]
        words.append(str(self.share / "few.json"))
        with World(self.repository.root) as world:
            (other,) = [lease for lease in world.journal.leases() if lease.lane == "two"]
        by_number = ["env", f"DOS_LEASE_KEY={other.key_hash}", "DOS_LANE=two"]
        by_number.append(f"DOS_FENCE={other.fence}")
        daemon = f"(setsid env -i {' '.join(every)} > said 2>&1; mv said done) & "
        wait = "while ! test -e done; do sleep 0.05; done; cat done; rm done"
        guises = {
            "with the fence of another lane": [*by_number, *words],
            "from a daemon": ["sh", "-c", f"({daemon}) ; {wait}"],
        }
        if FILES & self.machine.active:
            return guises
        return guises | {
            "with its key": words,
            "with the key unset": ["env", "-u", "DOS_LEASE_KEY", *words],
            "without environment": ["env", "-i", *every],
        }

    def snapshot(self) -> dict[str, bytes]:
        """All that is the user's and that no landing changes."""
        root = self.repository.root
        folders = [self.home / name for name in (".claude", ".ssh", "victims")]
        folders += [root / "docs", root / ".git" / "hooks", root / ".git" / "info"]
        paths = [path for folder in folders for path in folder.rglob("*")]
        paths += [path for path in self.home.iterdir() if path.is_file()]
        paths += [root / "dos.toml", root / ".git" / "config"]
        return {str(path): path.read_bytes() for path in paths if path.is_file()}

    def end(self) -> None:
        (self.share / "go").touch()
        super().end()
        self.resources.close()
        os.close(self.own_end)
        os.close(self.terminal)
        for name in (f"/tmp/{self.mark}", f"/dev/shm/{self.mark}"):
            Path(name).unlink(missing_ok=True)
        Path(f"/tmp/{self.folder.name}.socket").unlink(missing_ok=True)


def skip_where_parts_are_missing(machine: Machine) -> None:
    support = probe()
    if machine.missing and not seccomp.is_known():
        pytest.skip("the test's filter is for machines that we know")
    if LANDLOCK in machine.active and not (support.has_ports and support.has_scopes):
        pytest.skip(f"Landlock has version {support.landlock_abi}: {support.landlock_missing}")
    if NAMESPACES in machine.active and not support.namespaces:
        pytest.skip(f"no namespaces: {support.namespaces_missing}")
    if SECCOMP in machine.active and not support.seccomp:
        pytest.skip(f"no seccomp: {support.seccomp_missing}")


@pytest.fixture(params=MACHINES, ids=lambda name: name.replace(" ", "-"))
def hostile(request, monkeypatch):
    machine = MACHINES[request.param]
    skip_where_parts_are_missing(machine)
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "home" / ".config"))
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    fleet = HostileFleet(folder, machine)
    yield fleet
    fleet.end()
    shutil.rmtree(folder)


def expected_successes(machine: Machine) -> set[str]:
    active = {ALWAYS, *machine.active}
    if os.geteuid() != 0:
        active.add(PLAIN_USER)
    if LANDLOCK in active and probe().has_named_sockets:
        active.add(NAMED_SOCKETS)
    return {name for name, walls in STOPPED_BY.items() if not walls & active}


@pytest.mark.soak
def test_an_agent_can_do_what_no_active_wall_stops_and_nothing_else(hostile):
    before = hostile.snapshot()
    process = hostile.start()
    targets = hostile.aim(process.pid)
    wait_for(lambda: "DEMO/A2" in landed(hostile) or process.poll() is not None)
    (hostile.share / "go").touch()
    story, _ = process.communicate(timeout=PATIENCE)
    show = hostile.repository.git
    assert landed(hostile) == ["DEMO/A1", "DEMO/A2", "DEMO/B1"], story
    could = json.loads(show("show", "main:one/could.json"))
    attempts = could["attempts"]
    for name in ("/tmp", "/dev/shm"):  # where it is private, nobody else sees what was left
        if not Path(str(targets[f"in {name}"])).exists():
            attempts[f"leave a file in {name}"] = "private"
    assert attempts.keys() == STOPPED_BY.keys()
    succeeded = {name for name, failure in attempts.items() if not failure}
    assert succeeded == expected_successes(hostile.machine), attempts
    assert not any(could["honest"].values()), could["honest"]
    check_verbs(hostile, could["verbs"])
    check_what_is_left(hostile, before)
    if hostile.machine.missing:
        assert "files outside of the lane are not protected by Landlock" in story


def check_verbs(hostile: HostileFleet, said: dict[str, str]) -> None:
    """Every verb was refused in every guise; a person beside it is obeyed."""
    codes = {guise: json.loads(text) for guise, text in said.items()}
    assert len(codes) >= 2
    for guise, of_verbs in codes.items():
        assert set(of_verbs.values()) == {REFUSED}, (guise, of_verbs)
    if not hostile.machine.active:
        assert codes["without environment"].keys() == OPERATOR_VERBS.keys()
        assert codes["from a daemon"].keys() == OPERATOR_VERBS.keys()
    kinds = {event["kind"] for event in history(hostile)}
    assert not {"pause_requested", "drain_requested", "resume_requested"} & kinds
    assert hostile.dos("pause").returncode == 0


def check_what_is_left(hostile: HostileFleet, before: dict[str, bytes]) -> None:
    """No process, no poison, and where files are protected not a byte of the user's is another."""
    repository = hostile.repository
    assert json.loads(repository.git("show", "main:one/poison.json")) == []
    for process in psutil.process_iter(["cmdline"]):
        assert hostile.mark not in (process.info["cmdline"] or []), "the daemon lives on"
    after = hostile.snapshot()
    if not FILES & hostile.machine.active:
        victim = str(hostile.home / "victims" / "b")
        assert before.pop(victim) and victim not in after
    assert after == before
    subjects = ["Begin", "Hire", *(f"Work on DEMO/{unit}" for unit in ("A1", "A2", "B1"))]
    assert sorted(repository.subjects()) == subjects


def test_every_operator_verb_that_the_table_of_verbs_knows_is_tried():
    guarded = {name for name, verb in VERBS.items() if verb.allowed != ANYONE}
    elsewhere = {
        "worker",
        "demo",
        "quickstart",
        "serve",
    }  # these start processes, and are no orders
    tried = {name.replace("git install", "git").replace("git remove", "git")
             for name in OPERATOR_VERBS}  # fmt: skip
    assert tried == guarded - elsewhere
