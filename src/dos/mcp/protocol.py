"""The Model Context Protocol, without a transport: one message in, at most one answer out.

Versions 2025-06-18 and 2025-11-25 begin with `initialize`. 2026-07-28 has no session: each request
names its version, and `server/discover` tells what there is. A session keeps nothing but the
requests that are being answered, so it serves both kinds at once, from several threads.
"""

import threading
from collections.abc import Callable
from threading import Event
from typing import Any

from dos.errors import BadInput
from dos.mcp import catalog, prompts, resources
from dos.mcp.call import call_tool, deadline_seconds, within
from dos.mcp.catalog import Permits
from dos.text import quote
from dos.version import VERSION

Message = dict[str, Any]
Params = dict[str, Any]

SESSION_VERSIONS = ("2025-11-25", "2025-06-18")  # the newest first
STATELESS_VERSION = "2026-07-28"
VERSIONS = (STATELESS_VERSION, *SESSION_VERSIONS)
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022
BUSY = -32000
META = "io.modelcontextprotocol/"
SERVER = {"name": "dos", "title": "dispatch-os", "version": VERSION}
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
INSTRUCTIONS = (
    "dos keeps coding agents working on one git repository and believes git instead of them."
    " `verify` says whether a unit is done; `fleet`, `decisions` and `wait` show a running fleet;"
    " `arbitrate` and `lease` keep two agents off the same paths. Every answer has the exit code of"
    " its verb as `exit_code`: a refusal is an answer, and no error. Leave out `workspace`, unless"
    " you mean another repository than the one that the server was started in."
)
CALLS = ("tools/call", "resources/read")  # they run a verb; all else is answered at once
CACHEABLE = {  # their answers say for how long they hold; 0: ask again
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
}


