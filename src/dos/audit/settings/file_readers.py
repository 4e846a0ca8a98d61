"""Which files say how tests are run, and what reads each of them."""

import re
from collections.abc import Callable
from functools import lru_cache

from dos.audit.settings import build_tools, python_tools, script_tools, workflows
from dos.audit.settings.facts import RunnerFacts, joined
from dos.audit.settings.shell_text import read_shell
from dos.verify import file_kinds, runners

LONGEST_TEXT = 200_000  # characters; the rest of a file is not read
_CI = re.compile(
    r"(?:.*/)?(?:\.drone|\.cirrus|\.woodpecker|buildspec|cloudbuild|taskfile)\.ya?ml"
    r"|\.(?:buildkite|woodpecker|semaphore|gitea/workflows|forgejo/workflows)/[^/]+\.ya?ml"
    r"|\.gitlab/.*\.ya?ml|\.github/actions/.*/action\.ya?ml"
)
_PYTHON = re.compile(
    r"tox\.ini|noxfile\.py|\.?pytest\.(?:ini|toml)|setup\.cfg|pyproject\.toml|conftest\.py"
    r"|\.coveragerc"
)
_SCRIPT = re.compile(
    r"package\.json|\.mocharc\..*|\.nycrc.*|\.c8rc.*|\.taprc|deno\.jsonc?"
    r"|(?:jest|vitest|vite|karma|playwright|cypress|ava|wdio)\.conf(?:ig)?\..*"
)
_RUBY = re.compile(r"\.rspec|rakefile|.*\.rake|(?:spec|rails|test)_helper\.rb")
_MARKUP = re.compile(r"pom\.xml|phpunit\.xml(?:\.dist)?|.*\.runsettings")
_GRADLE = re.compile(r"build\.gradle(?:\.kts)?")
_CMAKE = re.compile(r"cmakelists\.txt|ctestcustom\.cmake|ctestlocal\.cmake")
_CONTAINER = re.compile(r"(?:docker|container)file(?:\..*)?|jenkinsfile(?:\..*)?")
_STEP = re.compile(r"^\s*(?:RUN|sh|bat)\b[ (]*(?P<command>[^\n]*)", re.MULTILINE)


@lru_cache(maxsize=4096)  # a history names the same paths again and again
def is_watched(path: str) -> bool:
    """Whether a file can say which tests run, or whether their failure counts."""
    name = path.rpartition("/")[2].lower()
    if runners.is_settings(path, "vitest") or is_ci(path) or name.endswith("_test.go"):
        return True
    if name.rpartition(".")[2] in file_kinds.SHELL:
        return True
    others = (_RUBY, _MARKUP, _GRADLE, _CMAKE, _CONTAINER, _SCRIPT)
    return any(pattern.fullmatch(name) for pattern in others)


def is_ci(path: str) -> bool:
    """Whether a file says what a CI service, or a runner of tasks in YAML, does."""
    return file_kinds.is_ci(path) or _CI.fullmatch(path.lower()) is not None


def read(path: str, text: str) -> RunnerFacts:
    """Return what a file says about the run of tests; nothing if it cannot be read."""
    text = text[:LONGEST_TEXT]
    name = path.rpartition("/")[2].lower()
    if is_ci(path):
        return workflows.read_workflow(text)
    if _PYTHON.fullmatch(name):
        return python_tools.read_python_settings(path, text)
    if _SCRIPT.fullmatch(name):
        return script_tools.read_script_settings(path, text)
    if name.rpartition(".")[2] in file_kinds.SHELL:
        return read_shell(text, stops_at_errors="-e" in text.partition("\n")[0])
    return _read_build_file(path, name, text)


def _read_build_file(path: str, name: str, text: str) -> RunnerFacts:
    """Return what the file of a build tool says about the run of tests."""
    for pattern, reader in _BUILD_FILES:
        if pattern.fullmatch(name):
            return reader(path, text)
    return RunnerFacts()


def _read_steps(_path: str, text: str) -> RunnerFacts:
    """Return what the steps of a Dockerfile or a Jenkinsfile run."""
    return joined(read_shell(step.strip("\"'() ")) for step in _STEP.findall(text))


_BUILD_FILES: tuple[tuple[re.Pattern[str], Callable[[str, str], RunnerFacts]], ...] = (
    (re.compile(r"(?:gnu)?makefile|.*\.mk|justfile|\.justfile"), build_tools.read_makefile),
    (re.compile(r"cargo\.toml"), build_tools.read_cargo),
    (re.compile(r"nextest\.toml"), build_tools.read_nextest),
    (_MARKUP, build_tools.read_markup),
    (re.compile(r"maven\.config"), build_tools.read_maven_options),
    (_GRADLE, build_tools.read_gradle),
    (_RUBY, build_tools.read_ruby),
    (_CMAKE, build_tools.read_cmake),
    (re.compile(r".*_test\.go"), build_tools.read_go_test),
    (_CONTAINER, _read_steps),
)
