"""Reads what CI services run of tests, and whether a failure there fails the build."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import structs

from dos.audit.settings import yaml_text
from dos.audit.settings.facts import RunnerFacts, joined
from dos.audit.settings.python_tools import added_options
from dos.audit.settings.shell_text import read_shell
from dos.testrunners.test_commands import PYTEST_OPTIONS
from dos.verify.file_kinds import words

_COMMANDS = words("run script scripts command commands cmd cmds test_script bash pwsh powershell")
_AFTER = words("after_script after_success after_failure after_deploy on_failure on_finish")
_TOLERATES = words("continue-on-error allow_failure continueOnError ignore_error soft_fail")
_OPTIONAL = re.compile(
    r"nightly|experimental|canary|optional|allowed?[-_ ]?fail|bleeding|beta\b|\bdev\b|[-_]dev\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"(?:\$\{\{\s*)?(?:false|0|never\(\))(?:\s*&&.*)?(?:\s*\}\})?", re.IGNORECASE)
_ABOUT_TESTS = re.compile(r"test|spec|check|unit|suite", re.IGNORECASE)
_PREPARES = re.compile(
    r"(?:actions/(?:checkout|cache|setup|upload|download|github)|codecov/|docker/|.*/setup-|.*cache"
    r"|.*lint|.*toolchain).*"
)
_KEY = re.compile(r"^[ \t]*+(?:- )?(?:\w{1,30}:)?", re.MULTILINE)
# A workflow with no other trigger runs when a person asks for it.
_BY_HAND = "workflow_dispatch"


def read_workflow(text: str) -> RunnerFacts:
    """Return what a file of a CI service runs."""
    document = yaml_text.load(text)
    if not isinstance(document, dict):
        return read_shell(_KEY.sub("", text))  # whatever it is, its commands stand on lines
    muted = ""
    if _triggers(document.get("on")) == {_BY_HAND}:
        muted = f"on: {_BY_HAND}"
    walk = _Walk()
    facts = joined(walk.facts(document, muted, 0))
    return joined([facts, RunnerFacts(restraints=frozenset(_tolerated(document)))])


def _triggers(node: object) -> set[str]:
    if isinstance(node, str):
        return {node}
    if isinstance(node, dict | list):
        return set(map(str, node))
    return set()


def _tolerated(document: dict[str, Any]) -> Iterator[str]:
    """Yield the jobs of Travis or AppVeyor that may fail, if their entry is about tests."""
    for place in (document, document.get("matrix"), document.get("jobs")):
        entries = place.get("allow_failures") if isinstance(place, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            shown = " ".join(map(str, entry.values())) if isinstance(entry, dict) else str(entry)
            if _ABOUT_TESTS.search(shown) and not _OPTIONAL.search(shown):
                yield f"allow_failures {shown}"


class _Walk:
    """One walk over a document; an alias makes the same node appear again, and is not followed."""

    def __init__(self) -> None:
        self._nodes = 0

    def facts(self, node: object, muted: str, depth: int) -> Iterator[RunnerFacts]:
        """Yield what the commands below a node run; `muted` hides the failure of all of them."""
        self._nodes += 1
        if self._nodes > yaml_text.MOST_NODES or depth > yaml_text.DEEPEST:
            return
        if isinstance(node, list):
            for entry in node:
                yield from self.facts(entry, muted, depth + 1)
        elif isinstance(node, dict):
            muted = muted or _muting(node)
            for key, value in node.items():
                if key in _AFTER or _is_optional(key, value):
                    continue
                if key in _COMMANDS:
                    yield _muted_facts(_shell(value), muted)
                elif key == PYTEST_OPTIONS and isinstance(value, str):
                    added = [f"pytest {option}" for option in added_options(value)]
                    yield RunnerFacts(restraints=frozenset(added))
                elif key == "uses" and not _PREPARES.fullmatch(str(value)):
                    yield RunnerFacts(others=frozenset([f"uses {value}"]))
                yield from self.facts(value, muted, depth + 1)


def _is_optional(key: str, value: object) -> bool:
    """Whether a job is one that is meant to be allowed to fail, by its name."""
    if not isinstance(value, dict):
        return False
    return _OPTIONAL.search(f"{key} {value.get('name', '')}") is not None


def _muting(node: dict[str, Any]) -> str:
    """Return the key of a step or a job that hides failures, or keeps it from running."""
    for key in _TOLERATES:
        if str(node.get(key)).lower() == "true":
            return f"{key}: true"
    for key in ("if", "condition"):
        value = node.get(key)
        if isinstance(value, str) and _NEVER.fullmatch(value.strip()[:200]):
            return f"{key}: {value}"
    if str(node.get("enabled")).lower() == "false":
        return "enabled: false"
    for entry in (node, *_unconditional_rules(node.get("rules"))):
        if entry.get("when") in ("never", "manual"):
            return f"when: {entry['when']}"
    return ""


def _unconditional_rules(rules: object) -> list[dict[str, Any]]:
    """Return the only rule of a GitLab job, if it has one and that has no condition."""
    if not isinstance(rules, list) or len(rules) != 1 or not isinstance(rules[0], dict):
        return []
    return [] if {"if", "changes", "exists"} & rules[0].keys() else rules


def _shell(value: object) -> RunnerFacts:
    """Return what a command, or a list of them, runs."""
    lines = value if isinstance(value, list) else [value]
    text = "\n".join(line for line in lines if isinstance(line, str))
    return read_shell(text, stops_at_errors=True)


def _muted_facts(facts: RunnerFacts, muted: str) -> RunnerFacts:
    if not muted:
        return facts
    commands = [structs.replace(one, muted=one.muted or muted) for one in facts.commands]
    return structs.replace(facts, commands=tuple(commands), others=frozenset())
