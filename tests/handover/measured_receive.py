"""Receive a pack from a file in a process of its own; print the rule that refused it and the most
memory, in kilobytes, that one git took. With `die` the process is killed after the move."""

import os
import resource
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lane_repository import SMALL

from dos.git.repository import Writer
from dos.handover.io.receive import Received, receive


def main(root: str, data: str, head: str, base: str, way: str = "") -> None:
    with open(data, "rb", buffering=0) as stream:
        answer = receive(
            Writer(Path(root)),
            stream,
            head=head,
            base=base,
            limits=SMALL,
            exit_status=lambda: 0,
        )
    if isinstance(answer, Received):
        answer.move_in()
        if way == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        answer.close()
    rule = "taken" if isinstance(answer, Received) else answer.rule
    sys.stdout.write(f"{rule} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
