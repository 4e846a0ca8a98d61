"""The resources that clients may read: the fleet, its runs, decisions, reasons and lanes."""

from typing import Any
from urllib.parse import unquote

from msgspec import Struct, json

from dos.errors import BadInput, DosError
from dos.mcp.call import ToolContext
from dos.text import markdown_table
from dos.verbs.invoke import invoke, reply_data

# Of the resources that are a table: the key of the rows, and the columns by heading.
TABLES = {
    "dos://lanes": (
        "lanes",
        {"lane": "lane", "kind": "kind", "paths": "tree", "beside others": "exclusivity"},
    ),
    "dos://reasons": (
        "reasons",
        {"reason": "token", "category": "category", "meaning": "summary", "fix": "fix"},
    ),
}
JSON = "application/json"
MARKDOWN = "text/markdown"


class Resource(Struct, frozen=True, kw_only=True):
    """A verb whose answer is a resource."""

    uri: str
    name: str
    about: str
    verb: str
    arguments: dict[str, Any] = {}
    mime: str = JSON

    def listed(self) -> dict[str, str]:
        """Return the resource as `resources/list` shows it."""
        return {
            "uri": self.uri,
            "name": self.name,
            "description": self.about,
            "mimeType": self.mime,
        }


RESOURCES = (
    Resource(
        uri="dos://fleet",
        name="fleet",
        about="Every lane: who works, what waits, what landed.",
        verb="top",
        arguments={"once": True},
    ),
    Resource(
        uri="dos://decisions",
        name="decisions",
        about="Open questions that only a person can answer.",
        verb="decisions",
    ),
    Resource(
        uri="dos://reasons",
        name="reasons",
        about="Every reason for a refusal, a hold or a stop.",
        verb="man",
        arguments={"section": "wedge"},
        mime=MARKDOWN,
    ),
    Resource(
        uri="dos://lanes",
        name="lanes",
        about="The declared lanes.",
        verb="man",
        arguments={"section": "lane"},
        mime=MARKDOWN,
    ),
)
# Their last part is a run, or the directory of another workspace with its slashes as %2F.
TEMPLATES = (
    {
        "uriTemplate": "dos://runs/{id}",
        "name": "run",
        "description": "Everything recorded about a run.",
        "mimeType": JSON,
    },
    {
        "uriTemplate": "dos://reasons/{workspace}",
        "name": "reasons of a workspace",
        "description": "The reasons that another workspace declares.",
        "mimeType": MARKDOWN,
    },
    {
        "uriTemplate": "dos://lanes/{workspace}",
        "name": "lanes of a workspace",
        "description": "The lanes that another workspace declares.",
        "mimeType": MARKDOWN,
    },
)


def find_resource(uri: str) -> tuple[Resource, str] | None:
    """Return the resource of an address, and the workspace that it names; None: there is none."""
    known = {resource.uri: resource for resource in RESOURCES}
    if uri in known:
        return known[uri], ""
    parent, _, last = uri.rpartition("/")
    last = unquote(last)
    if not last or "\0" in last:
        return None
    if parent == "dos://runs":
        return (
            Resource(uri=uri, name="run", about="", verb="trace", arguments={"run_id": last}),
            "",
        )
    if parent in ("dos://reasons", "dos://lanes"):
        return known[parent], last
    return None


def read_resource(uri: str, resource: Resource, workspace: str) -> dict[str, Any]:
    """Return the contents of a resource. Raises BadInput for one that is not there."""
    context = None
    try:
        context = ToolContext(workspace)
        reply = invoke(resource.verb, resource.arguments, context)
        if resource.verb == "trace" and reply.code:
            raise BadInput(f"there is no {uri}")
        data = reply_data(reply, explained=False)
        if resource.mime == MARKDOWN:
            text = _page(resource, data)
        else:
            text = json.encode(data, order="sorted").decode()
    except DosError as error:
        raise BadInput(error.message, hint=error.hint) from error
    finally:
        if context is not None:
            context.close()
    return {"contents": [{"uri": uri, "mimeType": resource.mime, "text": text}]}


def _page(resource: Resource, data: Any) -> str:
    """Return the rows of a verb's answer as a table."""
    key, columns = TABLES[resource.uri]
    rows = []
    for row in data[key]:
        cells = [row[field] for field in columns.values()]
        rows.append([cell if isinstance(cell, str) else ", ".join(cell) for cell in cells])
    return f"# {resource.about.removesuffix('.')}\n\n{markdown_table(columns, rows)}\n"
