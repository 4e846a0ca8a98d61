"""Print the address of the server with its token.

Whoever has the address can read this workspace, so do not share it. Opened in a browser, it is
exchanged for a cookie that ends with the server. `dos web open` opens it.
"""

from typing import Annotated

from msgspec import Struct

from dos import workspace
from dos.errors import BadInput
from dos.server.io.client import status
from dos.server.io.location import Location
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"serving": 0, "not-serving": 1, "contract_error": 2}
OPEN = "open"


class Args(Struct, kw_only=True):
    """Whether to open it."""

    action: Annotated[
        str,
        Option(
            help="open: also open it in a browser", positional=True, choices=(OPEN,), metavar="open"
        ),
    ] = ""


def run(args: Args, context: Context) -> Reply:
    """Reply with the address; exit 1 where no server runs."""
    location = Location(workspace.find(context.start_directory).state)
    found = status(location)
    if found.address is None:
        return Reply(
            code=EXITS["not-serving"],
            text="No server runs here. `dos up` starts one, and so does `dos serve`.",
            data={"serving": False, "url": None, "pid": None, "socket": str(location.socket)},
        )
    token = location.token()
    url = f"http://127.0.0.1:{found.address.port}/?token={token}"
    if args.action == OPEN and not _opens(location.make_entrance(url).as_uri()):
        raise BadInput("no browser could be started", hint=f"Open it yourself: {url}")
    return Reply(
        text=url,
        data={
            "serving": True,
            "url": url,
            "port": found.address.port,
            "token": token,
            "pid": found.address.pid,
            "socket": str(location.socket),
            "problem": found.problem,
        },
        stderr=f"warning: {found.problem}" if found.problem else "",
    )


def _opens(url: str) -> bool:
    """Whether a browser was started with an address."""
    import webbrowser  # only this needs it

    return webbrowser.open(url)
