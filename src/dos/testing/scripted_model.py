"""A scripted language model on loopback, so that real agent programs can be run offline.

It speaks the protocols that coding agents use: Anthropic Messages (/v1/messages), OpenAI Responses
(/v1/responses), OpenAI chat completions (/v1/chat/completions) and Gemini (:generateContent,
:streamGenerateContent).

A script is a list of steps. A step that calls a tool is done when its result comes back, and a step
that says something when it was said; the next request gets the next step, and the last one repeats.
A step is one of

    {"bash": "shell command"}        the model asks the agent to run a command
    {"tool": "Write", "with": {…}}   the model calls a tool of the agent's own
    {"tool": "verify", "server": "dos", "with": {…}}
                                     the model calls a tool of an MCP server, under the name that
                                     the program gives it; deferred tools are loaded first
    {"calls": [{"bash": …}, …]}      the model makes several calls at once
    {"say": "text"}                  the model ends its turn with this text
    {"status": 429, "message": "…"}  the provider answers with this HTTP error

and may have

    "delay": seconds                 before the answer
    "headers": {"retry-after": "1"}  with an HTTP error
    "times": n                       only the first n requests that reach the step get it

A script may instead be an object with the steps of several conversations:

    {"match": [{"prompt": "in the first prompt", "steps": […]},
               {"if": "anywhere in the conversation", "steps": […]}, …],
     "default": […]}

The first match counts. An "if" or a "prompt" that is a list requires all of its parts. Requests
that offer no tools are for titles and the like, and answered with "ok"; with "answer_all": true in
such an object they get a step too, for programs that offer none.
"""

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, cast

from msgspec import DecodeError, json

from dos.testing import model_protocols
from dos.testing.model_protocols import Message
from dos.testing.model_requests import Body, first_prompt, newest, offered_tools
from dos.testing.model_script import Script, Step, calls_of, count_results

MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}
COUNT = {"input_tokens": 1, "totalTokens": 1}
POLL_SECONDS = 0.02  # how soon a stop is noticed


class ScriptedModel:
    """The model as a server in a thread of this process.

    `requests` has what was asked and which step answered: one entry a request, with the body, the
    names of the tools, and `told`, what the model was told since it last spoke. With a `log` each
    entry is appended there as a line of JSON. Instead of a script as data, a Script is taken as it
    is: one that answers by what the tools said.
    """

    def __init__(self, script: Any, *, log: Path | None = None, port: int = 0) -> None:
        self.requests: list[dict[str, Any]] = []
        self._script = script if isinstance(script, Script) else Script(script)
        self._log = log
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.model = self
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> str:
        """Answer requests in a thread from now on, and return the address."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True
        )
        self._thread.start()
        return self.url

    def serve(self) -> None:
        """Answer requests in this thread; does not return."""
        self._server.serve_forever()

    def stop(self) -> None:
        """Stop answering and close the port."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def refusals(self) -> int:
        """How many requests were answered with an HTTP error."""
        return sum("status" in request["step"] for request in self.requests)

    def told(self) -> list[str]:
        """Everything that the model was told by tools and users, in the order of the requests."""
        return [told["text"] for request in self.requests for told in request["told"]]

    def answer(self, path: str, raw: bytes) -> Message:
        """Return the answer to one request, after the delay of its step."""
        try:
            body = json.decode(raw, type=dict[str, Any])
        except DecodeError:
            body = {}
        if "count_tokens" in path or "countTokens" in path:
            return Message(content=json.encode(COUNT))
        step = self._script.step(body)
        self._note(path, body, step, len(raw))
        time.sleep(step.get("delay", 0))
        if "status" in step:
            message = step.get("message", "scripted error")
            return model_protocols.error(step["status"], message, step.get("headers", {}))
        return model_protocols.answer(path, body, calls_of(step, body), step.get("say", "ok"))

    def _note(self, path: str, body: Body, step: Step, size: int) -> None:
        """Keep what was asked; schemas of tools are left out."""
        entry = {
            "t": time.time(),
            "path": path,
            "bytes": size,
            "results": count_results(body),
            "step": step,
            "tools": sorted(tool.full_name for tool in offered_tools(body)),
            "prompt": first_prompt(body),
            "told": json.decode(json.encode(newest(body))),
            "body": {key: value for key, value in body.items() if key != "tools"},
        }
        with self._lock:
            self.requests.append(entry)
            if self._log is not None:
                with self._log.open("ab") as log:
                    log.write(json.encode(entry) + b"\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ScriptedModel

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, but not that a program closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._send(Message(content=b""))

    def do_GET(self) -> None:
        self._send(Message(content=json.encode(MODELS)))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        self._send(cast("_Server", self.server).model.answer(self.path, raw))

    def _send(self, message: Message) -> None:
        self.send_response(message.status)
        self.send_header("content-type", message.content_type)
        self.send_header("content-length", str(len(message.content)))
        for name, value in message.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(message.content)
