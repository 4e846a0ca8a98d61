"""A PostgreSQL server of the tests' own: a fresh cluster in a temporary directory, on loopback,
that can be killed.

    with PostgresServer() as server:
        url = server.createdb("fleet")
        server.kill()
        server.start()

It syncs for real. As root it runs as another user, because PostgreSQL refuses to be root.
"""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self
from urllib.parse import quote

import psutil
import psycopg
from patience import wait_until_ended
from psycopg import sql

START_SECONDS = 300
INSTALL_SECONDS = 300
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "max_wal_size": "128MB",
    "listen_addresses": "127.0.0.1",
}
StopMode = Literal["smart", "fast", "immediate"]
STOP_SIGNALS: dict[StopMode, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}


_CLUSTERS: list[tempfile.TemporaryDirectory[str]] = []


class PostgresUnavailable(Exception):
    """No server can be had on this machine; the message says why."""


def find_programs() -> Path | None:
    """The directory that holds both `initdb` and `postgres`, the newest where there are several."""
    found = shutil.which("initdb")
    # A name on the PATH may be a link, or a wrapper with no server beside it.
    on_path = [Path(found).resolve().parent] if found else []
    installed = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    by_version = sorted(
        installed, key=lambda folder: [int(part) for part in re.findall(r"\d+", str(folder))]
    )
    for folder in [*on_path, *reversed(by_version)]:
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    return None


def install() -> None:
    """Install the server where that needs no questions asked: as root, from the distribution."""
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        raise PostgresUnavailable(
            "initdb is not on the PATH, and only root with apt-get could install postgresql"
        )
    silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    deadline = time.monotonic() + INSTALL_SECONDS
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "postgresql"]):
        left = max(1.0, deadline - time.monotonic())
        try:
            subprocess.run(
                [apt, "-q", *arguments],
                env=silent,
                capture_output=True,
                text=True,
                timeout=left,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            reason = f"apt-get {arguments[0]} failed: {error.stderr.strip()[-300:]}"
            raise PostgresUnavailable(f"initdb is not on the PATH, and {reason}") from error
        except subprocess.TimeoutExpired as error:
            reason = f"apt-get {arguments[0]} took longer than {INSTALL_SECONDS} s"
            raise PostgresUnavailable(f"initdb is not on the PATH, and {reason}") from error


def server_account() -> pwd.struct_passwd | None:
    """Who is to run the server: None is whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return known[name]
    raise PostgresUnavailable(
        "root may not run PostgreSQL, and there is no user postgres or nobody to run it as"
    )


class PostgresServer:
    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self.programs = find_programs()
        if self.programs is None:
            install()
            self.programs = find_programs()
        if self.programs is None:
            raise PostgresUnavailable(
                "postgresql was installed, and still has no initdb where one is looked for"
            )
        self.settings = {**SETTINGS, **(settings or {})}
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self._account = server_account()
        # Short, because the path of a unix socket may have no more than 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="pg-"))
        self.data = self.directory / "data"
        self.log = self.directory / "server.log"
        try:
            self._make_cluster()
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def dsn(self) -> str:
        return self.url("postgres")

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{quote(database, safe='')}"

    def socket_url(self, database: str) -> str:
        host = quote(str(self.directory), safe="")
        return f"postgresql://postgres@/{quote(database, safe='')}?host={host}&port={self.port}"

    def createdb(self, name: str) -> str:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.url(name)

    def has_extension(self, name: str) -> bool:
        """Whether the extension can be created: `btree_gist` comes with the contrib package."""
        with psycopg.connect(self.dsn) as connection:
            found = connection.execute(
                "SELECT 1 FROM pg_available_extensions WHERE name = %s", (name,)
            )
            return found.fetchone() is not None

    def start(self) -> None:
        if self.process is not None:
            raise RuntimeError(
                f"the server on port {self.port} is running already, as process {self.process.pid}"
            )
        options = [
            f"--{name}={value}" for name, value in {**self.settings, "port": str(self.port)}.items()
        ]
        argv = [
            self._program("postgres"),
            "-D",
            str(self.data),
            "-k",
            str(self.directory),
            *options,
        ]
        with self.log.open("ab") as log:
            self.process = self._launch(argv, log)
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise PostgresUnavailable(f"the server did not start: {self._last_words()}")
            time.sleep(0.02)

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop as an operator would: smart waits for clients, fast breaks them off, immediate
        leaves a recovery."""
        if self.process is None:
            return
        self.process.send_signal(STOP_SIGNALS[mode])
        self.process.wait(START_SECONDS)
        self.process = None

    def kill(self) -> None:
        """End the server and all its children with SIGKILL, as the death of the machine would."""
        if self.process is None:
            return
        postmaster = psutil.Process(int((self.data / "postmaster.pid").read_text().splitlines()[0]))
        # Stopped, it starts no new child between the list and the kill.
        postmaster.suspend()
        children = postmaster.children(recursive=True)
        for process in (postmaster, *children):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue  # it had just ended by itself
        self.process.wait(START_SECONDS)
        self.process = None
        wait_until_ended(children)

    def restart(self, mode: StopMode = "fast") -> None:
        self.stop(mode)
        self.start()

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop("immediate")
        self.process = None
        shutil.rmtree(self.directory)

    def _make_cluster(self) -> None:
        """The first of a process is made; the next ones are copies of it, as it was before it was
        ever started."""
        if self._account is not None:
            os.chown(self.directory, self._account.pw_uid, self._account.pw_gid)
        self.log.touch()
        if not _CLUSTERS:
            self._initialise()
            _CLUSTERS.append(
                tempfile.TemporaryDirectory(prefix="pg-first-")
            )  # removed when the process ends
            self._copy(self.data, Path(_CLUSTERS[0].name, "data"))
        else:
            self._copy(Path(_CLUSTERS[0].name, "data"), self.data)

    def _copy(self, source: Path, target: Path) -> None:
        subprocess.run(["cp", "-a", source, target], check=True)

    def _initialise(self) -> None:
        argv = [
            self._program("initdb"),
            "-D",
            str(self.data),
            "--username=postgres",
            "--auth=trust",
            "--no-sync",
        ]
        with self.log.open("ab") as log:
            made = self._launch([*argv, "--encoding=UTF8", "--locale=C", "--data-checksums"], log)
        if made.wait(START_SECONDS) != 0:
            raise PostgresUnavailable(f"initdb failed: {self._last_words()}")

    def _launch(self, argv: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        # The caller's PGDATA, PGPORT and the like would reach into the server.
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PG", "LD_PRELOAD"))
        }
        account: dict[str, Any] = {}
        if self._account is not None:
            account = {
                "user": self._account.pw_uid,
                "group": self._account.pw_gid,
                "extra_groups": [],
            }
        return subprocess.Popen(
            argv,
            cwd=self.directory,
            env={**inherited, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # an interrupt typed at the tests is theirs to handle
            **account,
        )

    def _ready(self) -> bool:
        status = self.data / "postmaster.pid"
        lines = status.read_text().splitlines() if status.exists() else []
        # A file left by a killed server names another process.
        mine = self.process is not None and lines[:1] == [str(self.process.pid)]
        return mine and len(lines) > 7 and lines[7].strip() == "ready"

    def _program(self, name: str) -> str:
        assert self.programs is not None
        return str(self.programs / name)

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace").strip()[-500:]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
