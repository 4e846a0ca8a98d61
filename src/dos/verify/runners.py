"""What runs the tests of a repository: settings of runners, scripts, and what a command names."""

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from configparser import ConfigParser
from configparser import Error as ConfigError
from typing import Any

from msgspec import DecodeError, Struct, json

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
    r"|.*\.mk|cargo\.toml|\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.cjs|deno\.jsonc?|\.taprc"
    r"|maven\.config|jvm\.config|gradle\.properties|\.stestr\.conf"
)
_TASK_FILE = re.compile(
    r"(?P<make>(?:gnu)?makefile|.*\.mk)|(?P<just>justfile)|(?P<task>taskfile\.ya?ml)"
    r"|(?P<npm>package\.json)|(?P<rake>rakefile)|(?P<nox>noxfile\.py)|(?P<deno>deno\.jsonc?)"
)
# What programs read whatever they run.
_ALWAYS_READ = re.compile(
    r"(?:^|/)(?:(?:site|user)customize\.py|\.npmrc|\.yarnrc.*|\.pnpmfile\.cjs|\.cargo/.*"
    r"|\.mvn/.*|gradle\.properties|bunfig\.toml)$"
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
_CARGO_KEYS = {
    "package": ("autotests",),
    "lib": ("test", "doctest", "harness"),
    "bin": ("test", "harness"),
    "workspace": ("exclude", "default-members"),
}
_RUNNER_MODULE = re.compile(r"(?:.*/)?(?:pytest|_pytest|unittest|nose)(?:\.py|/.*)", re.DOTALL)
# Scripts that a command names and that judge by their name.
_CHECKING = re.compile(
    r"(?:^|/)(?:[\w.-]*[-_.])?(?:accept(?:ance)?|assert|check|ci|judge|lint|tests?|validate|verify)"
    r"(?:[-_.][\w.-]*)?$|(?:^|/)(?:ci|checks?|scripts|tools|hack)/",
    re.IGNORECASE,
)
# Where programs are: what is started there is the work, unless its name says that it judges.
_PROGRAM_FOLDER = re.compile(r"(?:^|/)(?:s?bin|libexec|src|lib|app|cmd)/")
_SCRIPT_FOLDER = re.compile(r"(?:^|/)(?:ci|checks?|scripts|tools|hack)/")
_MODULES = ("py", "js", "mjs", "cjs", "ts")
_EXPECTED = re.compile(
    r"(?:^|[/_.-])(?:expected|goldens?)(?:[/_.-]|$)|(?:^|/)(?:__snapshots__|testdata)/"
    r"|\.snap$|\.approved\.\w+$",
    re.IGNORECASE,
)
_INSTALLED = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|__pycache__|[^/]+\.(?:egg|dist)-info)/"
)
# Code that asserts when it is run, as a test does, whatever its name.
_ASSERTS = re.compile(
    r"^assert\b|^(?:import|from) .*\b(?:unittest|pytest)\b"
    r"|(?:from|import|require)[ (]*[\"'](?:node:test|test|vitest|@jest/globals|chai)[\"']",
    re.MULTILINE,
)
# Where pytest is told about plugins, and how.
_LOADS_PLUGINS = file_kinds.words(
    "conftest.py pytest.ini .pytest.ini tox.ini setup.cfg pyproject.toml"
)
_PLUGIN = re.compile(
    r"(?<![\w-])-p[\"',\s=]*([\w.]+)|pytest_plugins\s*=\s*[\[(]?((?:\s*[\"'][\w.]+[\"']\s*,?)+)"
)
MOST_READ = 100  # files that may tell pytest about plugins


class Runner(Struct, frozen=True, kw_only=True):
    """What runs the tests of a tree, as one commit has it."""

    text: str = ""  # the command, and the text of the files that it runs in turn
    helpers: frozenset[str] = frozenset()  # its scripts, and what they read or import in turn
    script_folders: frozenset[str] = frozenset()  # of its scripts: Python imports from there first
    has_packages: bool = False  # installed packages are tracked, so they are no intruders
    has_tests: bool = True
    task_files: frozenset[str] = frozenset()  # the kinds of files with tasks that there are


def read_runner(command: str, tracked: Sequence[str], read: Callable[[str], str]) -> Runner:
    """Return what runs when a command does; `read` returns the text of a tracked file."""
    text = runner_text(command, tracked, read)
    scripts = []
    for path in _named(tracked, text):
        is_script = is_judging_script(path, text)
        if is_script or (file_kinds.is_program(path) and _ASSERTS.search(read(path))):
            scripts.append(path)
    helpers = {*scripts, *_plugins(tracked, read)}
    waiting = list(scripts)
    while waiting:
        script = waiting.pop()
        read_by = set(_files_read_by(script, read(script), tracked)) - helpers
        helpers |= read_by
        waiting += read_by
    return Runner(
        text=text,
        helpers=frozenset(helpers),
        script_folders=frozenset(path.rpartition("/")[0] for path in scripts),
        has_packages=any(map(is_installed, tracked)),
        has_tests=any(map(file_kinds.is_run_as_test, tracked)),
        task_files=frozenset(filter(None, map(_task_file, tracked))),
    )


def _named(tracked: Iterable[str], text: str) -> Iterator[str]:
    """Yield the files that a text names."""
    for path in tracked:
        stem = path.rpartition("/")[2].partition(".")[0]
        if stem in text and file_kinds.is_named_by_runner(path, text):  # most fail the first
            yield path


