"""One HTTP request to a service that a person configured, within a time limit.

Redirects are not followed: a message and its signature go to the configured host and no other.
Whatever goes wrong is an Unknown, whose words hold no part of a URL but its host.
"""

import threading
from collections.abc import Mapping
from http.client import HTTPException
from queue import Empty, SimpleQueue
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from msgspec import Struct

from dos.unknown import Unknown

LARGEST_ANSWER = 64 << 10  # bytes; no more of an answer is read


class Response(Struct, frozen=True, kw_only=True):
    """The status of an answer, and the beginning of its body."""

    status: int
    body: bytes

    @property
    def succeeded(self) -> bool:
        """Whether the service took the request."""
        return 200 <= self.status < 300


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        """Leave every redirect as the error that it is without this handler."""


def url_problem(url: str) -> str:
    """Return what is wrong with a URL; empty where a request can be sent to it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "it is not a URL"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "it does not start with http:// or https://"
    if parts.username or parts.password:
        return "it contains a user or a password"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "it contains characters that no URL has"
    return ""


def host_of(url: str) -> str:
    """Return the part of a URL that may be shown: paths and queries may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def post(
    url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float
) -> Response | Unknown:
    """Send a POST request and return the answer.

    The time limit holds for all of it, also for looking up the name and for a server that sends
    one byte at a time: the request runs in a thread that is left behind then.
    """
    answers: SimpleQueue[Response | Unknown] = SimpleQueue()
    request = Request(url, data=body, headers=dict(headers), method="POST")
    thread = threading.Thread(
        target=lambda: answers.put(_send(request, timeout_seconds)), daemon=True
    )
    thread.start()
    try:
        return answers.get(timeout=timeout_seconds)
    except Empty:
        return Unknown(f"{host_of(url)} did not answer within {timeout_seconds:g} s")


def _send(request: Request, timeout_seconds: float) -> Response | Unknown:
    where = host_of(request.full_url)
    try:
        with build_opener(_NoRedirects).open(request, timeout=timeout_seconds) as answer:
            return Response(status=answer.status, body=answer.read(LARGEST_ANSWER))
    except HTTPError as error:
        with error:
            return Response(status=error.code, body=b"")
    except URLError as error:
        return Unknown(f"{where} cannot be reached: {error.reason}")
    except (OSError, HTTPException, ValueError) as error:
        return Unknown(f"{where} gave no answer: {type(error).__name__}")
