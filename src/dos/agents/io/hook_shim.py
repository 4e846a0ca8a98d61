"""The hook command of an agent of the fleet: ask its worker, print the answer.

Run as `python -I -S -c SOURCE MOMENT DIALECT`, so it imports nothing of dos, which may not be where
the agent is. Before a call it waits for as long as the worker lives, which watches over it. Without
an answer it exits with 2: the command line around it says so, and refuses the call. The event is on
its input, and the socket is named by DOS_HOOK_SOCKET.
"""

import _socket
import os
import sys

SECONDS = 10.0  # after a call nothing depends on the answer


def ask(path: str, moment: str, dialect: str, event: bytes) -> bytes:
    """Send one request and return the line that answers it. Raises OSError where none comes."""
    # A line break of JSON is only white space between its values.
    body = event.replace(b"\r", b" ").replace(b"\n", b" ")
    head = f'{{"v":1,"ask":"hook","moment":"{moment}","dialect":"{dialect}","event":'.encode()
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    if moment != "pretool":
        connection.settimeout(SECONDS)
    connection.connect(path)
    connection.sendall(head + body + b"}\n")
    reply = b""
    while not reply.endswith(b"\n"):
        piece = connection.recv(65536)
        if not piece:
            raise OSError("the connection ended")
        reply += piece
    return reply


def main(moment: str, dialect: str) -> int:
    """Print what the worker answers, and return the exit code of the hook."""
    import json

    try:
        event = sys.stdin.buffer.read()
        reply = json.loads(ask(os.environ["DOS_HOOK_SOCKET"], moment, dialect, event))
        answer = reply["stdout"]
    except (OSError, ValueError, KeyError):
        return 2
    sys.stdout.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
