"""Who may use the port: judged by the head of a request, before its body is read.

A request has to name this server (a page of another site that resolves to 127.0.0.1 does not),
must not come from another site, and has to show the token: as a bearer, or as the cookie that a
browser got for it. A browser adds the cookie by itself, so a request that changes something has to
show besides that a page of this server made it.
"""

import hmac
from html import escape
from urllib.parse import urlencode

from msgspec import Struct

from dos.server.http import Request, Response, text_response

COOKIE = "dos_session"  # with the port behind it: a browser keeps one jar for all ports of a host
STRANGER = "stranger"
BROWSER = "browser"
PROGRAM = "program"
READS = ("GET", "HEAD")
OWN_HEADER = "x-dos"  # a form or an image of another site cannot send it
OWN_SITES = ("same-origin", "none")  # none: a person typed or opened the address
ENTERED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>dos</title>
<meta http-equiv="refresh" content="0; url={place}"></head>
<body><a href="{place}">Continue</a></body></html>
"""
HOW_TO_ENTER = "Open the address that `dos web` prints."


class Keys(Struct, frozen=True, kw_only=True):
    """The secrets of a server and its port."""

    token: str  # in a file that only its user can read
    session: str  # the cookie's: made anew at each start, so that it ends with the server
    port: int

    @property
    def cookie(self) -> str:
        """The name of the cookie; servers of other workspaces have others."""
        return f"{COOKIE}_{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which this server may be addressed."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")


def refusal(request: Request, keys: Keys) -> Response | None:
    """Return why a request is not answered, or the redirect that enters; None: it may pass."""
    return (
        _wrong_host(request, keys)
        or _foreign(request, keys)
        or _unknown(request, keys)
        or _forged_write(request, keys)
    )


def _wrong_host(request: Request, keys: Keys) -> Response | None:
    if request.headers.get("host", "").lower() in keys.hosts:
        return None
    return text_response(421, "This server answers only for 127.0.0.1 and localhost.")


def _foreign(request: Request, keys: Keys) -> Response | None:
    """Refuse what a page of another site asks. Another port of this machine is another site."""
    origin = request.headers.get("origin")
    if origin is not None and origin not in [f"http://{host}" for host in keys.hosts]:
        return text_response(403, "Requests of other sites are refused.")
    if not _is_of_other_site(request) or _opens_the_address(request, keys):
        return None
    return text_response(403, "Requests of other sites are refused.")


def _is_of_other_site(request: Request) -> bool:
    return request.headers.get("sec-fetch-site", "none") not in OWN_SITES


def _opens_the_address(request: Request, keys: Keys) -> bool:
    """Whether a browser opens the address with the token, as the file of `dos web open` has it."""
    return request.headers.get("sec-fetch-mode") == "navigate" and _shows_token(request, keys)


def _shows_token(request: Request, keys: Keys) -> bool:
    given = request.parameter("token")
    return request.method == "GET" and given is not None and _same(given, keys.token)


def _unknown(request: Request, keys: Keys) -> Response | None:
    """Refuse a request without the token; take one with it in its address, and set the cookie."""
    if has_bearer(request, keys) or _has_cookie(request, keys):
        return None
    if _shows_token(request, keys):
        kept = {name: value for name, value in request.query.items() if name != "token"}
        place = request.path if request.path.isascii() and request.path.isprintable() else "/"
        if place.startswith("//"):  # a browser would take it for the name of a host
            place = "/"
        if kept:
            place = f"{place}?{urlencode(kept, doseq=True)}"
        cookie = f"{keys.cookie}={keys.session}; Path=/; HttpOnly; SameSite=Strict"
        if _is_of_other_site(request):
            # A browser takes no such cookie along on a redirect that another site began, so a page
            # of this one leads on.
            page = ENTERED.replace("{place}", escape(place))
            return Response(
                body=page.encode(),
                content_type="text/html; charset=utf-8",
                headers={"Set-Cookie": cookie},
            )
        return text_response(303, "Entered.", {"Location": place, "Set-Cookie": cookie})
    return text_response(401, HOW_TO_ENTER, {"WWW-Authenticate": 'Bearer realm="dos"'})


def _forged_write(request: Request, keys: Keys) -> Response | None:
    """Refuse a request that is no read, unless a bearer or a page of this server made it."""
    if request.method in READS or has_bearer(request, keys):
        return None
    is_own = request.headers.get("sec-fetch-site") == "same-origin"
    if is_own and request.headers.get(OWN_HEADER) == "1":
        return None
    return text_response(403, "A page that changes something sends `X-Dos: 1` from its own origin.")


def shown_by(request: Request, keys: Keys) -> str:
    """Return what kind of client a request is of, by what it shows."""
    if has_bearer(request, keys):
        return PROGRAM
    if _has_cookie(request, keys):
        return BROWSER
    return STRANGER


def has_bearer(request: Request, keys: Keys) -> bool:
    """Whether a request shows the token itself."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and _same(given.strip(), keys.token)


def _has_cookie(request: Request, keys: Keys) -> bool:
    for part in request.headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == keys.cookie and _same(value, keys.session):
            return True
    return False


def _same(given: str, secret: str) -> bool:
    """Compare in a time that does not tell how much of it was right."""
    return hmac.compare_digest(given.encode(), secret.encode())
