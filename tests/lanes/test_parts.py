"""The parts of repeatable lanes: which units have one, and what each may change."""

from pathlib import Path

import pytest
from msgspec import structs

from dos.config.load import parse
from dos.config.schema import Config
from dos.fields import BadValue
from dos.fleet import worker_health
from dos.lanes import parts
from dos.lanes.parts import LanesWithParts
from dos.lanes.policy import Lanes
from dos.regions import lane_holds
from dos.units.unit import Unit

LANES = Lanes(
    concurrent=("web",),
    repeatable=("api",),
    exclusive=("global",),
    autopick=("api",),
    trees={"api": ("src/**",), "web": ("web/**",), "global": ("**",)},
    agents={"api": "codex"},
)


def unit(number: int, *paths: str, lane: str = "api") -> Unit:
    return Unit(plan="AUTH", id=f"AUTH{number}", title="", lane=lane, paths=paths)


def lanes_of(*units: Unit, lanes: Lanes = LANES) -> list[str | None]:
    found = parts.with_parts(lanes, units)
    return [parts.lane_of(found, each) for each in units]


def test_a_unit_with_paths_in_a_repeatable_lane_has_a_part_of_its_own():
    login = unit(1, "src/login/**", "src/session.py")
    lanes = parts.with_parts(LANES, [login])
    assert parts.lane_of(lanes, login) == "api/AUTH/AUTH1"
    region = lanes.region("api/AUTH/AUTH1")
    assert region is not None
    assert lane_holds(region, "src/login/form.py")
    assert not lane_holds(region, "src/logout.py"), "what lies in the lane is not in each part"


def test_a_unit_of_another_lane_stays_there():
    assert lanes_of(unit(1, "web/a.js", lane="web")) == ["web"]


def test_a_unit_that_names_no_lane_has_a_part_of_the_first_of_autopick():
    assert lanes_of(unit(1, "src/a.py", lane="")) == ["api/AUTH/AUTH1"]


@pytest.mark.parametrize("paths", [(), ("docs/a.md",), ("src/a.py", "docs/a.md"), ("**",)])
def test_a_unit_whose_paths_are_not_surely_inside_is_worked_on_in_the_whole_lane(paths):
    assert lanes_of(unit(1, *paths), unit(2, "src/b.py")) == ["api", "api/AUTH/AUTH2"]


def test_names_that_a_file_system_may_take_for_one_are_not_two_parts():
    first = Unit(plan="AUTH", id="A1", title="", lane="api", paths=("src/a.py",))
    second = Unit(plan="AUTH", id="a1", title="", lane="api", paths=("src/b.py",))
    assert lanes_of(first, second) == ["api/AUTH/A1", "api"]


def test_a_name_that_is_too_long_for_a_lane_is_no_part():
    long = Unit(plan="AUTH", id="A" * 95, title="", lane="api", paths=("src/a.py",))
    assert lanes_of(long) == ["api"]


def test_a_plan_cannot_name_a_part_as_its_lane():
    thief = unit(2, "src/login/**", lane="api/AUTH/AUTH1")
    assert lanes_of(unit(1, "src/login/**"), thief) == ["api/AUTH/AUTH1", None]


def test_a_declared_lane_keeps_its_name():
    lanes = Lanes(
        repeatable=("api",),
        concurrent=("api/AUTH/AUTH1",),
        trees={"api": ("src/**",), "api/AUTH/AUTH1": ("docs/**",)},
    )
    assert lanes_of(unit(1, "src/a.py"), lanes=lanes) == ["api"]
    assert lanes.whole_of("api/AUTH/AUTH1") == ""


def test_workers_are_placed_on_parts_in_the_order_of_the_plan_and_not_on_those_that_landed():
    units = [unit(3, "src/c.py"), unit(1, "src/a.py"), unit(2, "src/b.py")]
    lanes = parts.with_parts(LANES, units, landed={"AUTH/AUTH1"})
    placed = ["web", "api/AUTH/AUTH3", "api/AUTH/AUTH2", "api", "global"]
    assert lanes.roster() == placed
    numbers = [parts.part_number(lanes, f"api/AUTH/AUTH{number}") for number in (3, 1, 2)]
    assert numbers == [0, 1, 2], "those that landed count, so that no other number changes"
    assert parts.lane_of(lanes, units[1]) == "api/AUTH/AUTH1", "its work is still found there"


def test_without_repeatable_lanes_nothing_changes():
    lanes = Lanes(concurrent=("api",), trees={"api": ("src/**",)})
    assert parts.with_parts(lanes, [unit(1, "src/a.py")]) is lanes
    config = Config(lanes=lanes)
    assert worker_health.with_parts(config, [unit(1, "src/a.py")]) is config


def test_a_part_has_the_agent_of_its_lane_with_and_without_the_units():
    with_parts = parts.with_parts(LANES, [unit(1, "src/a.py")])
    assert isinstance(with_parts, LanesWithParts)
    for lanes in (LANES, with_parts):
        assert lanes.agent("api/AUTH/AUTH1") == "codex"
        assert lanes.whole_of("API/auth/auth1") == "api"
        assert lanes.agent("web") == lanes.whole_of("web") == lanes.whole_of("api/") == ""


def test_a_repeatable_lane_gets_workers_without_being_concurrent():
    assert LANES.roster() == ["web", "api", "global"]
    assert worker_health.why_unstaffed(unit(1), Config(lanes=LANES)) == ""


@pytest.mark.parametrize(
    ("roles", "repeatable"),
    [
        ("concurrent = []", ("api",)),
        ("concurrent = []\nrepeatable = ['docs', 'api']", ("docs", "api")),
        ("concurrent = []\nrepeatable = ['docs']", ("docs", "api")),
        ("concurrent = ['docs']", ()),
        ("", ()),
        ("repeatable = ['docs']", ("docs",)),
    ],
)
def test_with_no_concurrent_lane_those_of_autopick_are_repeatable(roles, repeatable):
    tables = "exclusive = ['all']\nautopick = ['api', 'all']\n[lanes.trees]\napi = ['src/**']\n"
    lanes = parse(f"[lanes]\n{roles}\n{tables}", Path("dos.toml")).config.lanes
    assert lanes.repeatable == repeatable
    part = "api/AUTH/AUTH1" if "api" in repeatable else "api"
    assert lanes_of(unit(1, "src/a.py"), lanes=lanes) == [part]


@pytest.mark.parametrize("broken", ["autopick = ['api', 3]", "autopick = ['api', 'API']", "x = 1"])
def test_lanes_with_an_error_share_nothing(broken):
    text = f"[lanes]\nconcurrent = []\n{broken}\n"
    assert parse(text, Path("dos.toml"), lenient=True).config == Config()


def test_whoever_declares_one_lane_more_keeps_those_that_are_shared():
    other = unit(1, lane="web")
    for lanes, words in (
        (structs.replace(LANES, concurrent=()), """lanes.repeatable '["api","web"]'"""),
        (Lanes(concurrent=("api",), trees=LANES.trees), """lanes.concurrent '["api","web"]'"""),
    ):
        assert f"`dos config set {words}`" in worker_health.how_to_staff(other, Config(lanes=lanes))


def test_a_lane_that_runs_alone_cannot_be_repeatable():
    with pytest.raises(BadValue, match="runs alone"):
        Lanes(exclusive=("api",), repeatable=("api",), trees={"api": ("src/**",)})
