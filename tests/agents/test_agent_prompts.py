"""What an agent is told."""

from dos.agents import prompt
from dos.units.unit import Unit


def test_a_unit_is_told_with_its_bounds_its_judge_and_its_past():
    unit = Unit(plan="AUTH", id="1", title="Tokens", text="Make tokens.")
    text = prompt.unit_prompt(
        unit, globs=["src/auth/**"], acceptance="make test", history=["it strayed"]
    )
    assert text.startswith("# Unit AUTH/1: Tokens\n\nMake tokens.\n")
    for words in ("only: src/auth/**", "\n    Unit: AUTH/1\n", "\n    make test\n", "- it strayed"):
        assert words in text


def test_a_unit_is_told_what_it_may_do_to_tests():
    kept = Unit(plan="A", id="1", title="x")
    changed = Unit(plan="A", id="1", title="x", tests_may_change=True)
    told = [
        prompt.unit_prompt(unit, globs=["**"], acceptance="", history=[])
        for unit in (kept, changed)
    ]
    assert "Do not remove, loosen or skip existing tests" in told[0]
    assert "tests may be changed" in told[1] and "Do not remove" not in told[1]


def test_braces_in_a_unit_are_only_braces():
    text = prompt.unit_prompt(
        Unit(plan="A", id="1", title="{x}", text="{trailer}"),
        globs=["{a,b}"],
        acceptance="",
        history=[],
    )
    assert "{trailer}" in text and "{a,b}" in text


def test_grooming_names_the_documents_the_lanes_and_what_is_held():
    text = prompt.replan_prompt(
        ["docs/plan.md"], lanes=["api", "web"], held=["API2: no acceptance"], globs=["docs/**"]
    )
    for words in (
        "- docs/plan.md",
        "api, web",
        "- API2: no acceptance",
        "only: docs/**",
        "\n    Plan: replan\n",
    ):
        assert words in text
    assert "Remove nothing that is not done" in text
    assert "Unit: " not in text


def test_grooming_stays_in_the_documents_where_no_other_bounds_are_given():
    text = prompt.replan_prompt(["docs/{plan}.md"], lanes=["api"], held=[], globs=[])
    assert "only: docs/{plan}.md." in text
    assert "held" not in text
