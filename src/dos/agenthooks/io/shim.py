"""The hook command of agent programs: `python -I -S SHIM MOMENT [--dialect NAME] ...`.

It asks the server of the workspace, or the worker of the fleet, over a unix socket, and prints what
comes back. An agent waits for it at every tool call, so it imports nothing that is not built into
the interpreter: no site, no json, no package. Without an answer, `dos hook` with the same input
takes its place in this process: a person's agent gets the verdict from there, and an agent of the
fleet (it carries the key of a lease) may then only read.
"""

import _socket
import posix
import sys
import time

SOCKET_VARIABLE = b"DOS_HOOK_SOCKET"
KEY_VARIABLE = b"DOS_LEASE_KEY"
SOCKET_BELOW_STATE = b"/server/socket"
# By the dialect; those of `dos.agenthooks.dialects`, which cannot be imported here.
PROJECT_VARIABLES = {
    "claude-code": b"CLAUDE_PROJECT_DIR",
    "gemini": b"GEMINI_PROJECT_DIR",
    "cursor": b"CURSOR_PROJECT_DIR",
}
MOMENTS = ("pretool", "posttool", "stop", "marker", "session")
DEFAULT_DIALECT = "claude-code"
SECONDS = 8.0  # less than the hosts wait
LONGEST_EVENT = 16 << 20
LONGEST_FILE = 4096  # of the files of git that name a folder
PIECE = 1 << 16
UNANSWERED = "--unanswered"


class Syntax:
    """What the JSON scanner of the interpreter asks for; `json` would be slow to import."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012


def main() -> None:
    """Answer one event, and exit with 0; or become `dos hook`."""
    words = sys.argv[1:]
    if posix.isatty(0):
        become_dos(words, None, unanswered=False)
    event = read_all(0, LONGEST_EVENT + 1)
    answer = None
    moment, dialect = plain_call(words)
    if moment and event.strip() and len(event) <= LONGEST_EVENT:
        parsed = decode(event)
        if isinstance(parsed, dict):
            answer = ask(find_socket(parsed, dialect), request(moment, dialect, event))
    if answer is None:
        become_dos(words, event, unanswered=KEY_VARIABLE in posix.environ)
        return
    write_all(1, text_of(answer, "stdout"))
    warnings = text_of(answer, "stderr")
    if warnings:
        write_all(2, warnings + b"\n")
    posix._exit(0)


def plain_call(words: list[str]) -> tuple[str, str]:
    """Return the moment and the dialect of a call that the socket can answer; ("", "") for one
    with options, which are those of the command."""
    if len(words) == 1 and words[0] in MOMENTS:
        return words[0], DEFAULT_DIALECT
    if len(words) == 3 and words[0] in MOMENTS and words[1] == "--dialect":
        return words[0], words[2]
    return "", ""


def request(moment: str, dialect: str, event: bytes) -> bytes:
    """Return the line that asks. In JSON a line break is white space: texts escape theirs."""
    name = dialect.replace("\\", "").replace('"', "")
    head = '{"v":1,"ask":"hook","moment":"%s","dialect":"%s","event":' % (moment, name)  # noqa: UP031
    line = event.replace(b"\n", b" ").replace(b"\r", b" ")
    return head.encode("utf-8", "replace") + line + b"}\n"


def find_socket(event: dict[str, object], dialect: str = DEFAULT_DIALECT) -> bytes:
    """Return the path of the socket to ask; b"" where there is none.

    It is that of the workspace in which the hook was set up. The folder of the event is that of the
    agent, which can go where no server is, so it is looked at last.
    """
    named = posix.environ.get(SOCKET_VARIABLE)
    if named:
        return named
    project = posix.environ.get(PROJECT_VARIABLES.get(dialect, b""), b"")
    folders: list[object] = [project.decode("utf-8", "surrogateescape")]
    try:
        folders.append(posix.getcwd())
    except OSError:
        pass
    folders.append(event.get("cwd"))
    for folder in folders:
        if isinstance(folder, str) and folder.startswith("/") and "\0" not in folder:
            path = socket_of(folder)
            if exists(path):
                return path
    return b""


def socket_of(folder: str) -> bytes:
    """Return the socket of the server whose workspace holds a folder; b"" where there is none.

    The state directory is found as `dos.workspace` finds it: in git's common directory, or outside
    of git beside the nearest dos.toml.
    """
    start = real_path(folder)
    configured = b""
    while True:
        common = common_directory(start)
        if common:
            return common + b"/dos" + SOCKET_BELOW_STATE
        if not configured and exists(start + b"/dos.toml"):
            configured = start
        if start in (b"", b"/"):
            break
        start = start.rpartition(b"/")[0]
    return (configured or real_path(folder)) + b"/.dos" + SOCKET_BELOW_STATE


def common_directory(folder: bytes) -> bytes:
    """Return git's common directory of a work tree; b"" for a folder that is not the top of one."""
    marker = folder + b"/.git"
    if exists(marker + b"/HEAD"):
        return marker
    text = read_file(marker)
    if not text.startswith(b"gitdir:"):
        return b""
    private = joined(folder, text[len(b"gitdir:") :].strip())
    named = read_file(private + b"/commondir").strip()
    common = real_path(joined(private, named) if named else private)
    return common if exists(common + b"/HEAD") else b""


