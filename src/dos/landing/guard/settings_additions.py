"""Tells whether a change of a runner's settings only adds to them: a new target, a new script.

What was there runs as it did. Of other settings every change counts.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from msgspec import DecodeError, json

from dos.verify import runners

_MAKEFILE = re.compile(r"(?:gnu)?makefile|.*\.mk")
_RULE = re.compile(r"(?P<targets>[\w./ -]+?)\s*::?(?!=)(?P<needs>[^=]*)")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*[:?]?=.*")
# Variables that make itself, or every command that it starts, reads.
_OF_MAKE = re.compile(r"SHELL|MAKE\w*|VPATH|GNUMAKEFLAGS|PATH|HOME|\w*(?:FLAGS|OPTS|OPTIONS)")
_PHONY = ".PHONY"
_NO_TEST = "Error: no test specified"


class _Rule(NamedTuple):
    """A rule of a Makefile with its recipe, or another line of it, which has no targets."""

    head: str
    recipe: tuple[str, ...] = ()


def only_adds(path: str, old: str, new: str) -> bool:
    """Whether settings say all that they said, and new targets or scripts besides."""
    name = path.rpartition("/")[2].lower()
    if _MAKEFILE.fullmatch(name):
        return _adds_targets(old, new)
    if name == "package.json":
        return _adds_scripts(path, old, new)
    return False


def _adds_targets(old: str, new: str) -> bool:
    """Whether a Makefile has all its rules and lines in their order, and only new rules besides.

    The first rule stays the first: that is what `make` alone runs.
    """
    before, after = _rules(old), _rules(new)
    if not _phony(old) <= _phony(new) or _default(before) not in ("", _default(after)):
        return False
    known = frozenset(re.findall(r"[\w./-]+", " ".join(rule.head for rule in before)))
    left = [rule for rule in before if not rule.head.startswith(_PHONY)]
    for rule in after:
        if left and rule == left[0]:
            left.pop(0)
        elif not rule.head.startswith(_PHONY) and not _is_new_rule(rule, known, old):
            return False
    return not left


def _default(rules: Iterable[_Rule]) -> str:
    """The head of the rule that `make` alone runs; empty if there is none."""
    for rule in rules:
        if not rule.head.startswith(".") and _RULE.fullmatch(rule.head):
            return rule.head
    return ""


def _is_new_rule(rule: _Rule, known: frozenset[str], old: str) -> bool:
    variable = _VARIABLE.fullmatch(rule.head)
    if variable and not rule.recipe:
        name = variable["name"]
        return not _OF_MAKE.fullmatch(name) and re.search(rf"\b{name}\b", old) is None
    matched = _RULE.fullmatch(rule.head)
    if matched is None:
        return False
    targets = matched["targets"].split()
    is_special = any(target.startswith(".") for target in targets)
    return not is_special and known.isdisjoint(targets)


def _rules(text: str) -> list[_Rule]:
    """The rules and other lines of a Makefile, without comments and blank lines."""
    found: list[_Rule] = []
    for line in _lines(text):
        if line.startswith("\t") and found:
            last = found.pop()
            found.append(_Rule(last.head, (*last.recipe, line.strip())))
        else:
            found.append(_Rule(line.strip()))
    return found


def _lines(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line


def _phony(text: str) -> frozenset[str]:
    """The targets that make runs whatever files there are."""
    names: list[str] = []
    for rule in _rules(text):
        if rule.head.startswith(_PHONY):
            names += rule.head.partition(":")[2].split()
    return frozenset(names)


def _adds_scripts(path: str, old: str, new: str) -> bool:
    """Whether a package.json has new scripts that npm starts only by their own name."""
    try:
        before, after = json.decode(old), json.decode(new)
        scripts = _real_scripts(before)
        more = after.get("scripts", {})
        kept = {name: more[name] for name in scripts}
    except (DecodeError, AttributeError, KeyError, TypeError):
        return False
    if kept != scripts or _rest(path, before) != _rest(path, after):
        return False
    hooks = {f"{prefix}{name}" for prefix in ("pre", "post") for name in scripts}
    return hooks.isdisjoint(more.keys() - scripts.keys())


def _real_scripts(package: dict[str, Any]) -> dict[str, str]:
    """The scripts of a package.json, without what `npm init` writes where there is no test yet."""
    scripts: dict[str, str] = package.get("scripts", {})
    return {name: script for name, script in scripts.items() if _NO_TEST not in script}


def _rest(path: str, package: dict[str, Any]) -> object:
    """What a package.json says about tests besides its scripts."""
    return runners.settings_part(path, json.encode(package | {"scripts": {}}).decode(), "")
