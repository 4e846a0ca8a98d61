"""Reads settings of Python's test runners: pytest, coverage, tox, nox, and hooks in conftest.py."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from dos.audit.settings.facts import RunnerFacts, joined, number
from dos.audit.settings.shell_text import read_shell
from dos.testrunners import pytest_settings
from dos.testrunners.shell_lines import simple_commands
from dos.testrunners.test_commands import parse_test_command

_SELECTIONS = ("testpaths", "python_files", "python_functions", "python_classes")
_FAIL_UNDER = re.compile(r"--(?:cov-)?fail-under[= ]+([\d.]+)")
_FACTOR = re.compile(r"^[\w!{},.-]{1,80}:\s+")  # `py3: pytest`: only with that factor
_STRING = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")
_RUNS = re.compile(r"\bsession\.run(?:_always)?\(([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)")
_IGNORED = re.compile(
    r"^(?:collect_ignore(?:_glob)?)(?:\s*:[^=\n]*)?\s*(?:\+?=\s*|\.(?:append|extend)\()"
    r"\s*([\[(]?[^\])]{0,2000}+)",
    re.MULTILINE,
)
# What a hook does that keeps collected tests from running, or a failed run from failing.
_DROPS = re.compile(
    r"\bitems\[:\]\s*=(?!\s*(?:sorted|list\(reversed|reversed))|\bdel items\b|\bitems\.(?:remove"
    r"|clear|pop)\(|\bpytest_deselected\(|\.add_marker\([^\n]{0,100}(?:skip|xfail)"
)
_MUTES = re.compile(r"\bexitstatus\s*=\s*(?:0|[\w.]*OK)\b|\boutcome\s*=\s*[\"']passed[\"']")
_ASKS = re.compile(r"\bgetoption\b|\bgetini\b|environ|getenv|\bplatform\b|find_spec|importorskip")
_HOOK = re.compile(r"^def (?P<name>pytest_\w+)\(", re.MULTILINE)
_NEXT_BLOCK = re.compile(r"^\S", re.MULTILINE)


def read_python_settings(path: str, text: str) -> RunnerFacts:
    """Return what a settings file of Python tools says about tests."""
    name = path.rpartition("/")[2].lower()
    if name == "conftest.py":
        return RunnerFacts(restraints=frozenset(_conftest_restraints(text)))
    if name == "noxfile.py":
        return joined(map(_session_run, _RUNS.findall(text)))
    parts = [_pytest_facts(pytest_settings.read(path, text)), _coverage_facts(name, text)]
    if name == "tox.ini":
        parts.append(_tox_facts(text))
    if name == "pyproject.toml":
        parts += _task_tables(text)
    return joined(parts)


def _pytest_facts(table: Mapping[str, Any]) -> RunnerFacts:
    options = table.get("addopts") or ""
    if isinstance(options, list):
        options = " ".join(f"'{option}'" for option in options)
    added = added_options(options)
    restraints = [f"pytest {restraint}" for restraint in added]
    restraints += [f"pytest norecursedirs {name}" for name in _list(table, "norecursedirs")]
    demands: dict[str, float] = {}
    if str(table.get("xfail_strict", table.get("strict", ""))).lower() in ("true", "1", "yes"):
        demands["xfail_strict"] = 1.0
    if "error" in _lines(table.get("filterwarnings")):
        demands["filterwarnings = error"] = 1.0
    demands |= _coverage(options)
    selections = {}
    for key in _SELECTIONS:
        if patterns := _list(table, key):
            selections[key] = frozenset(patterns)
    return RunnerFacts(restraints=frozenset(restraints), demands=demands, selections=selections)


def added_options(options: str) -> Iterator[str]:
    """Yield those options for every run of pytest that leave tests out, or hide failures."""
    for command in simple_commands(f"pytest {' '.join(options.split())}"):
        found = parse_test_command(command.words)
        if found:
            yield from found.restraints
            yield from filter(None, [found.muted])


def _list(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return pytest_settings.listed(table.get(key))


def _lines(value: object) -> list[str]:
    """Return the entries of a setting with one a line."""
    if isinstance(value, list):
        return [str(entry).strip() for entry in value]
    return [line.strip() for line in str(value or "").split("\n")]


def _coverage(text: str) -> dict[str, float]:
    demands = {}
    for found in _FAIL_UNDER.findall(text):
        value = number(found)
        if value is not None:
            demands["coverage"] = value
    return demands


def _coverage_facts(name: str, text: str) -> RunnerFacts:
    """Return the coverage that the report of coverage.py asks for."""
    value: object = None
    if name == "pyproject.toml":
        value = _toml(text).get("tool", {}).get("coverage", {}).get("report", {}).get("fail_under")
    elif name in (".coveragerc", "setup.cfg", "tox.ini"):
        section = "report" if name == ".coveragerc" else "coverage:report"
        value = pytest_settings.ini_sections(text).get(section, {}).get("fail_under")
    asked = number(value)
    if asked is None:
        return RunnerFacts()
    return RunnerFacts(demands={"coverage": asked})


def _tox_facts(text: str) -> RunnerFacts:
    """Return what the environments of tox run; a dash before a command hides its failure."""
    parts = []
    for section, table in pytest_settings.ini_sections(text).items():
        if not section.startswith("testenv"):
            continue
        for line in (table.get("commands") or "").replace("\\\n", " ").split("\n"):
            parts.append(read_shell(_tox_command(line)))
        if str(table.get("ignore_outcome")).lower() == "true":
            parts.append(RunnerFacts(restraints=frozenset([f"tox {section} ignore_outcome"])))
    return joined(parts)


def _tox_command(line: str) -> str:
    """Return a command of tox as a shell would be given it."""
    command = _FACTOR.sub("", line.strip())
    return f"{command[2:]} || :" if command.startswith("- ") else command


def _session_run(arguments: str) -> RunnerFacts:
    """Return what a session of nox runs by one call."""
    given = [double or single for double, single in _STRING.findall(arguments)]
    line = " ".join(f"'{word}'" for word in given)
    if re.search(r"success_codes\s*=\s*\[[^\]]*[1-9]", arguments):
        line += " || :"
    return read_shell(line)


def _task_tables(text: str) -> list[RunnerFacts]:
    """Return what the tasks in a pyproject.toml run: of hatch, pdm, poe and taskipy."""
    tools = _toml(text).get("tool", {})
    tables = [
        tools.get("poe", {}).get("tasks", {}),
        tools.get("taskipy", {}).get("tasks", {}),
        tools.get("pdm", {}).get("scripts", {}),
    ]
    tables += [
        environment.get("scripts", {})
        for environment in tools.get("hatch", {}).get("envs", {}).values()
        if isinstance(environment, dict)
    ]
    facts = []
    for table in tables:
        for task in table.values() if isinstance(table, dict) else ():
            if isinstance(task, dict):
                task = task.get("cmd", task.get("shell", ""))
            facts.append(read_shell(task if isinstance(task, str) else ""))
    return facts


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _conftest_restraints(text: str) -> Iterator[str]:
    """Yield what a conftest.py does to tests: paths that it leaves out, hooks that drop tests."""
    for found in _IGNORED.findall(text):
        for double, single in _STRING.findall(found):
            yield f"pytest collect_ignore {double or single}"
    for match in _HOOK.finditer(text):
        end = _NEXT_BLOCK.search(text, match.end())
        body = text[match.end() : end.start() if end else len(text)]
        name = match["name"]
        is_dropping = name == "pytest_collection_modifyitems" and _DROPS.search(body)
        is_ignoring = name == "pytest_ignore_collect" and "return True" in body
        if (is_dropping or is_ignoring) and not _ASKS.search(body):
            yield f"{name} drops tests"
        if name.startswith(("pytest_session", "pytest_runtest")) and _MUTES.search(body):
            yield f"{name} hides failures"
