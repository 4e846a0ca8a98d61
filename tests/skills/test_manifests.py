"""The tree of manifests is what the code makes of it, and says what each program demands."""

import json

import make_manifests
import pytest
from jsonschema import Draft202012Validator

from dos.agenthooks.wiring import HOSTS
from dos.skills.io import packaged
from dos.verbs.listing.table import VERBS

TREE = make_manifests.files()
HOOKS = [path for path in TREE if "/hooks/" in path]
# What the registry's schema of 2025-12-11 demands of a server that is a package.
SERVER = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages", "repository"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": make_manifests.REGISTRY_SCHEMA},
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"minLength": 1, "maxLength": 100},
        "description": {"minLength": 1, "maxLength": 100},
        "version": {"pattern": r"^\d+\.\d+\.\d+$"},
        "repository": {"required": ["url", "source"]},
        "packages": {
            "minItems": 1,
            "items": {
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": {"const": "dispatch-os"},
                    "version": {"pattern": r"^\d+\.\d+\.\d+$"},
                    "transport": {"properties": {"type": {"const": "stdio"}}, "required": ["type"]},
                    "packageArguments": {
                        "items": {
                            "required": ["type", "value"],
                            "properties": {"type": {"const": "positional"}},
                        }
                    },
                },
            },
        },
    },
}


def test_the_committed_tree_is_the_generated_one():
    assert make_manifests.committed() == TREE, "it is out of date: run make manifests"


def test_each_plugin_has_every_skill():
    for name, skill in packaged.skills().items():
        copies = [text for path, text in TREE.items() if path.endswith(f"/skills/{name}/SKILL.md")]
        assert copies == [skill.text] * 2  # of the plugin, and of the extension


@pytest.mark.parametrize("path", HOOKS)
def test_hooks_call_verbs_for_hooks_in_the_dialect_of_their_host(path):
    host = {"codex.json": "codex"}.get(path.rpartition("/")[2], "claude-code")
    if "/gemini/" in path:
        host = "gemini"
    events = json.loads(TREE[path])["hooks"]
    assert events.keys() == HOSTS[host].events.keys()
    dialect = [] if host == "claude-code" else ["--dialect", host]
    for (group,) in events.values():
        (hook,) = group["hooks"]
        program, *words = hook["command"].split()
        assert program == "dos" and " ".join(words[:2]) in VERBS
        assert words[2:] == [*dialect, "||", "true"]  # a dos that is gone stops nobody
        assert hook["timeout"] == (10_000 if host == "gemini" else 10)


def test_the_entry_of_the_registry_keeps_its_rules():
    entry = json.loads(TREE["integrations/mcp/server.json"])
    Draft202012Validator(SERVER).validate(entry)
    assert list(Draft202012Validator(SERVER).iter_errors(entry | {"description": "x" * 101}))


def test_every_manifest_has_the_version_of_the_package():
    manifests = [json.loads(text) for path, text in TREE.items() if path.endswith(".json")]
    versions = {each["version"] for each in manifests if "version" in each}
    assert versions == {make_manifests.VERSION}
