"""Mistakes in a configuration that can be read."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dos import regions
from dos.config.lint import MOST_OVERLAPS, Finding, Kind, Severity, as_json, lint, should_fail
from dos.config.load import parse
from dos.config.schema import Config, Reason
from dos.lanes import admission
from dos.lanes.policy import Lanes
from dos.lease import Request

CLEAN = {"concurrent": ("api", "web"), "exclusive": ("global",), "autopick": ("api", "web")}
TREES = {"api": ("src/api/**",), "web": ("web/**",), "global": ("**/*",)}


def found(lanes: Lanes, **tables: object) -> list[tuple[str, str, str]]:
    config = Config(lanes=lanes, **tables)  # type: ignore[arg-type]
    return [
        (finding.severity.value, finding.kind.value, finding.subject) for finding in lint(config)
    ]


def two(**trees: tuple[str, ...]) -> Lanes:
    return Lanes(concurrent=tuple(trees), trees=trees)


@pytest.mark.parametrize(
    ("lanes", "findings"),
    [
        (Lanes(**CLEAN, trees=TREES), []),
        (Config().lanes, []),
        (Lanes(exclusive=("alone",)), []),
        (Lanes(concurrent=("a",)), [("error", "LANE_WITHOUT_TREE", "a")]),
        (Lanes(concurrent=("a",), trees={"a": ()}), [("error", "LANE_WITHOUT_TREE", "a")]),
        (
            Lanes(exclusive=("a",), autopick=("a",)),
            [("error", "LANE_WITHOUT_TREE", "a")],
        ),
        (
            Lanes(concurrent=("a",), exclusive=("a",), trees={"a": ("a/**",)}),
            [("error", "LANE_BOTH_CONCURRENT_AND_EXCLUSIVE", "a")],
        ),
        (
            Lanes(autopick=("a",), trees={"a": ("a/**",)}),
            [("warn", "AUTOPICK_LANE_UNDECLARED", "a")],
        ),
        (
            Lanes(exclusive=("a",), aliases={"word": "gone", "fine": "A"}),
            [("warn", "ALIAS_TARGET_UNDECLARED", "word")],
        ),
        (two(a=("src/**",), b=("src/api/**",)), [("warn", "LANE_REGION_SHADOWED", "b")]),
        (two(a=("src/api/x/**",), b=("src/api/**",)), [("warn", "LANE_REGION_SHADOWED", "a")]),
        (two(a=("**/*",), b=("src/api/**",)), [("warn", "LANE_REGION_SHADOWED", "b")]),
        (two(b=("src/**",), a=("src/**",)), [("warn", "CONCURRENT_LANES_OVERLAP", "a+b")]),
        (
            two(a=("src/**", "x/**"), b=("src/api/**", "y/**")),
            [("warn", "CONCURRENT_LANES_OVERLAP", "a+b")],
        ),
        (two(a=("src/**",), b=("SRC/*.py",)), [("warn", "CONCURRENT_LANES_OVERLAP", "a+b")]),
        (two(a=("src/**",), b=("srcx/**",)), []),
        (
            two(a=("a/**",), b=("a/b/**",), c=("a/b/c/**",)),
            [("warn", "LANE_REGION_SHADOWED", name) for name in ("b", "c", "c")],
        ),
        (
            Lanes(
                concurrent=("z", "y"),
                autopick=("x",),
                aliases={"w": "gone"},
                trees={"y": ("y/**",)},
            ),
            [
                ("error", "LANE_WITHOUT_TREE", "x"),
                ("error", "LANE_WITHOUT_TREE", "z"),
                ("warn", "ALIAS_TARGET_UNDECLARED", "w"),
                ("warn", "AUTOPICK_LANE_UNDECLARED", "x"),
            ],
        ),
    ],
)
def test_findings(lanes: Lanes, findings: list[tuple[str, str, str]]) -> None:
    assert found(lanes) == findings


@pytest.mark.parametrize(
    ("written", "findings"),
    [
        ("concurrent = []\n", []),
        ("concurrent = ['a']\n", [("warn", "AUTOPICK_LANE_UNDECLARED", "b")]),
        ("", [("warn", "AUTOPICK_LANE_UNDECLARED", "b")]),
    ],
)
def test_a_lane_of_autopick_is_declared_where_no_lane_is_concurrent(
    written: str, findings: list[tuple[str, str, str]]
) -> None:
    text = f"[lanes]\n{written}autopick = ['b']\ntrees = {{a = ['a/**'], b = ['b/**']}}\n"
    lanes = parse(text, Path("dos.toml")).config.lanes
    assert found(lanes) == findings


def test_a_lane_without_a_tree_is_told_every_role_it_has() -> None:
    (finding,) = lint(Config(lanes=Lanes(concurrent=("a",), autopick=("a",))))
    assert "concurrent, autopick" in finding.detail


@pytest.mark.parametrize(
    ("reference", "dangles"),
    [
        ("lane gone", True),
        ("lane API", False),
        ("lane <name>", False),
        ("dos man wedge", False),
        ("lanes", False),
    ],
)
def test_a_reason_that_refers_to_a_lane_nobody_declared_is_said(
    reference: str, dangles: bool
) -> None:
    reasons = {"VENDOR": Reason(category="MISROUTE", see_also=(reference,))}
    findings = found(Lanes(**CLEAN, trees=TREES), reasons=reasons)
    assert findings == ([("info", "REASON_SEE_ALSO_DANGLES", "VENDOR")] if dangles else [])


def test_a_lane_without_a_tree_is_refused_to_every_worker_as_lint_says() -> None:
    config = Config(lanes=Lanes(concurrent=("a",)))
    [finding] = lint(config)
    assert finding.detail.startswith("lane 'a' (concurrent) has no tree, so no worker can take it;")
    request = Request(
        lane="a", holder="me", host="h", ttl_ms=60_000, region=config.lane_region("a")
    )
    refusal = admission.judge(request, [])
    assert refusal is not None and refusal.reason == "REGION_UNKNOWN"


BROKEN = "[supervise]\ntarget = -1\ntaget = 2\n[surprise]\n[lanes]\nconcurrent = ['a']\n"


def test_what_cannot_be_read_is_listed_as_errors_beside_the_rest() -> None:
    loaded = parse(BROKEN, Path("dos.toml"), lenient=True)
    findings = lint(loaded.config, problems=loaded.problems)
    assert [(finding.kind.value, finding.subject) for finding in findings] == [
        ("CONFIG_INVALID", "supervise.taget"),
        ("CONFIG_INVALID", "supervise.target"),
        ("CONFIG_INVALID", "surprise"),
        ("LANE_WITHOUT_TREE", "a"),
    ]
    assert (
        findings[0].detail.startswith("dos.toml:3: ")
        and "Did you mean `target`?" in findings[0].detail
    )
    assert findings[0].fix.endswith(" +3 dos.toml")


def test_a_file_that_is_not_toml_is_one_error() -> None:
    loaded = parse("[supervise", Path("dos.toml"), lenient=True)
    (finding,) = lint(loaded.config, problems=loaded.problems)
    assert (finding.kind, finding.severity, finding.subject) == (
        Kind.CONFIG_INVALID,
        Severity.ERROR,
        "dos.toml",
    )


def test_the_json_form_counts_every_severity() -> None:
    shown = as_json(lint(Config(lanes=two(a=("src/**",), b=("src/**",)))))
    assert shown["counts"] == {"error": 0, "warn": 1, "info": 0}
    assert list(shown["findings"][0]) == ["kind", "severity", "subject", "detail", "fix"]
    assert as_json([]) == {"findings": [], "counts": {"error": 0, "warn": 0, "info": 0}}


@pytest.mark.parametrize(
    ("kind", "fail", "strict_fail"),
    [
        (Kind.LANE_WITHOUT_TREE, True, True),
        (Kind.CONCURRENT_LANES_OVERLAP, True, False),
        (Kind.REASON_SEE_ALSO_DANGLES, False, False),
    ],
)
def test_what_fails_the_verb(kind: Kind, fail: bool, strict_fail: bool) -> None:
    severity = {"LANE": Severity.ERROR, "CONC": Severity.WARN, "REAS": Severity.INFO}[
        kind.value[:4]
    ]
    findings = [Finding(kind=kind, severity=severity, subject="s", detail="d", fix="f")]
    assert (should_fail(findings), should_fail(findings, strict=True)) == (fail, strict_fail)
    assert not should_fail([])


FOLDERS = st.sampled_from(["a/**", "a/b/**", "a/b/c.py", "b/**", "c/*", "**/*", "A/**"])


@settings(deadline=None)
@given(st.lists(FOLDERS, min_size=1, max_size=3), st.lists(FOLDERS, min_size=1, max_size=3))
def test_a_pair_of_lanes_has_one_finding_exactly_when_their_regions_overlap(
    one: list[str], other: list[str]
) -> None:
    findings = lint(Config(lanes=two(a=tuple(one), b=tuple(other))))
    assert len(findings) == int(regions.overlaps(regions.region(one), regions.region(other)))


@pytest.mark.timeout(30)  # it takes a fraction of a second; comparing all pairs takes minutes
def test_ten_thousand_lanes_are_not_compared_with_one_another() -> None:
    names = [f"lane{number}" for number in range(10_000)]
    trees = {name: (f"src/{name}/**", f"tests/{name}/**") for name in names}
    assert (
        lint(Config(lanes=Lanes(concurrent=tuple(names), autopick=tuple(names), trees=trees))) == []
    )


@pytest.mark.soak
@pytest.mark.timeout(30)
def test_two_lanes_of_many_folders_are_compared_quickly() -> None:
    one = tuple(f"a/{number}/**" for number in range(5_000))
    other = (*(f"b/{number}/**" for number in range(5_000)), "a/4999/x/**")
    (finding,) = lint(Config(lanes=two(one=one, other=other)))
    assert "'a/4999/**' and 'a/4999/x/**'" in finding.detail


def test_when_everything_collides_only_so_many_pairs_are_listed() -> None:
    names = tuple(f"lane{number}" for number in range(200))
    findings = lint(Config(lanes=two(**dict.fromkeys(names, ("src/**",)))))
    assert len(findings) == MOST_OVERLAPS + 1
    assert f"more than {MOST_OVERLAPS:,} pairs" in findings[0].detail


@pytest.mark.parametrize(
    ("lanes", "fix"),
    [
        (Lanes(concurrent=("a",)), "dos config set lanes.trees.a '[\"A/**\"]'"),
        (Lanes(concurrent=("b",)), "${EDITOR:-vi} dos.toml"),
        (
            Lanes(exclusive=("a",), autopick=("b c",), trees={"b c": ("b/**",)}),
            "dos config unset lanes.autopick 'b c'",
        ),
        (
            Lanes(exclusive=("a",), autopick=("-b",), trees={"-b": ("b/**",)}),
            "dos config unset -- lanes.autopick -b",
        ),
        (
            Lanes(exclusive=("a",), aliases={"it's": "gone"}),
            """dos config unset 'lanes.aliases."it'"'"'s"'""",
        ),
    ],
)
def test_the_fix_is_a_command(lanes: Lanes, fix: str) -> None:
    (finding,) = lint(Config(lanes=lanes), folder_trees={"a": "A/**"})
    assert finding.fix == fix


@pytest.mark.parametrize(
    ("trigger", "auto", "kinds"),
    [
        ("all_phases_shipped", True, []),
        ("any_phase_open", True, []),
        ("approved", False, []),  # a person judges it
        ("approved", True, ["TRIGGER_UNKNOWN"]),
        ("all_phases_shiped", True, ["TRIGGER_UNKNOWN"]),
    ],
)
def test_an_automatic_transition_by_a_trigger_that_nobody_knows_is_a_warning(trigger, auto, kinds):
    moves = f'{{from = "active", to = "done", trigger = "{trigger}", auto = {str(auto).lower()}}}'
    loaded = parse(f"[lifecycle]\ntransitions = [{moves}]\n", Path("dos.toml"))
    findings = lint(loaded.config)
    assert [finding.kind.value for finding in findings] == kinds
    assert should_fail(findings) == bool(kinds)
