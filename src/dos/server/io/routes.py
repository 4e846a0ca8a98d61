"""What the port serves, by path.

Nothing here acts: verbs that act run in their caller's process.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from html import escape
from typing import Any

from msgspec import DecodeError, json

from dos.agenthooks.events import Moment
from dos.agenthooks.io.answer import check_moment
from dos.agenthooks.io.hook_call import Caller
from dos.errors import BadInput, DosError, Refused
from dos.mcp.catalog import Permits
from dos.mcp.protocol import PARSE_ERROR, Session, error
from dos.server import read_verbs
from dos.server.http import Request, Response, json_response, text_response
from dos.server.io.answers import Answers
from dos.server.io.events import EventFeed
from dos.server.io.threads import Threads

MOST_STREAMS = 32
MOST_STREAMS_OF_CLIENT = 24
READS_ONLY = Permits(records=False, callers=False)  # a port does not tell which process asks

Answer = Response | AsyncIterator[bytes]


class Routes:
    """Finds the answer to a request that was let in."""

    def __init__(self, answers: Answers, threads: Threads) -> None:
        self._answers = answers
        self._threads = threads
        self._feed = EventFeed(
            answers.place, threads, most=MOST_STREAMS, most_of_client=MOST_STREAMS_OF_CLIENT
        )
        # The token is that of this workspace.
        self._mcp = Session(str(answers.place.root), READS_ONLY, is_alone=True)

    async def answer(self, request: Request, body: bytes, client: str) -> Answer:
        """Return the answer to a kind of client: a response, or a stream of events."""
        first, _, rest = request.path.removeprefix("/").partition("/")
        match first:
            case "" if not rest:
                return _allowed(request, "GET") or self._front_page()
            case "hook":
                return _allowed(request, "POST") or await self._hook(rest, request, body, client)
            case "mcp" if not rest:
                return _allowed(request, "POST") or await self._call_mcp(body, client)
            case "events" if not rest:
                return _allowed(request, "GET") or self._events(request, client)
            case "api":
                return _allowed(request, "GET") or await self._api(rest, request, client)
            case _:
                return text_response(404, "There is no such page.")

    def _front_page(self) -> Response:
        """Return what is served, for people."""
        body = PAGE.replace("{root}", escape(str(self._answers.place.root)))
        return Response(body=body.encode(), content_type="text/html; charset=utf-8")

    async def _hook(self, moment: str, request: Request, body: bytes, client: str) -> Response:
        """Answer a hook of Claude Code. An empty body is no opinion."""
        try:
            check_moment(moment)
            event = _object(body)
        except BadInput as problem:
            return _failure(problem, 404 if moment not in tuple(Moment) else 400)
        dialect = request.parameter("dialect") or ""

        def work() -> Response:
            try:
                # Over TCP the kernel does not say who asks: only the event's folder and session do.
                reply = self._answers.hook(moment, dialect, event, Caller())
            except DosError as problem:
                return _failure(problem, 400)
            headers = {}
            if reply.stderr:
                headers["Dos-Warning"] = _one_line(reply.stderr)
            return Response(
                body=reply.stdout.encode(), content_type="application/json", headers=headers
            )

        return await self._run("hook", work, client)

    async def _call_mcp(self, body: bytes, client: str) -> Response:
        """Answer one message of MCP. The server keeps no session and opens no stream."""
        try:
            message = json.decode(body)
        except (DecodeError, UnicodeDecodeError, RecursionError) as problem:
            return json_response(error(None, PARSE_ERROR, f"Parse error: {problem}"), 400)
        kind = "wait" if self._mcp.is_long(message) else "verb"

        def work() -> Response:
            answer = self._mcp.handle(message)
            return Response(status=202) if answer is None else json_response(answer)

        return await self._run(kind, work, (client, "mcp"))

    def _events(self, request: Request, client: str) -> Answer:
        """Return the journal from a position on: by `Last-Event-ID`, else by `after`, else from
        now on."""
        text = request.headers.get("last-event-id") or request.parameter("after")
        if text is not None and not (text.isascii() and text.isdigit() and len(text) < 19):
            return text_response(400, "The position is no number.")
        if not self._feed.has_room(client):
            return text_response(503, "Too many streams are open.", {"Retry-After": "5"})
        return self._feed.follow(None if text is None else int(text), client)

    async def _api(self, path: str, request: Request, client: str) -> Response:
        """Return the JSON of a read verb, as `dos VERB --json` prints it."""
        name = path.replace("/", " ").strip()
        if not name:
            return json_response({"verbs": {name: list(verb.arguments) for name, verb in VERBS}})
        given = {key: values for key, values in request.query.items() if key != "token"}

        def work() -> Response:
            try:
                answer = self._answers.api(name, given)
            except DosError as problem:
                known = name in read_verbs.READ_VERBS
                return _failure(problem, 400 if known else 404)
            headers = {"Dos-Exit-Code": str(answer.code)}
            if answer.stderr:
                headers["Dos-Warning"] = _one_line(answer.stderr)
            return Response(
                body=json.encode(answer.data), content_type="application/json", headers=headers
            )

        return await self._run("wait" if name == "wait" else "verb", work, client)

    async def _run(self, kind: str, work: Callable[[], Response], client: object) -> Response:
        """Run work in a thread; a bug becomes an answer."""
        try:
            return await self._threads.run(kind, work, client=client)
        except Refused as refusal:
            return _failure(refusal, 503)
        except DosError as bug:
            return _failure(bug, 500)


VERBS = sorted(read_verbs.READ_VERBS.items())
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>dos</title></head><body>
<h1>dos serves {root}</h1>
<table>
<tr><td><a href="/api/top">/api/top</a></td><td>lanes, work and waits, as JSON</td></tr>
<tr><td><a href="/api/decisions">/api/decisions</a></td><td>what needs a person</td></tr>
<tr><td><a href="/api/">/api/</a></td><td>all verbs that are served, with their arguments</td></tr>
<tr><td>/events</td><td>the journal as server-sent events; the id is the position</td></tr>
<tr><td>/mcp</td><td>the tools for agents that read (MCP, streamable HTTP)</td></tr>
<tr><td>/hook/MOMENT</td><td>hooks of agent programs</td></tr>
</table></body></html>
"""


def _allowed(request: Request, method: str) -> Response | None:
    """Return the refusal of another method than the one of this path; None for that one."""
    if request.method == method or (method == "GET" and request.method == "HEAD"):
        return None
    return text_response(405, f"Use {method}.", {"Allow": method})


def _object(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object of a body. Raises BadInput for anything else."""
    try:
        found = json.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadInput(f"the body is no JSON: {problem}") from problem
    if not isinstance(found, dict):
        raise BadInput("the body is JSON, but no object")
    return found


def _failure(problem: DosError, status: int) -> Response:
    """Return an error as JSON."""
    data = {"error": problem.message, "hint": problem.hint, "exit_code": problem.exit_code}
    return json_response(data, status)


def _one_line(text: str) -> str:
    """Return a warning as the value of a header."""
    return " ".join(text.split()).encode("ascii", "backslashreplace").decode()[:2000]
