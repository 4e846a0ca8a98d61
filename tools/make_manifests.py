"""Writes integrations/ and the two marketplaces: what agent programs install to work with `dos`.

    make manifests

Everything comes from the code: the skills from src/dos/skills, the commands from the table of
verbs, the version from the package. A test fails while the tree is not current.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from dos.agenthooks.wiring import HOSTS, group, verb_caller
from dos.skills import agents_md
from dos.skills.io import packaged
from dos.verbs.listing.table import VERBS
from dos.version import VERSION

HOUSE = Path(__file__).parents[1]
TREE = "integrations"
# The marketplaces are at the top, so that a program can add the whole repository by its name.
CLAUDE_MARKETPLACE = ".claude-plugin/marketplace.json"
CODEX_MARKETPLACE = ".agents/plugins/marketplace.json"
OWNED = (TREE, CLAUDE_MARKETPLACE, CODEX_MARKETPLACE)

NAME = "dos"
AUTHOR = {"name": "The dos developers"}
HOME_PAGE = "https://github.com/dispatch-os/dispatch-os"
PACKAGE = "dispatch-os"
REGISTRY_NAME = "io.github.dispatch-os/dispatch-os"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# A registry shows at most 100 characters.
SUMMARY = "Lanes, leases and proof by git for coding agents that share one repository"
DESCRIPTION = (
    "Keeps coding agents that share a repository in their lanes, asks before an edit outside of"
    " one, and believes git instead of what an agent says. Needs the dos command:"
    " pip install dispatch-os."
)


def command(verb: str, *words: str) -> list[str]:
    """Return the words of a command; KeyError for a verb that is not in the table."""
    return [NAME, *VERBS[verb].name.split(), *words]


def server() -> dict[str, Any]:
    """Return how a program starts the MCP server."""
    return {"command": NAME, "args": VERBS["mcp"].name.split()}


def hooks(name: str) -> dict[str, Any]:
    """Return the hooks of a program, as `dos hooks install` writes them."""
    host = HOSTS[name]
    return {"hooks": {event: [group(host, event, verb_caller(NAME))] for event in host.events}}


def manifest(**more: Any) -> dict[str, Any]:
    """Return what the manifests of all plugins share."""
    return {"name": NAME, "version": VERSION, "description": DESCRIPTION, **more}


def skills(folder: str) -> dict[str, str]:
    """Return the copies of all skills below a folder.

    They are copies and no links: of a folder of links Codex installs nothing, and Gemini CLI keeps
    links into a folder that may be gone.
    """
    return {
        f"{folder}/skills/{name}/SKILL.md": skill.text for name, skill in packaged.skills().items()
    }


def plugin() -> dict[str, Any]:
    """Return the plugin of Claude Code and of Codex, which share the skills and the server.

    Each has a manifest and a file of hooks of its own; Claude Code reads `hooks/hooks.json`
    unasked, so the hooks of Codex have another name.
    """
    folder = f"{TREE}/plugin"
    about = {"author": AUTHOR, "homepage": HOME_PAGE, "license": "MIT"}
    codex_parts = {
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
        "hooks": "./hooks/codex.json",
        "interface": {"displayName": NAME, "shortDescription": SUMMARY},
    }
    return {
        f"{folder}/.claude-plugin/plugin.json": manifest(**about),
        f"{folder}/.codex-plugin/plugin.json": manifest(**codex_parts),
        f"{folder}/.mcp.json": {"mcpServers": {NAME: server()}},
        f"{folder}/hooks/hooks.json": {"description": SUMMARY, **hooks("claude-code")},
        f"{folder}/hooks/codex.json": hooks("codex"),
        **skills(folder),
    }


def marketplaces() -> dict[str, Any]:
    """Return the lists from which Claude Code and Codex install the plugin."""
    folder = f"./{TREE}/plugin"
    for_claude = {"name": NAME, "source": folder, "description": SUMMARY}
    for_codex = {
        "name": NAME,
        "source": {"source": "local", "path": folder},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Developer Tools",
    }
    return {
        CLAUDE_MARKETPLACE: {
            "name": NAME,
            "owner": AUTHOR,
            "description": SUMMARY,
            "plugins": [for_claude],
        },
        CODEX_MARKETPLACE: {
            "name": NAME,
            "interface": {"displayName": NAME},
            "plugins": [for_codex],
        },
    }


def gemini() -> dict[str, Any]:
    """Return the extension of Gemini CLI."""
    folder = f"{TREE}/gemini"
    return {
        f"{folder}/gemini-extension.json": manifest(mcpServers={NAME: server()}),
        f"{folder}/hooks/hooks.json": hooks("gemini"),
        **skills(folder),
    }


def registry() -> dict[str, Any]:
    """Return the entry of the MCP registry."""
    return {
        f"{TREE}/mcp/server.json": {
            "$schema": REGISTRY_SCHEMA,
            "name": REGISTRY_NAME,
            "title": NAME,
            "description": SUMMARY,
            "repository": {"url": HOME_PAGE, "source": "github"},
            "version": VERSION,
            "packages": [
                {
                    "registryType": "pypi",
                    "identifier": PACKAGE,
                    "version": VERSION,
                    "runtimeHint": "uvx",
                    "transport": {"type": "stdio"},
                    "packageArguments": [{"type": "positional", "value": "mcp"}],
                }
            ],
        }
    }


def files() -> dict[str, str]:
    """Return the whole tree: the text of each file by its path."""
    tree = {**marketplaces(), **plugin(), **gemini(), **registry()}
    tree[f"{TREE}/AGENTS.md"] = agents_md.block()
    texts = {}
    for path, content in tree.items():
        if not isinstance(content, str):
            content = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        texts[path] = content
    return texts


def committed(house: Path = HOUSE) -> dict[str, str]:
    """Return the tree as it is on the disk."""
    found = {}
    for owned in OWNED:
        place = house / owned
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file():
                found[str(path.relative_to(house))] = path.read_text(encoding="utf-8")
    return found


def main() -> None:
    """Write the tree anew."""
    shutil.rmtree(HOUSE / TREE, ignore_errors=True)
    for path, text in files().items():
        place = HOUSE / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
