"""What the server answers: hooks, and verbs that only read. Called in a thread for each request."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct, json

from dos.agenthooks import dialects, socket_protocol
from dos.agenthooks.events import HookEvent, Moment
from dos.agenthooks.io.answer import HookReply, answer_hook
from dos.agenthooks.io.hook_call import Caller, HookOptions, OpenWorld, set_up_directory
from dos.errors import BadInput, DosError, WorkspaceMissing
from dos.machine import commands
from dos.machine.peer import Peer
from dos.server import read_verbs
from dos.server.io import peer as peers
from dos.server.io.worlds import OtherRepository, Worlds
from dos.verbs.args import Field, fields
from dos.verbs.context import Context
from dos.verbs.invoke import invoke, reply_data
from dos.verbs.listing.table import VERBS
from dos.workspace import Workspace

TRUE = ("", "1", "true", "yes")  # of a flag in an address; `?all` means true
FALSE = ("0", "false", "no")


class VerbAnswer(Struct, frozen=True, kw_only=True):
    """What a verb replied."""

    code: int
    data: Any
    stderr: str = ""


class ServedContext(Context):
    """A context whose warnings are part of the answer, and which knows who asked."""

    def __init__(self, start: Path, place: Workspace, caller_pid: int | None = None) -> None:
        """`place` is the workspace of `start`: what is on disk there is not asked again.

        `caller_pid` is the process that asked, as the kernel named it.
        """
        super().__init__(workspace=str(start), as_json=True)
        self.caller_pid = caller_pid
        for world in (self.world, self.lenient_world):
            world.workspace = place
        self.notes: list[str] = []

    def warn(self, text: str) -> None:
        """Keep the text; one that was kept before is not repeated."""
        if text not in self.notes:
            self.notes.append(text)


class Answers:
    """Answers what is asked about one workspace."""

    def __init__(self, worlds: Worlds) -> None:
        self.place = worlds.place
        self._worlds = worlds
        self._root = worlds.place.root
        folder = worlds.place.state / socket_protocol.SOCKET_FOLDER
        self._socket = folder / socket_protocol.SOCKET_NAME

    def close(self) -> None:
        """Close the journal and all else that was opened."""
        self._worlds.close()

    def line(self, line: bytes, peer: Peer) -> bytes:
        """Return the line that answers a line of a socket. No program but git is started for it.

        Who asks may be behind walls that this process is not behind.
        """
        with commands.refused("the socket of the server starts no program"):
            return self._line(line, peer)

    def _line(self, line: bytes, peer: Peer) -> bytes:
        """Return the line that answers a line."""
        try:
            request = socket_protocol.parse_request(line)
            if request.ask == read_verbs.HOOK:
                caller = peers.caller_of(peer)
                reply = self.hook(request.moment, request.dialect, request.event, caller)
                return socket_protocol.hook_reply(reply.stdout, reply.stderr)
            answer = self._ask(request, peer)
            return socket_protocol.verb_reply(answer.code, answer.data, answer.stderr)
        except DosError as error:
            return socket_protocol.error_reply(error)

    def hook(
        self, moment: str, dialect: str, event: Mapping[str, Any], caller: Caller
    ) -> HookReply:
        """Answer the hook of a program. Raises BadInput for a hook of another repository."""
        name = dialect or dialects.DEFAULT
        start = self._set_up_directory(dialects.parse(name, moment, event), caller)
        self._worlds.find(start)
        open_world: OpenWorld = self._worlds.open_world
        if moment == Moment.STOP:
            open_world = self._worlds.open_unshared  # it asks git, whose process has one user
        with commands.refused("the server starts no program for a hook"):
            return answer_hook(
                moment,
                name,
                event,
                caller=caller,
                open_world=open_world,
                open_store=self._worlds.open_store,
                options=HookOptions(start=start),
            )

    def verb(
        self, name: str, arguments: Mapping[str, Any], *, start: Path, caller_pid: int | None = None
    ) -> VerbAnswer:
        """Run a verb in the workspace of a folder. Raises what `Worlds.find` and the verb raise."""
        context = ServedContext(start, self._worlds.find(start), caller_pid)
        try:
            reply = invoke(name, arguments, context)
            data = json.decode(json.encode(reply_data(reply, explained=False), order="sorted"))
            context.warn_of_config_errors()
            notes = [*context.notes, reply.stderr] if reply.stderr else context.notes
            return VerbAnswer(code=reply.code, data=data, stderr="\n".join(notes))
        finally:
            context.close()

    def api(self, name: str, given: Mapping[str, tuple[str, ...]]) -> VerbAnswer:
        """Run a read verb with arguments of an address. Raises BadInput for what is not served."""
        read_verbs.check(name, given)
        arguments = typed_arguments(name, given)
        return self.verb(name, arguments, start=self._root)

    def _ask(self, request: socket_protocol.Request, peer: Peer) -> VerbAnswer:
        """Run the verb that a socket asks."""
        name = request.ask
        start = self._directory_of(peer.pid)
        if name == read_verbs.LANE:
            if request.arguments:
                raise BadInput("`lane` takes no arguments: the kernel says who asks")
            return self.verb("whoami", {}, start=start, caller_pid=peer.pid)
        if name not in read_verbs.socket_asks():
            raise socket_protocol.unknown_ask(name, read_verbs.socket_asks())
        read_verbs.check(name, request.arguments)
        return self.verb(name, request.arguments, start=start, caller_pid=peer.pid)

    def _set_up_directory(self, event: HookEvent, caller: Caller) -> Path:
        """Return where a hook was set up: this workspace, for one that was given its address."""
        if caller.pid is None:
            return self._root
        named = caller.environment.get(socket_protocol.SOCKET_VARIABLE, "")
        if named and os.path.realpath(named) == os.path.realpath(self._socket):
            return self._root
        return set_up_directory(event, caller.environment, _process_directory(caller.pid))

    def _directory_of(self, pid: int) -> Path:
        """Return where a process works, if that is in this repository; else the root.

        Raises BadInput where it is in this repository and not in its workspace.
        """
        directory = _process_directory(pid)
        try:
            if directory is not None:
                self._worlds.find(directory)
        except (OSError, OtherRepository, WorkspaceMissing):
            return self._root
        return directory or self._root


def _process_directory(pid: int) -> Path | None:
    """Return where a process works; None where that cannot be known."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def typed_arguments(name: str, given: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the texts of an address as the types that the verb declares. Raises BadInput."""
    known = {
        field.name.strip("_"): field for field in fields(import_module(VERBS[name].module).Args)
    }
    found: dict[str, Any] = {}
    for key, texts in given.items():
        field = known[key.strip("_")]
        if field.many:
            found[key] = [_typed(key, text, field) for text in texts]
        elif len(texts) == 1:
            found[key] = _typed(key, texts[0], field)
        else:
            raise BadInput(f"{key} stands {len(texts)} times", hint="Give it once.")
    return found


def _typed(key: str, text: str, field: Field) -> Any:
    """Return one text as the type of its argument."""
    if field.type is bool:
        if text.lower() in TRUE:
            return True
        if text.lower() in FALSE:
            return False
        raise BadInput(f"{key} must be true or false, not {text[:80]!r}")
    if field.type not in (int, float):
        return text
    try:
        return field.type("" if "_" in text else text)
    except ValueError:
        raise BadInput(f"{key} must be a number, not {text[:80]!r}") from None
