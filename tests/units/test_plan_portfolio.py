"""The units of a workspace together: names, lanes, classes, dependencies."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.units.portfolio import assemble, soak_end
from dos.units.unit import ProblemKind, Unit


def unit(name, *depends, **more):
    plan, unit_id = name.split("/")
    settings = {"document": f"{plan.lower()}-plan.md", "line": 7, **more}
    return Unit(plan=plan, id=unit_id, title=unit_id, depends=depends, **settings)


def said(*units, **more):
    return [(problem.kind, str(problem)) for problem in assemble(units, **more).problems]


def test_of_two_units_of_one_name_the_first_stands():
    portfolio = assemble(
        [unit("A/A1", document="x.md", line=3), unit("A/A1", document="y.md", line=4)]
    )
    assert [each.document for each in portfolio.units] == ["x.md"]
    assert [str(problem) for problem in portfolio.problems] == [
        "y.md:4: unit A/A1 is declared in x.md:3 already"
    ]


@pytest.mark.parametrize(
    ("depends", "resolved"),
    [
        ("A2", "A/A2"),
        ("A/A2", "A/A2"),
        ("B7", "B/B7"),
        ("X1", "A/X1"),  # of its own plan first
    ],
)
def test_a_dependency_is_the_unit_that_is_meant(depends, resolved):
    portfolio = assemble(
        [unit("A/A1", depends), unit("A/A2"), unit("B/B7"), unit("A/X1"), unit("B/X1")]
    )
    assert portfolio.units[0].depends == (resolved,)
    assert portfolio.problems == ()


def test_a_dependency_that_nobody_declares_is_taken_to_be_of_the_same_plan_and_said():
    portfolio = assemble([unit("A/A1", "A9", "Z/Z1")])
    assert portfolio.units[0].depends == ("A/A9", "Z/Z1")
    assert [str(problem) for problem in portfolio.problems] == [
        "a-plan.md:7: unit A/A1 depends on 'A9', which no plan declares",
        "a-plan.md:7: unit A/A1 depends on 'Z/Z1', which no plan declares",
    ]


def test_a_dependency_that_can_mean_two_units_is_said():
    ((kind, text),) = said(unit("A/A1", "X1"), unit("B/X1"), unit("C/X1"))
    assert kind is ProblemKind.DEPENDENCY_UNKNOWN and "B/X1 or C/X1" in text


@pytest.mark.parametrize(
    ("units", "cycles"),
    [
        ([unit("A/A1", "A1")], ["A/A1 → A/A1"]),
        ([unit("A/A1", "A2"), unit("A/A2", "A1")], ["A/A1 → A/A2 → A/A1"]),
        ([unit("A/A0", "A1"), unit("A/A1", "A2"), unit("A/A2", "A1")], ["A/A1 → A/A2 → A/A1"]),
        ([unit("A/A1", "A2"), unit("A/A2", "A3"), unit("A/A3")], []),
        (
            [unit("A/A1", "A2"), unit("A/A2", "A1"), unit("A/A3", "A4"), unit("A/A4", "A3")],
            ["A/A1 → A/A2 → A/A1", "A/A3 → A/A4 → A/A3"],
        ),
    ],
)
def test_units_that_wait_for_one_another_are_said_once_for_each_cycle(units, cycles):
    found = said(*units)
    assert [kind for kind, _ in found] == [ProblemKind.DEPENDENCY_CYCLE] * len(cycles)
    assert all(text.endswith(f": {cycle}") for (_, text), cycle in zip(found, cycles, strict=True))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14))
def test_a_cycle_is_said_exactly_when_there_is_one(edges):
    depends = {node: {f"A{there}" for here, there in edges if here == node} for node in range(7)}
    problems = said(*(unit(f"A/A{node}", *sorted(wanted)) for node, wanted in depends.items()))
    reach = {node: {int(name[1:]) for name in wanted} for node, wanted in depends.items()}
    for _ in reach:
        reach = {
            node: there.union(*(reach[each] for each in there)) for node, there in reach.items()
        }
    assert bool(problems) == any(node in there for node, there in reach.items())


def test_lanes_and_classes_that_nobody_declared_are_said():
    found = said(
        unit("A/A1", lane="web", plan_class="purple"),
        unit("A/A2", lane="api", plan_class="Draft"),
        unit("A/A3", plan_class="review"),
        knows_lane={"api"}.__contains__,
        classes=("review",),
    )
    assert [kind for kind, _ in found] == [ProblemKind.LANE_UNKNOWN, ProblemKind.CLASS_UNKNOWN]
    assert all(text.startswith("a-plan.md:7: unit A/A1 ") for _, text in found)


def test_a_unit_that_asks_for_an_agent_that_nobody_knows_is_held_and_the_reason_says_where():
    known = {"codex": "", "codx": "there is no such agent; did you mean 'codex'?"}
    units = [unit("A/A1", agent="codx"), unit("A/A2", agent="codex"), unit("A/A3")]
    portfolio = assemble(units, why_no_agent=known.__getitem__)
    (problem,) = portfolio.problems
    assert problem.kind is ProblemKind.AGENT_UNKNOWN
    text = (
        "a-plan.md:7: unit A/A1 names the agent 'codx':"
        " there is no such agent; did you mean 'codex'?"
    )
    assert str(problem) == text
    assert [each.gated for each in portfolio.units] == [text, "", ""]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2026-08-20", datetime(2026, 8, 21, tzinfo=UTC)),  # the whole day
        ("2026-08-20T10:30:00Z", datetime(2026, 8, 20, 10, 30, tzinfo=UTC)),
        ("2026-08-20T10:30:00+02:00", datetime(2026, 8, 20, 8, 30, tzinfo=UTC)),
        ("2026-08-20 10:30", datetime(2026, 8, 20, 10, 30, tzinfo=UTC)),
        ("9999-12-31", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_soak_ends_at_a_time_or_with_a_day(text, end):
    assert soak_end(text) == end


def test_a_soak_whose_end_cannot_be_read_is_said():
    ((kind, text),) = said(unit("A/A1", soak_until="next week"))
    assert kind is ProblemKind.SOAK_UNREADABLE and "'next week'" in text