def runner_text(command: str, tracked: Iterable[str], read: Callable[[str], str]) -> str:
    """Return a test command with the text of the files that it runs in turn.

    `read` returns the text of a tracked file; empty where there is none.
    """
    texts = [command]
    for folder in ("", *file_kinds.run_folders(command)):
        prefix = f"{folder}/" if folder else ""
        texts += [read(f"{prefix}{name}") for name in NAMING]
        texts += _package_scripts(read(f"{prefix}package.json"))
    waiting = {path for path in tracked if path.rpartition(".")[2] in file_kinds.SHELL}
    named = waiting
    while named:
        text = "\n".join(texts)
        named = {path for path in waiting if file_kinds.is_named_by_runner(path, text)}
        texts += map(read, sorted(named))
        waiting = waiting - named
    return "\n".join(texts)


def _files_read_by(script: str, text: str, tracked: Iterable[str]) -> Iterator[str]:
    """Yield the files below a script's folder that it names from there.

    Shell files are always taken; modules only in a folder of scripts: elsewhere they are the
    program.
    """
    folder = script[: script.rfind("/") + 1]
    suffixes = set(file_kinds.SHELL)
    if _SCRIPT_FOLDER.search(folder):
        suffixes.update(_MODULES)
    for path in tracked:
        if path == script or not path.startswith(folder):
            continue
        is_helper = path.rpartition(".")[2] in suffixes
        if is_helper and file_kinds.is_named_by_runner(path.removeprefix(folder), text):
            yield path


def _plugins(tracked: Sequence[str], read: Callable[[str], str]) -> Iterator[str]:
    """Yield the modules of the tree that pytest is told to load as plugins."""
    modules: set[str] = set()
    for path in [path for path in tracked if path.rpartition("/")[2] in _LOADS_PLUGINS][:MOST_READ]:
        for match in _PLUGIN.finditer(read(path)):
            modules.update(re.findall(r"[\w.]+", match[1] or match[2]))
    files = tuple(f"/{module.replace('.', '/')}.py" for module in modules)
    for path in tracked:
        if f"/{path}".endswith(files):
            yield path


def is_settings(path: str, runner: str = "") -> bool:
    """Whether a file configures how tests are run, by its name; Vite's does so for vitest."""
    folder, _, name = path.lower().rpartition("/")
    if name.startswith("vite.config."):
        return "vitest" in runner
    if folder.rpartition("/")[2] == ".cargo":
        return name in ("config", "config.toml")
    return _SETTINGS.fullmatch(name) is not None


def could_steer(path: str, runner: Runner) -> bool:
    """Whether new settings could decide about something that was there.

    A file with tasks takes the place only of another one of its kind, and settings of a test
    framework are about tests.
    """
    tasks = _task_file(path)
    if tasks:
        return tasks in runner.task_files
    return runner.has_tests or _ALWAYS_READ.search(path) is not None


def _task_file(path: str) -> str:
    """Return the kind of a file that says what a task runs, such as `make`; else empty."""
    match = _TASK_FILE.fullmatch(path.rpartition("/")[2].lower())
    return (match.lastgroup or "") if match else ""


def is_judging_script(path: str, runner: str) -> bool:
    """Whether a runner names a script that judges, and is not itself the program.

    A shell script and a file without a suffix are taken for such a script, except in a folder of
    programs such as `bin`; code in another language only if its name or its folder says so.
    """
    name = path.rpartition("/")[2]
    if not file_kinds.is_named_by_runner(path, runner):
        return False
    is_script = "." not in name or name.rpartition(".")[2].lower() in file_kinds.SHELL
    if is_script and not _PROGRAM_FOLDER.search(path):
        return True
    return _CHECKING.search(path) is not None


def shadows_a_program(path: str) -> bool:
    """Whether a file of the tree could be started, or imported, in place of a test runner."""
    return path.rpartition("/")[2] in _PROGRAMS or _RUNNER_MODULE.fullmatch(path) is not None


def is_new_judging_script(path: str, runner: str) -> bool:
    """Whether a script that the work brings, and the runner names, judges by its own name."""
    name = path.rpartition("/")[2]
    return _CHECKING.search(name) is not None and file_kinds.is_named_by_runner(path, runner)


def is_expected_output(path: str) -> bool:
    """Whether a file is what a test compares with: a golden file, a snapshot; never a program."""
    return not file_kinds.is_program(path) and _EXPECTED.search(path) is not None


def is_installed(path: str) -> bool:
    """Whether a file lies where packages are installed, and is imported or started from there."""
    return _INSTALLED.search(path) is not None


def hides_a_module(path: str, runner: Runner) -> bool:
    """Whether Python would import a file of the tree in place of a module of its own."""
    folder, _, name = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")
    if not path.endswith(".py") or name == "test" or name not in sys.stdlib_module_names:
        return False
    if not folder or folder in file_kinds.run_folders(runner.text):
        return True
    return folder in runner.script_folders


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
        if name == "cargo.toml":
            return _cargo_part(tomllib.loads(text))
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


def _cargo_part(table: dict[str, Any]) -> dict[str, Any]:
    """What a Cargo.toml says about tests: which there are, and what runs or replaces them."""
    part = _chosen(table, ("test", "patch", "replace"))
    for key, keys in _CARGO_KEYS.items():
        entries = table.get(key, [])
        if isinstance(entries, dict):
            entries = [entries]
        chosen = [_chosen(entry, keys) for entry in entries]
        if any(chosen):
            part[key] = chosen
    return part


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
