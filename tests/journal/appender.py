"""Appends to one stream as fast as it can and says after each which version it got.

python appender.py URL STATE_DIRECTORY WORKSPACE STREAM COUNT
"""

import os
import sys
from pathlib import Path

from dos.journal.backends.open import open_store


def main(url: str, directory: str, workspace: str, stream: str, count: str) -> None:
    with open_store(
        url, state_directory=Path(directory), workspace_id=workspace, actor=f"{os.getpid()}"
    ) as store:
        os.write(1, b"ready\n")
        sys.stdin.readline()  # all start together
        for number in range(int(count)):
            version = store.append(stream, "counted", {"number": number}).ver
            os.write(1, b"%d\n" % version)


if __name__ == "__main__":
    main(*sys.argv[1:])
