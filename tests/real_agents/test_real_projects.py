"""A real project of each kind, from the registries: a real program behind walls changes it and runs
its tests, setup and acceptance run in the check tree, and the work lands as witnessed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agent_fleet import AgentFleet, committing, say_done
from installing import Unavailable
from programs import CLAUDE_CODE, CODEX, Program
from registry_projects import from_debian, from_npm, from_pypi
from test_real_agents import WALLS

from dos.agents.homes.variables import is_listed

pytestmark = [
    pytest.mark.programs,  # for what they download
    pytest.mark.timeout(1800),
]
UNIT = "MORE/MORE1"
SECONDS = 900
# The user's, from which a lane gets its copies.
SETTINGS = (".config/pip/pip.conf", ".pip/pip.conf", ".npmrc")
USER_HOME = Path.home()
POINTER = "version https://git-lfs.github.com/spec/v1"
LARGE_FILTER = """[filter "large"]
	process = git-lfs filter-process
	required = true
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge -- %f
"""


class Project:
    """A repository made of a real project, with one unit whose test is there and red."""

    def __init__(self, fleet: AgentFleet, *, setup: str = "", acceptance: str) -> None:
        self.fleet = fleet
        self.root = fleet.root
        self._acceptance = acceptance
        self._plan = (
            f"# A plan\n\n## {UNIT.replace('/', ' ')}: do what its test wants\n- lane: more\n"
            f"- acceptance: `{acceptance}`\n"
        )
        fleet.lanes = {"more": [UNIT]}
        fleet.configure("lanes", trees={"more": ["**"]})
        fleet.configure("workers", setup=setup, silence_seconds=300, wall_seconds=600)
        # As people run it: with the variables of their shell, and the settings of their home.
        listed = {name: value for name, value in os.environ.items() if is_listed(name)}
        fleet.environment = listed | fleet.environment
        fleet.environment.setdefault("RUSTUP_HOME", str(USER_HOME / ".rustup"))
        for name in SETTINGS:
            if (USER_HOME / name).exists():
                path = fleet.home / "home" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(USER_HOME / name, path)

    def begin(self, files: dict[str, str], tag: str = "1.0.0") -> None:
        self.fleet.begin()
        write(self.root, files | {"docs/sample-plan.md": self._plan})
        self.fleet.git("add", "--all")
        self.fleet.git("commit", "--quiet", "-m", "Import")
        self._tag = tag

    def land(self, program: Program, change: str) -> None:
        """A real program makes the change in its lane and sees the project's tests pass there."""
        step = f"{change} && {self._acceptance} && {committing(UNIT)}"
        self.fleet.staff(program, [{"bash": step}, *say_done(UNIT)])
        self.fleet.write_settings()
        self.fleet.git("commit", "--quiet", "--all", "-m", "Let an agent work")
        self.fleet.git("tag", "-a", self._tag, "-m", self._tag)
        self.fleet.start()
        self.fleet.finish(SECONDS)
        ended = [event["body"] for event in self.fleet.events("agent_ended")]
        assert self.fleet.landed() == [UNIT], (ended, self.why())
        assert len(ended) == 1, (ended, self.why())
        receipt = self.fleet.receipt(UNIT)
        assert receipt["sandbox"] == WALLS
        assert receipt["agent"] == program.name
        assert (receipt["tells_apart"], receipt["exit_code"]) == (True, 0), receipt

    def why(self) -> str:
        words = (("why", UNIT), ("logs", "more"))
        return "\n".join([self.fleet.story, *(self.fleet.dos(*verb).stdout for verb in words)])


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def new_project(new_fleet):
    def make(program: Program, **settings: str) -> Project:
        return Project(new_fleet({"more": [UNIT]}, program), **settings)

    return make


@pytest.fixture
def fetch():
    """Call a function of `registry_projects`; the test is skipped where the registry is away."""

    def call(get, *words) -> None:
        try:
            get(*words)
        except Unavailable as error:
            pytest.skip(str(error))

    return call


def test_a_python_package_whose_version_setuptools_scm_reads_from_git(new_project, fetch):
    check = ".venv/bin/python -m pytest -q -p no:cacheprovider testing"
    setup = f"{sys.executable} -m venv .venv && .venv/bin/pip install --quiet -e . pytest"
    project = new_project(CLAUDE_CODE, setup=setup, acceptance=check)
    fetch(from_pypi, project.root, "pluggy", "1.5.0")
    red = (
        "import pluggy\n\n\ndef test_it_names_its_hooks():\n"
        '    assert pluggy.__version__.startswith("1.5.0")\n'
        '    manager = pluggy.PluginManager("one")\n'
        "    assert manager.hook_names() == []\n"
    )
    ignored = (project.root / ".gitignore").read_text() + ".venv/\n"
    project.begin({"testing/test_hook_names.py": red, ".gitignore": ignored}, tag="1.5.0")
    method = "    def hook_names(self):\\n        return sorted(vars(self.hook))\\n\\n"
    project.land(CLAUDE_CODE, f"sed -i 's/^    def unregister(/{method}&/' src/pluggy/_manager.py")