def joined(folder: bytes, path: bytes) -> bytes:
    """Return a path that may be relative to a folder."""
    return path if path.startswith(b"/") else folder + b"/" + path


def real_path(path: str | bytes) -> bytes:
    """Return where a folder really is: the kernel knows, without a walk over its links."""
    name = path.encode("utf-8", "surrogateescape") if isinstance(path, str) else path
    try:
        before = posix.open(".", posix.O_RDONLY)
    except OSError:
        return name
    try:
        posix.chdir(name)
        return posix.getcwdb()
    except (OSError, ValueError):
        return name
    finally:
        posix.fchdir(before)
        posix.close(before)


def exists(path: bytes) -> bool:
    """Whether there is a file."""
    try:
        posix.stat(path)
    except (OSError, ValueError):
        return False
    return True


def read_file(path: bytes) -> bytes:
    """Return the beginning of a file; b"" where it cannot be read."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY)
    except (OSError, ValueError):
        return b""
    try:
        return posix.read(descriptor, LONGEST_FILE)
    except OSError:
        return b""
    finally:
        posix.close(descriptor)


def ask(path: bytes, line: bytes) -> dict[str, object] | None:
    """Return the answer to a line; None where there is none in time.

    The path of a socket is bound to 107 bytes, so it is called from inside of its folder.
    """
    if not path:
        return None
    folder, _, name = path.rpartition(b"/")
    deadline = time.monotonic() + SECONDS
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        before = posix.open(".", posix.O_RDONLY)
        posix.chdir(folder or b"/")
        try:
            connection.settimeout(SECONDS)
            connection.connect(name)
        finally:
            posix.fchdir(before)
            posix.close(before)
        connection.sendall(line)
        pieces = b""
        while not pieces.endswith(b"\n"):
            connection.settimeout(max(0.001, deadline - time.monotonic()))
            piece = connection.recv(PIECE)
            if not piece:
                break
            pieces += piece
    except OSError:
        return None
    finally:
        connection.close()
    answer = decode(pieces)
    if not isinstance(answer, dict) or not isinstance(answer.get("stdout"), str):
        return None  # an error: the server has no answer to this
    return answer


def decode(text: bytes) -> object:
    """Return the value of a JSON text; None for any other."""
    from _json import make_scanner

    try:
        content = text.decode().strip()
        value, end = make_scanner(Syntax)(content, 0)  # type: ignore[arg-type]
    except (ValueError, StopIteration, RecursionError, SystemError):
        return None  # SystemError: the scanner finds no `json` to make its error with
    return value if end == len(content) else None


def text_of(answer: dict[str, object], key: str) -> bytes:
    """Return a text of an answer."""
    value = answer.get(key)
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""


def read_all(descriptor: int, most: int) -> bytes:
    """Return what is there until its end, but no more than `most`."""
    pieces = []
    size = 0
    while size < most:
        piece = posix.read(descriptor, PIECE)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def write_all(descriptor: int, content: bytes) -> None:
    """Write everything, unless the reader is gone."""
    try:
        while content:
            content = content[posix.write(descriptor, content) :]
    except OSError:
        return


def become_dos(words: list[str], event: bytes | None, *, unanswered: bool) -> None:
    """Become `dos hook` with the same input, which a child of this process writes.

    With `unanswered` it refuses what is more than a read, as nobody has judged it.
    """
    if event is not None:
        reading, writing = posix.pipe()
        if posix.fork() == 0:
            posix.close(reading)
            while event:
                write_all(writing, event)
                event = posix.read(0, PIECE)  # of one that is too long for a socket
            posix._exit(0)
        posix.close(writing)
        posix.dup2(reading, 0)
        posix.close(reading)
    command = [sys.executable, "-I", "-m", "dos", "hook", *words]
    if unanswered and words[:1] == ["pretool"]:
        command.append(UNANSWERED)
    try:
        posix.execv(sys.executable, command)
    except OSError as error:
        write_all(2, b"warning: dos hook: " + str(error).encode("utf-8", "replace") + b"\n")
        posix._exit(0)


if __name__ == "__main__":
    main()
