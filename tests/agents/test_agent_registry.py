"""Agents by name: our own, and those that other packages add."""

import sys
from datetime import UTC, datetime

import pytest

from dos.agents import codex, registry
from dos.agents.adapter import Clocks, Settings
from dos.errors import BadInput
from dos.records.endings import Ending

PLUGIN = """
from dos.agents.adapter import Launch
from dos.agents.command import outcome, parse

name = "robot"
vendor = "robots"
program = "robot"
tested = ("1.0", "2")

def launch(prompt, settings):
    return Launch(argv=["robot"], stdin=prompt)

class Robot:
    name = "robot"
    vendor = "robots"
    program = "robot"
    tested = ("", "")
    launch = staticmethod(launch)
    parse = staticmethod(parse)
    outcome = staticmethod(outcome)

def breaks(*given):
    raise RuntimeError("out of order")

class Broken(Robot):
    launch = parse = outcome = staticmethod(breaks)

class Wrong(Robot):
    launch = parse = outcome = staticmethod(lambda *given: 42)

class Half:
    name = "half"
    vendor = ""
    program = ""
    tested = "2.1"
    launch = None
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A package with entry points, as pip would leave it."""

    def make(*points: str) -> None:
        site = tmp_path / "site"
        info = site / "robots-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "robots.py").write_text(PLUGIN)
        (site / "ruins.py").write_text("raise RuntimeError('out of order')")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: robots\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[dos.agents]\n" + "\n".join(points) + "\n")
        monkeypatch.syspath_prepend(str(site))
        for module in ("robots", "ruins"):
            monkeypatch.delitem(sys.modules, module, raising=False)

    return make


@pytest.mark.parametrize("name", registry.NAMES)
def test_our_own_are_found_by_their_names(name):
    adapter = registry.find(name)
    assert adapter.name == name
    assert len(adapter.tested) == 2


@pytest.mark.parametrize("value", ["robots", "robots:Robot"])
def test_a_module_or_a_class_of_another_package_is_an_agent(install, value):
    install(f"robot = {value}")
    assert registry.names() == [*registry.NAMES, "robot"]
    assert registry.find("robot").vendor == "robots"


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("ruins", "cannot be loaded: RuntimeError: out of order"),
        ("robots:Nobody", "cannot be loaded: AttributeError"),
        ("no_such_package", "cannot be loaded: ModuleNotFoundError"),
        ("robots:Half", "has no usable launch, parse, outcome, tested"),
        ("robots:name", "has no usable name, vendor, program"),
    ],
)
def test_one_that_cannot_be_used_is_named_with_the_reason(install, value, complaint):
    install(f"robot = {value}")
    with pytest.raises(BadInput) as raised:
        registry.find("robot")
    assert "'robot'" in raised.value.message and value in raised.value.message
    assert complaint in raised.value.message
    assert raised.value.hint


def test_one_that_is_broken_is_not_in_the_way_of_another(install):
    install("robot = robots", "wreck = ruins")
    assert registry.find("robot").name == "robot"
    assert registry.find("codex").name == "codex"


def test_nobody_takes_one_of_our_own_names(install):
    install("codex = robots")
    assert registry.find("codex").vendor == "openai"
    assert registry.names() == list(registry.NAMES)


def test_a_bug_in_one_of_our_own_costs_a_line_and_not_the_reader(monkeypatch):
    def broken(line):
        raise RuntimeError("a line that nobody thought of")

    monkeypatch.setattr(codex, "parse", broken)
    assert registry.find("codex").parse("{}") == ()


def test_an_unknown_name_is_answered_with_the_known_ones(install):
    install("robot = robots")
    with pytest.raises(BadInput) as raised:
        registry.find("claud")
    assert "'claud'" in raised.value.message
    assert all(name in raised.value.message for name in (*registry.NAMES, "robot"))


@pytest.mark.parametrize("value", ["robots:Broken", "robots:Wrong"])
def test_what_goes_wrong_in_an_agent_of_another_package_is_told_and_ends_nobody(install, value):
    install(f"robot = {value}")
    adapter = registry.find("robot")
    with pytest.raises(BadInput, match="'robot' cannot be launched"):
        adapter.launch("do it", Settings())
    assert adapter.parse("a line") == ()
    ended = adapter.outcome(["a line"], 0, Clocks(ended_at=datetime.now(UTC)))
    assert (ended.ending, ended.found.field) == (Ending.OK, "outcome")
