"""Runs real programs behind walls, and the same programs without them as a control."""

import os
import sys
from pathlib import Path

import pytest
from msgspec import structs

from dos.machine import execute
from dos.machine.execute import Limits, ProcessResult
from dos.sandbox.build import Folders, build
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.sandbox.walls import Walls

LEVELS = ("landlock", "auto")

needs_landlock = pytest.mark.skipif(
    not probe().has_files, reason=f"no Landlock: {probe().landlock_missing}"
)
needs_scopes = pytest.mark.skipif(
    not probe().has_scopes, reason="Landlock cannot keep signals inside before version 6"
)
needs_ports = pytest.mark.skipif(
    not probe().has_ports, reason="Landlock has no rules on ports before version 4"
)
needs_named_sockets = pytest.mark.skipif(
    not probe().has_named_sockets,
    reason="Landlock has no rule on named sockets before version 9,"
    f" and has version {probe().landlock_abi} here",
)
needs_seccomp = pytest.mark.skipif(
    not probe().seccomp, reason=f"no seccomp: {probe().seccomp_missing}"
)
needs_namespaces = pytest.mark.skipif(
    not probe().namespaces, reason=f"no namespaces: {probe().namespaces_missing}"
)


class Lane:
    """The folders of a lane, a neighbour outside of it, and programs that run inside."""

    def __init__(self, folder: Path) -> None:
        self.outside = folder / "outside"
        self.own = folder / "state" / "lanes" / "one"
        self.lane = self.own / "repository"
        self.tmp = self.own / "tmp"
        self.home = self.own / "home"
        self.hidden = folder / "state"
        self.objects = folder / "objects"  # of the user's repository
        self.programs = {sys.prefix, sys.base_prefix, *filter(None, sys.path)}
        for path in (self.outside, self.lane, self.tmp, self.home, self.objects):
            path.mkdir(parents=True)
        (self.hidden / "journal").write_text("events\n")
        (self.objects / "object").write_text("content\n")
        (self.outside / "file").write_text("before\n")
        (self.outside / "folder").mkdir()

    def walls(self, level: str = "landlock", **settings) -> Walls:
        """Walls with these settings; what this interpreter needs can be read."""
        folders = Folders(
            lane=str(self.lane),
            tmp=str(self.tmp),
            home=str(self.home),
            writable=(str(self.own),),
            programs=tuple(self.programs),
            readable=(),
            objects=(str(self.objects),),
            hidden=(str(self.hidden),),
            ports=range(21_000, 21_010),
        )
        settings = {"reads": "all", "network": "open"} | settings
        built = build(Sandbox(level=level, **settings), probe(), folders)
        assert built is not None
        return built

    def run(self, argv, walls: Walls | None, wall: float = 60, **more) -> ProcessResult:
        environment = os.environ | {"TMPDIR": str(self.tmp), "HOME": str(self.home)}
        return execute.run(
            argv,
            cwd=self.lane,
            environment=environment | more.pop("environment", {}),
            limits=Limits(wall_seconds=wall),
            walls=walls,
            **more,
        )

    def shell(self, script: str, walls: Walls | None, **more) -> ProcessResult:
        return self.run(["sh", "-c", script], walls, **more)

    def python(self, code: str, walls: Walls | None, *words: object, **more) -> ProcessResult:
        return self.run([sys.executable, "-c", code, *map(str, words)], walls, **more)

    def with_writable(self, walls: Walls, *paths: Path) -> Walls:
        return structs.replace(walls, writable=(*walls.writable, *map(str, paths)))
