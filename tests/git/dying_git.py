"""A `git` in front of the real one that dies at a seeded share of our own calls, as a busy machine
makes it."""

import shutil
from pathlib import Path

# Our own git is known by its settings: an agent's is left alone. Calls are counted by the bytes of
# a file.
SCRIPT = """#!/bin/sh
case "$*" in *core.hooksPath=/dev/null*) ;; *) exec {git} "$@" ;; esac
printf x >> {calls}
number=$(stat -c %s {calls})
chance=$(( (number * 7919 + {seed} * 104729) % 1000 ))
[ $chance -lt {share} ] || exec {git} "$@"
printf x >> {deaths}
way=$(( number % 3 ))
# `cat-file --batch` is done only when its input ends, so it never dies the third way.
case "$*" in *"cat-file --batch"*) way=$(( number % 2 )) ;; esac
case $way in
0) echo "fatal: it died before it began" >&2; exit 128 ;;
1) kill -KILL $$ ;;
2) {git} "$@" > /dev/null 2>&1; echo "fatal: it died when it was done" >&2; exit 128 ;;
esac
"""


class DyingGit:
    def __init__(self, folder: Path, *, seed: int, share: float) -> None:
        """The share of the calls that die is a number from 0 to 1."""
        self.folder = folder / "dying"
        self.folder.mkdir()
        self.calls, self.deaths = folder / "calls", folder / "deaths"
        self.calls.touch()
        self.deaths.touch()
        program = self.folder / "git"
        program.write_text(
            SCRIPT.format(
                git=shutil.which("git"),
                calls=self.calls,
                deaths=self.deaths,
                seed=seed,
                share=round(share * 1000),
            )
        )
        program.chmod(0o755)

    def path(self, before: str) -> str:
        """A PATH on which this git is found first."""
        return f"{self.folder}:{before}"

    @property
    def died(self) -> int:
        return self.deaths.stat().st_size
