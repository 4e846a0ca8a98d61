"""What an agent is told."""

from dos.agents import prompt
from dos.units.unit import Unit


def test_a_unit_is_told_with_its_bounds_its_judge_and_its_past():
    unit = Unit(plan="AUTH", id="1", title="Tokens", text="Make tokens.")
    told = prompt.unit_prompt(
        unit, globs=["src/auth/**"], acceptance="make test", history=["it strayed"]
    )
    assert told.startswith("# Unit AUTH/1: Tokens\n\nMake tokens.\n")
    for words in ("only: src/auth/**", "\n    Unit: AUTH/1\n", "\n    make test\n", "- it strayed"):
        assert words in told


def test_braces_in_a_unit_are_only_braces():
    told = prompt.unit_prompt(
        Unit(plan="A", id="1", title="{x}", text="{trailer}"),
        globs=["{a,b}"],
        acceptance="",
        history=[],
    )
    assert "{trailer}" in told and "{a,b}" in told


def test_grooming_names_the_documents_the_lanes_and_what_is_held():
    told = prompt.replan_prompt(
        ["docs/plan.md"], lanes=["api", "web"], held=["API2: no acceptance"], globs=["docs/**"]
    )
    for words in (
        "- docs/plan.md",
        "api, web",
        "- API2: no acceptance",
        "only: docs/**",
        "\n    Plan: replan\n",
    ):
        assert words in told
    assert "Remove nothing that is not done" in told
    assert "Unit: " not in told


def test_grooming_stays_in_the_documents_where_no_other_bounds_are_given():
    told = prompt.replan_prompt(["docs/{plan}.md"], lanes=["api"], held=[], globs=[])
    assert "only: docs/{plan}.md." in told
    assert "held" not in told