def test_an_npm_workspace(new_project, fetch):
    setup = "npm install --no-package-lock --no-audit --no-fund"
    project = new_project(CLAUDE_CODE, setup=setup, acceptance="npm test --workspaces")
    packages = project.root / "packages"
    fetch(from_npm, packages / "wordwrap", "wordwrap", "1.0.0")
    fetch(from_npm, packages / "concat-map", "concat-map", "0.0.1")
    wordwrap = json.loads((packages / "wordwrap" / "package.json").read_text())
    wordwrap |= {"scripts": {"test": "tape test/*.js"}, "dependencies": {"concat-map": "0.0.1"}}
    red = (
        "var test = require('tape');\nvar wrap = require('../');\n\n"
        "test('lines', function (t) {\n"
        "    t.deepEqual(wrap.lines(5, ['to be', 'or not']), ['to be', 'or', 'not']);\n"
        "    t.end();\n});\n"
    )
    project.begin(
        {
            "package.json": '{"private": true, "workspaces": ["packages/*"]}\n',
            "packages/wordwrap/package.json": json.dumps(wordwrap, indent=2),
            "packages/wordwrap/test/lines.js": red,
            ".gitignore": "node_modules/\n",
        }
    )
    change = (
        "cat >> packages/wordwrap/index.js <<'END'\n\n"
        "wordwrap.lines = function (stop, texts) {\n"
        "    return require('concat-map')(texts, function (text) {\n"
        "        return wordwrap(stop)(text).split('\\n');\n"
        "    });\n};\nEND\ntrue"
    )
    project.land(CLAUDE_CODE, change)


def test_a_crate(new_project, fetch):
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    project = new_project(CODEX, acceptance="cargo test --quiet --offline")
    fetch(from_debian, project.root, "librust-itoa-dev")
    red = "#[test]\nfn test_longest() {\n    assert_eq!(itoa::longest(), 40);\n}\n"
    project.begin({"tests/longest.rs": red, ".gitignore": "target/\nCargo.lock\n"})
    added = "/// The most bytes that a number takes.\npub const fn longest() -> usize {\n"
    added += "    I128_MAX_LEN\n}\n"
    project.land(CODEX, f"cat >> src/lib.rs <<'END'\n\n{added}END\ntrue")


def test_a_project_with_a_submodule(new_project, fetch):
    check = "PYTHONPATH=src:vendor/iniconfig/src python3 -m unittest discover -s tests"
    project = new_project(CODEX, setup="git submodule update --init", acceptance=check)
    library = project.fleet.home / "iniconfig"
    fetch(from_pypi, library, "iniconfig", "1.1.1")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "1.1.1"]):
        git(library, *words)
    red = (
        "import unittest\n\nfrom settings import names\n\n\n"
        "class NamesTest(unittest.TestCase):\n    def test_names(self):\n"
        "        self.assertEqual(names('vendor/iniconfig/example.ini'), ['section1'])\n"
    )
    project.begin({"tests/test_names.py": red, ".gitignore": "__pycache__/\n"})
    allow = ("-c", "protocol.file.allow=always")
    git(project.root, *allow, "submodule", "--quiet", "add", str(library), "vendor/iniconfig")
    git(project.root, "commit", "--quiet", "-m", "Add iniconfig")
    source = "from iniconfig import IniConfig\n\n\ndef names(path):\n"
    source += "    return [section.name for section in IniConfig(path)][:1]\n"
    project.land(CODEX, f"mkdir -p src && cat > src/settings.py <<'END'\n{source}END\ntrue")


@pytest.mark.parametrize("is_named", [True, False], ids=["filter named", "pointers"])
def test_a_project_with_large_files(new_project, fetch, is_named):
    """The filter has a name of its own: the system may have one that is named `lfs`."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not installed")
    check = "PYTHONPATH=src python3 testing/check_large.py"
    project = new_project(CLAUDE_CODE, acceptance=check)
    fetch(from_pypi, project.root, "iniconfig", "1.1.1")
    fleet = project.fleet
    with (fleet.home / "home" / ".gitconfig").open("a") as config:
        config.write(LARGE_FILTER)
    if is_named:
        fleet.configure("workers", git_config=["filter.large.*"])
    red = (
        "from iniconfig.counting import count_lines\n\n"
        f"assert count_lines('testing/large.ini') >= {40_000 if is_named else 3}\n"
    )
    project.begin(
        {
            ".gitattributes": "testing/large.ini filter=large -text\n",
            "testing/large.ini": "[section]\n" * 40_000,
            "testing/check_large.py": red,
            ".gitignore": "__pycache__/\n",
        }
    )
    assert POINTER in fleet.git("cat-file", "-p", "main:testing/large.ini")
    source = "def count_lines(path):\n    with open(path) as opened:\n"
    source += "        return len(opened.readlines())\n"
    change = f"cat > src/iniconfig/counting.py <<'END'\n{source}END\n"
    project.land(CLAUDE_CODE, f"{change}head -1 testing/large.ini > first-line.txt")
    expected = "[section]" if is_named else POINTER
    assert fleet.git("show", "main:first-line.txt") == expected, "as the agent saw it"
    assert POINTER in fleet.git("cat-file", "-p", "main:testing/large.ini")
    assert fleet.git("status", "--porcelain") == "", "the checkout has the file itself"
