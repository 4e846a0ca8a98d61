"""Reads settings of JavaScript's test runners, written as JSON, YAML or an object of code."""

import re
from collections.abc import Iterator

from dos.audit.settings import yaml_text
from dos.audit.settings.facts import RunnerFacts, joined, number
from dos.audit.settings.shell_text import read_shell

# Where a value stands, from the top, and the value as it is written without quotes.
Setting = tuple[tuple[str, ...], str]

_TOKEN = re.compile(
    r"(?P<drop>//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/|\Z)|\s++)"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|`(?:[^`\\]|\\.)*+`?)"
    r"|(?P<regex>(?<=[\[(:,= ])/(?![/*])(?:[^/\\\n]|\\.){1,400}+/\w{0,8}+)"
    r"|(?P<word>[\w$.+-]++)"
    r"|(?P<mark>.)",
    re.DOTALL,
)
LONGEST_TEXT = 200_000
_EXCLUDING = frozenset(
    ("testPathIgnorePatterns", "testIgnore", "excludeSpecPattern", "grepInvert", "grep", "fgrep")
)
_SELECTING = frozenset(("testMatch", "testRegex", "specPattern", "spec", "files", "include"))
_MUTING = frozenset(("passWithNoTests", "pass-with-no-tests", "dangerouslyIgnoreUnhandledErrors"))
_COVERED = frozenset(("branches", "functions", "lines", "statements"))
_ASKS_COVERAGE = frozenset(
    ("coverageThreshold", "thresholds", "threshold", "coverage", "c8", "nyc")
)
_TEST_SCRIPT = re.compile(
    r"(?:pre|post)?(?:.*[-_:])?(?:tests?|specs?|e2e|unit|ci|check)(?:[-_:].*)?"
)
_IN_PACKAGE = frozenset(("jest", "mocha", "ava", "vitest", "c8", "nyc", "tap"))


def read_script_settings(path: str, text: str) -> RunnerFacts:
    """Return what a settings file of JavaScript tools says about tests."""
    name = path.rpartition("/")[2].lower()
    tool = name.lstrip(".").partition(".")[0].removesuffix("rc")
    if name.endswith((".yml", ".yaml")):
        settings = list(yaml_text.settings(text))
    else:
        settings = list(object_settings(text))
    if name != "package.json":
        return joined(_tool_facts(tool, where, value) for where, value in settings)
    parts = []
    for where, value in settings:
        if where[0] == "scripts" and len(where) == 2:
            if _TEST_SCRIPT.fullmatch(where[1]):
                parts.append(read_shell(value))
        elif where[0] in _IN_PACKAGE:
            parts.append(_tool_facts(where[0], where[1:], value))
    return joined(parts)


def object_settings(text: str) -> Iterator[Setting]:
    """Yield each literal of an object, of JSON or of code, with the keys that lead to it."""
    keys: list[str] = []
    key = ""
    last = ""
    for match in _TOKEN.finditer(text[:LONGEST_TEXT]):
        kind, token = match.lastgroup, match[0]
        if kind == "drop":
            continue
        if kind == "mark":
            if token == ":" and last:
                key, last = last, ""
                continue
            if last and token in ",}])":
                yield tuple(filter(None, (*keys, key))) or ("",), last
            last = ""
            if token in "{[(":
                keys.append(key)
                key = ""
            elif token in "}])":
                key = keys.pop() if keys else ""
            if token == ",":
                key = ""  # in a list there is none: it was put away where the bracket opened
        elif kind == "text":
            last = re.sub(r"\\(.)", r"\1", token[1:].removesuffix(token[0]))
        else:
            last = token


def _tool_facts(tool: str, where: tuple[str, ...], value: str) -> RunnerFacts:
    """Return what one setting of a tool says about tests."""
    if not where or not value or value.startswith("..."):
        return RunnerFacts()
    key = next((name for name in reversed(where) if name), "")
    is_excluding = key in _EXCLUDING or (
        key in ("exclude", "ignore") and "coverage" not in where and _is_about_tests(tool, where)
    )
    if is_excluding or (tool == "ava" and key == "files" and value.startswith("!")):
        return RunnerFacts(restraints=frozenset([f"{tool} {key} {value.lstrip('!')}"]))
    if key in _MUTING and value == "true":
        return RunnerFacts(restraints=frozenset([f"{tool} {key}"]))
    if key in _SELECTING and "coverage" not in where and _is_about_tests(tool, where):
        return RunnerFacts(selections={f"{tool} {key}": frozenset([value])})
    asked = number(value)
    if key in _COVERED and asked is not None and _ASKS_COVERAGE.intersection((tool, *where)):
        return RunnerFacts(demands={" ".join(("coverage", *where)): asked})
    if key in ("checkCoverage", "check-coverage") and value == "true":
        return RunnerFacts(demands={"check-coverage": 1.0})
    return RunnerFacts()


def _is_about_tests(tool: str, where: tuple[str, ...]) -> bool:
    """Whether a key with a common name is one of the tests: Vite has others of that name.

    Those of c8 and nyc are about coverage.
    """
    if tool in ("c8", "nyc"):
        return False
    if tool in ("vite", "vitest", "deno", "bunfig"):
        return "test" in where
    return len(where) == 1