class ProtocolError(Exception):
    """A request that gets an error as its answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Pending:
    """A request that is being answered. `ended` wakes whoever waits for the verb."""

    def __init__(self) -> None:
        self.ended = Event()
        self.is_cancelled = False

    def cancel(self) -> None:
        """Wait no longer: there is no answer to give. The verb itself is left to end."""
        self.is_cancelled = True
        self.ended.set()


class Session:
    """Answers the messages of a client.

    `workspace` is the directory that tools look at unless a call names another one; where it
    `is_alone` no call may. `permits` says what they may change. A transport that cannot tell by its
    processes who calls, as a port cannot, permits nothing.
    """

    def __init__(
        self, workspace: str = "", permits: Permits | None = None, *, is_alone: bool = False
    ) -> None:
        self._workspace = workspace
        self._is_alone = is_alone
        self._permits = permits or Permits()
        self._deadline = deadline_seconds()
        self._lock = threading.Lock()
        self._running: dict[str | int, list[Pending]] = {}  # what is being answered, by id
        self._methods: dict[str, Callable[[Params], Message]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "ping": lambda _params: {},
            "logging/setLevel": lambda _params: {},  # there is nothing to log
            "tools/list": self._list_tools,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
        }
        self._calls: dict[str, Callable[[Params, Event], Message]] = {  # that run a verb
            "tools/call": self._call_tool,
            "resources/read": self._read_resource,
        }

    def handle(self, message: Any) -> Message | None:
        """Return the answer to a message, or None for one that gets none.

        A request gets exactly one answer, unless it was cancelled meanwhile. Notifications and
        answers of the client get none. Never raises.
        """
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            what = "a batch" if isinstance(message, list) else "no JSON-RPC 2.0 message"
            return error(None, INVALID_REQUEST, f"Invalid request: this is {what}")
        if "method" not in message:
            if "result" in message or "error" in message:  # the server asks nothing
                return None
            return error(_id_of(message), INVALID_REQUEST, "Invalid request: no method")
        if "id" not in message:
            self._notice(message)
            return None
        identity = _id_of(message)
        if identity is None:
            return error(None, INVALID_REQUEST, "Invalid request: id must be text or an integer")
        pending = self._begin(identity)
        answer = self._answer(identity, message, pending)
        return None if self._end(identity, pending) else answer

    def is_long(self, message: Any) -> bool:
        """Whether a request may wait for something on purpose."""
        if not isinstance(message, dict) or message.get("method") != "tools/call":
            return False
        params = message.get("params")
        if not isinstance(params, dict):
            return False
        tool = catalog.TOOLS.get(str(params.get("name", "")).removeprefix(catalog.PREFIX))
        given = params.get("arguments")
        return tool is not None and tool.is_long(given if isinstance(given, dict) else {})

    def _answer(self, identity: str | int, message: Message, pending: Pending) -> Message:
        method = message["method"]
        params = message.get("params", {})
        try:
            if not isinstance(params, dict):
                raise ProtocolError(INVALID_PARAMS, "Invalid params: they must be an object")
            is_stateless = _is_stateless(params)
            if method in CALLS:
                result = self._calls[method](params, pending.ended)
            elif isinstance(method, str) and method in self._methods:
                result = self._methods[method](params)
            else:
                raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {quote(str(method))}")
        except ProtocolError as problem:
            return error(identity, problem.code, problem.message, problem.data)
        if is_stateless:
            result = _stateless(method, result)
        return {"jsonrpc": "2.0", "id": identity, "result": result}

    def _begin(self, identity: str | int) -> Pending:
        pending = Pending()
        with self._lock:
            self._running.setdefault(identity, []).append(pending)
        return pending

    def _end(self, identity: str | int, pending: Pending) -> bool:
        """Whether the request was cancelled while it was answered."""
        with self._lock:
            self._running[identity].remove(pending)
            if not self._running[identity]:
                del self._running[identity]
            return pending.is_cancelled

    def _notice(self, message: Message) -> None:
        """Take a notification. Only a cancellation says anything to a server."""
        params = message.get("params")
        if message["method"] != "notifications/cancelled" or not isinstance(params, dict):
            return
        identity = _id_of({"id": params.get("requestId")})
        if identity is None:
            return
        with self._lock:
            for pending in self._running.get(identity, []):
                pending.cancel()

    def _initialize(self, params: Params) -> Message:
        """Agree on the version that the client wants, or offer the newest."""
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in SESSION_VERSIONS else SESSION_VERSIONS[0],
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER,
            "instructions": INSTRUCTIONS,
        }

    def _discover(self, _params: Params) -> Message:
        return {
            "supportedVersions": list(VERSIONS),
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER,
            "instructions": INSTRUCTIONS,
        }

    def _list_tools(self, params: Params) -> Message:
        _refuse_cursor(params)
        return {"tools": [tool.listed() for tool in catalog.offered(self._permits)]}

    def _call_tool(self, params: Params, ended: Event) -> Message:
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: arguments must be an object")
        self._refuse_foreign(arguments.get("workspace"))
        try:
            tool = catalog.find_tool(params.get("name"), self._permits)
        except BadInput as problem:
            raise ProtocolError(INVALID_PARAMS, problem.message) from problem
        return call_tool(tool, arguments, self._workspace, self._deadline, ended)

    def _refuse_foreign(self, named: object) -> None:
        """Raise for another workspace where there may be none."""
        if not self._is_alone or named in (None, "", ".", self._workspace):
            return
        raise ProtocolError(
            INVALID_PARAMS,
            f"this server serves {self._workspace} alone. Leave `workspace` out, or use `dos mcp`"
            " in the other repository.",
        )

    def _list_resources(self, params: Params) -> Message:
        _refuse_cursor(params)
        return {"resources": [resource.listed() for resource in resources.RESOURCES]}

    def _list_templates(self, params: Params) -> Message:
        _refuse_cursor(params)
        return {"resourceTemplates": list(resources.TEMPLATES)}

    def _read_resource(self, params: Params, ended: Event) -> Message:
        uri = str(params.get("uri", ""))
        found = resources.find_resource(uri)
        code = INVALID_PARAMS if _is_stateless(params) else RESOURCE_NOT_FOUND
        if found is None:
            raise ProtocolError(code, f"Resource not found: {quote(uri)}", {"uri": uri})
        resource, workspace = found
        self._refuse_foreign(workspace)
        problems: list[BadInput] = []

        def read() -> Message:
            try:
                return resources.read_resource(uri, resource, workspace or self._workspace)
            except BadInput as problem:
                problems.append(problem)
                return {}

        result = within(self._deadline, read, ended)
        if problems:
            raise ProtocolError(code, problems[0].message, {"uri": uri})
        if result is None or "contents" not in result:
            raise ProtocolError(code, f"{quote(uri)} could not be read in time", {"uri": uri})
        return result

    def _list_prompts(self, params: Params) -> Message:
        _refuse_cursor(params)
        return {"prompts": [prompt.listed() for prompt in prompts.PROMPTS]}

    def _get_prompt(self, params: Params) -> Message:
        arguments = params.get("arguments")
        try:
            prompt = prompts.find_prompt(params.get("name"))
            return prompt.filled(arguments if isinstance(arguments, dict) else {})
        except BadInput as problem:
            raise ProtocolError(INVALID_PARAMS, problem.message) from problem


def error(identity: str | int | None, code: int, message: str, data: Any = None) -> Message:
    """Return the answer that reports an error. Without an identity it is of no known request."""
    problem: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        problem["data"] = data
    return {"jsonrpc": "2.0", "id": identity, "error": problem}


def refuse(message: Message, code: int, text: str) -> Message | None:
    """Return the error for a request that is not answered otherwise; None for a notification."""
    identity = _id_of(message)
    return None if identity is None else error(identity, code, text)


def _id_of(message: Message) -> str | int | None:
    """Return the id of a request; None for one that is not allowed."""
    identity = message.get("id")
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        return None
    return identity


def _is_stateless(params: Params) -> bool:
    """Whether a request is of the version without sessions. Raises for a version unknown here."""
    meta = params.get("_meta")
    version = meta.get(f"{META}protocolVersion") if isinstance(meta, dict) else None
    if version is None:
        return False
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return bool(version == STATELESS_VERSION)


def _stateless(method: str, result: Message) -> Message:
    """Add what the version without sessions wants in every result."""
    result = {**result, "resultType": "complete", "_meta": {f"{META}serverInfo": SERVER}}
    if method in CACHEABLE:
        result |= {"ttlMs": 0, "cacheScope": "private"}
    return result


def _refuse_cursor(params: Params) -> None:
    """Raise for a cursor: every list is one page, so this server never gave one."""
    if params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "Invalid params: unknown cursor")
