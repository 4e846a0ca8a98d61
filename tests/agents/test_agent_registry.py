"""Agents by name: our own, and those that other packages add."""

import sys

import pytest
from captures import ENDED, after, ended, heard, states

from dos.agents import codex, registry
from dos.agents.adapter import Ending, Settings, Usage
from dos.errors import BadInput

PLUGIN = """
from msgspec import structs
from dos.agents import command
from dos.agents.adapter import Activity, Launch, Used, Waiting
from dos.records.endings import Ending, Outcome, Usage

name = "robot"
vendor = "robots"
program = "robot"
tested = ("1.0", "2")

def launch(prompt, settings):
    return Launch(argv=["robot"], stdin=prompt)

def parse(line):
    if line.startswith("waits"):
        return (Waiting(ending=Ending.OVERLOADED, text=line),)
    return (Activity(text=line), Used(usage=Usage(model="r", output_tokens=len(line))))

def outcome(lines, exit_code, clocks):
    worked = [line for line in lines if not line.startswith("waits")]
    used = Usage(model="r", output_tokens=sum(len(line) for line in worked))
    return Outcome(ending=Ending.OK, claim=lines[-1], usage=(used,))

class Robot:
    name = "robot"
    vendor = "robots"
    program = "robot"
    tested = ("", "")
    launch = staticmethod(launch)

class ByLines(Robot):
    parse = staticmethod(parse)
    outcome = staticmethod(outcome)

class Fold(Robot):
    begin = staticmethod(command.begin)
    on_line = staticmethod(command.on_line)
    outcome = staticmethod(command.outcome)

def breaks(*given):
    raise RuntimeError("out of order")

def answers(*given):
    return 42

class BrokenByLines(ByLines):
    launch = parse = outcome = staticmethod(breaks)

class BrokenFold(Fold):
    launch = begin = on_line = outcome = staticmethod(breaks)

class WrongByLines(ByLines):
    launch = parse = outcome = staticmethod(answers)

class WrongFold(Fold):
    launch = begin = on_line = outcome = staticmethod(answers)

class Half:
    name = "half"
    vendor = ""
    program = ""
    tested = "2.1"
    launch = None

class HalfFold(Half):
    on_line = None
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


@pytest.mark.parametrize("value", ["robots", "robots:ByLines", "robots:Fold"])
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
        ("robots:HalfFold", "has no usable launch, begin, on_line, outcome, tested"),
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
    def broken(state, line):
        raise RuntimeError("a line that nobody thought of")

    monkeypatch.setattr(codex, "on_line", broken)
    adapter = registry.find("codex")
    assert adapter.on_line(adapter.begin(), "{}") == adapter.begin()


def test_an_unknown_name_is_answered_with_the_known_ones(install):
    install("robot = robots")
    with pytest.raises(BadInput) as raised:
        registry.find("claud")
    assert "'claud'" in raised.value.message
    assert all(name in raised.value.message for name in (*registry.NAMES, "robot"))


BROKEN = ("robots:BrokenByLines", "robots:BrokenFold", "robots:WrongByLines", "robots:WrongFold")


@pytest.mark.parametrize("value", BROKEN)
def test_what_goes_wrong_in_an_agent_of_another_package_is_told_and_ends_nobody(install, value):
    install(f"robot = {value}")
    adapter = registry.find("robot")
    with pytest.raises(BadInput, match="'robot' cannot be launched"):
        adapter.launch("do it", Settings())
    assert heard(adapter, ["a line"]) == []
    outcome = ended(adapter, ["a line"], 0, ENDED)
    assert (outcome.ending, outcome.found.field) == (Ending.OK, "outcome")


def test_an_adapter_of_the_first_form_is_folded(install):
    install("robot = robots:ByLines")
    adapter, said = registry.find("robot"), ["one", "waits for it", "three"]
    assert [state.waiting is not None for state in states(adapter, said)] == [
        False,
        False,
        True,
        False,
    ]
    assert [each.text for each in heard(adapter, said)] == said
    assert [sum(used.tokens for used in state.usage) for state in states(adapter, said)] == [
        0,
        3,
        3,
        8,
    ]
    outcome = ended(adapter, said, 0, ENDED)
    assert (outcome.claim, outcome.usage) == ("three", after(adapter, said).usage)


def test_what_an_adapter_of_the_first_form_cannot_see_any_more_was_heard_as_it_went(
    install, monkeypatch
):
    monkeypatch.setattr(registry, "LINES_KEPT", 2)
    install("robot = robots:ByLines")
    adapter = registry.find("robot")
    assert ended(adapter, ["one", "two", "three"], 0, ENDED).usage == (
        Usage(model="r", output_tokens=11),
    )
