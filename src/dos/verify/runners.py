"""What runs the tests of a repository: settings of runners, scripts, and what a command names."""

import re
import tomllib
from collections.abc import Callable, Iterable
from configparser import ConfigParser
from configparser import Error as ConfigError
from typing import Any

from msgspec import DecodeError, json

from dos.verify import file_kinds

# Files at the top of a tree that name what a test command runs.
NAMING = (
    "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "tox.ini",
    "noxfile.py",
)  # fmt: skip
_SETTINGS = re.compile(
    r"(?:gnu)?makefile|justfile|taskfile\.ya?ml|tox\.ini|noxfile\.py|\.?pytest\.(?:ini|toml)"
    r"|setup\.cfg|pyproject\.toml|package\.json|conftest\.py|\.mocharc\..*|\.nycrc.*|\.coveragerc"
    r"|(?:jest|vitest|karma|playwright|cypress|ava|wdio)\.conf(?:ig)?\..*|bunfig\.toml"
    r"|\.rspec|rakefile|phpunit\.xml(?:\.dist)?|nextest\.toml|sitecustomize\.py|usercustomize\.py"
)
# Parts of a settings file that say how tests run; the rest is about the program.
_PYTHON_TOOLS = ("coverage", "hatch", "nox", "pdm", "poe", "pytest", "taskipy", "tox")
_SCRIPT_KEYS = ("scripts", "jest", "mocha", "ava", "vitest", "c8", "nyc")
# Programs that a test command starts. A file of such a name in the tree can be started in place of
# the program, and one of these modules can be imported in place of the runner.
_PROGRAMS = file_kinds.words(
    "ava bash bats bun bundle cargo cat cmp coverage ctest deno diff dotnet env false git go gradle"
    " gradlew grep jest just karma make mix mocha mvn mvnw mypy node nose npm npx nox phpunit pip"
    " pnpm pytest py.test python python3 rake rspec ruby ruff sed sh swift tap test tox true uv"
    " vitest yarn zsh"
)
_RUNNER_MODULE = re.compile(r"(?:.*/)?(?:pytest|_pytest|unittest|nose)(?:\.py|/.*)", re.DOTALL)
# Scripts that a command names and that judge by their name.
_CHECKING = re.compile(
    r"(?:^|/)(?:[\w.-]*[-_.])?(?:accept(?:ance)?|assert|check|ci|judge|lint|tests?|validate|verify)"
    r"(?:[-_.][\w.-]*)?$|(?:^|/)(?:ci|checks?|scripts|tools|hack|bin)/",
    re.IGNORECASE,
)


def runner_text(command: str, tracked: Iterable[str], read: Callable[[str], str]) -> str:
    """Return a test command with the text of the files that it runs in turn.

    `read` returns the text of a tracked file; empty where there is none.
    """
    texts = [command]
    texts += map(read, NAMING)
    texts += _package_scripts(read("package.json"))
    for path in tracked:
        is_shell = path.rpartition(".")[2] in file_kinds.SHELL
        if is_shell and file_kinds.is_named_by_runner(path, "\n".join(texts)):
            texts.append(read(path))
    return "\n".join(texts)


def is_settings(path: str, runner: str = "") -> bool:
    """Whether a file configures how tests are run, by its name; Vite's does so for vitest."""
    name = path.rpartition("/")[2].lower()
    if name.startswith("vite.config."):
        return "vitest" in runner
    return _SETTINGS.fullmatch(name) is not None


def is_judging_script(path: str, runner: str) -> bool:
    """Whether a runner names a script that judges, and is not itself the program.

    A shell script and a file without a suffix are taken for such a script; code in another
    language only if its name or its folder says so.
    """
    if not file_kinds.is_named_by_runner(path, runner):
        return False
    name = path.rpartition("/")[2]
    if "." not in name or name.rpartition(".")[2].lower() in file_kinds.SHELL:
        return True
    return _CHECKING.search(path) is not None


def shadows_a_program(path: str) -> bool:
    """Whether a file of the tree could be started, or imported, in place of a test runner."""
    return path.rpartition("/")[2] in _PROGRAMS or _RUNNER_MODULE.fullmatch(path) is not None


def settings_part(path: str, text: str, runner: str) -> object:
    """Return the part of a settings file that says how tests run, to be compared.

    It is the whole text of a file that has nothing else in it, or cannot be read. The tables of
    the tools that the runner names count as well.
    """
    name = path.rpartition("/")[2].lower()
    try:
        if name == "pyproject.toml":
            return _chosen(tomllib.loads(text).get("tool", {}), (*_PYTHON_TOOLS, *_words(runner)))
        if name == "package.json":
            return _chosen(json.decode(text), _SCRIPT_KEYS)
        if name == "setup.cfg":
            return _tool_sections(text, runner)
    except (tomllib.TOMLDecodeError, DecodeError, ConfigError, AttributeError):
        pass
    return text


def _package_scripts(text: str) -> list[str]:
    """The scripts of a package.json, which `npm test` and the like run."""
    try:
        scripts = json.decode(text or "{}")["scripts"]
        return [str(script) for script in scripts.values()]
    except (DecodeError, KeyError, AttributeError, TypeError):
        return []


def _chosen(table: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: table[key] for key in keys if key in table}


def _tool_sections(text: str, runner: str) -> dict[str, dict[str, str]]:
    """The sections of setup.cfg that are about tools: `tool:pytest`, and those of named tools."""
    parser = ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    parser.read_string(text)
    named = _words(runner)
    sections = {}
    for section in parser.sections():
        if section.startswith("tool:") or section in named or section in _PYTHON_TOOLS:
            sections[section] = dict(parser[section])
    return sections


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]+", text))
