"""Runs verbs one after the other, each in a process of its own, and prints their exit codes.

    python operator_verbs.py WORKSPACE VERBS.json

The verbs are loaded once and forked, so that a whole table of them takes a moment.
"""

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

from dos.cli.main import run
from dos.verbs.listing.table import VERBS

LONGEST = 30  # seconds of a verb that is not refused


def exit_code(words: list[str]) -> int:
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os._exit(run(words))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    workspace, table = sys.argv[1:]
    every = json.loads(Path(table).read_text())
    for name in every.keys() & VERBS.keys():
        import_module(VERBS[name].module)
    codes = {name: exit_code(["--workspace", workspace, *words]) for name, words in every.items()}
    sys.stdout.write(json.dumps(codes))


main()
