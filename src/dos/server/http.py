"""HTTP/1.1 as far as the server speaks it: strict, without transfer codings, one message at a time.

What a client sends is refused rather than guessed at. No proxy stands before a port of loopback, so
nothing that only proxies need is understood.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

from msgspec import Struct, json

LONGEST_HEAD = 16 << 10  # bytes
MOST_HEADERS = 64
LONGEST_BODY = 16 << 20
_LINE = re.compile(rb"([A-Z]{3,10}) (/[!-~]{0,4000}) HTTP/1\.([01])")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_LENGTH = re.compile(r"[0-9]{1,12}")
REASONS = {
    200: "OK",
    202: "Accepted",
    303: "See Other",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    411: "Length Required",
    413: "Content Too Large",
    421: "Misdirected Request",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
# Nothing that a page shows may run, be framed, or be read by another site.
SAFE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Request(Struct, frozen=True, kw_only=True):
    """The head of a request. Names of headers are in lower case."""

    method: str
    path: str  # decoded
    query: Mapping[str, tuple[str, ...]]
    headers: Mapping[str, str]
    length: int  # of the body
    keeps_alive: bool

    def parameter(self, name: str) -> str | None:
        """Return a parameter of the query that stands once; None for any other."""
        values = self.query.get(name, ())
        return values[0] if len(values) == 1 else None


class Response(Struct, frozen=True, kw_only=True):
    """An answer with its whole body."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: Mapping[str, str] = {}


class BadRequest(Exception):
    """A message that is refused. The connection ends: nobody knows where the next one begins."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def parse_head(head: bytes) -> Request:
    """Return the request of a head, which ends with an empty line. Raises BadRequest."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    found = _LINE.fullmatch(first)
    if found is None:
        raise BadRequest(400, "The first line is no HTTP/1.1 request.")
    method, target, minor = found.groups()
    headers = _parse_headers(lines)
    if "transfer-encoding" in headers:
        raise BadRequest(411, "Send the body with a Content-Length.")
    # Taken apart by hand: `//name` is a path here, and not the name of a host.
    raw_path, _, raw_query = target.decode().partition("?")
    path = _decoded(raw_path)
    try:
        pairs = parse_qsl(raw_query, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise BadRequest(400, "The query is not understood.") from None
    query: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        query[name] = (*query.get(name, ()), value)
    closes = headers.get("connection", "").lower() == "close"
    return Request(
        method=method.decode(),
        path=path,
        query=query,
        headers=headers,
        length=_length(headers, method.decode()),
        keeps_alive=minor == b"1" and not closes,
    )


def encode_head(status: int, headers: Mapping[str, str]) -> bytes:
    """Return the head of a response, with what every response has."""
    lines = [f"HTTP/1.1 {status} {REASONS[status]}"]
    lines += [f"{name}: {value}" for name, value in {**SAFE_HEADERS, **headers}.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def encode_response(response: Response, *, keeps_alive: bool, with_body: bool = True) -> bytes:
    """Return the bytes of a response; the head alone for HEAD."""
    headers = {
        "Content-Type": response.content_type,
        "Content-Length": str(len(response.body)),
        "Connection": "keep-alive" if keeps_alive else "close",
        **response.headers,
    }
    head = encode_head(response.status, headers)
    return head + response.body if with_body else head


def text_response(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a sentence as a response."""
    return Response(status=status, body=f"{text}\n".encode(), headers=headers or {})


def json_response(data: Any, status: int = 200) -> Response:
    """Return data as a response."""
    return Response(status=status, body=json.encode(data), content_type="application/json")


def server_sent_event(identity: int, kind: str, data: bytes) -> bytes:
    """Return one event of a stream; its identity is the position from which to resume."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (identity, kind.encode(), data)


def _parse_headers(lines: list[bytes]) -> dict[str, str]:
    if len(lines) > MOST_HEADERS:
        raise BadRequest(431, f"The request has more than {MOST_HEADERS} headers.")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name) or b"\r" in value or b"\n" in value:
            raise BadRequest(400, "A header is not understood.")
        key = name.decode().lower()
        if key in headers:
            raise BadRequest(400, f"The header {key} stands twice.")
        headers[key] = value.strip(b" \t").decode("latin-1")
    return headers


def _decoded(path: str) -> str:
    """The path without percent signs. Raises BadRequest for one that is not UTF-8."""
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise BadRequest(400, "The path is not UTF-8.") from None


def _length(headers: Mapping[str, str], method: str) -> int:
    text = headers.get("content-length")
    if text is None:
        if method in ("POST", "PUT", "PATCH"):
            raise BadRequest(411, "Send a Content-Length.")
        return 0
    if not _LENGTH.fullmatch(text):
        raise BadRequest(400, "The Content-Length is no number.")
    if int(text) > LONGEST_BODY:
        raise BadRequest(413, f"The body is larger than {LONGEST_BODY >> 20} MiB.")
    return int(text)
