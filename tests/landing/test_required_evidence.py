"""`[verify] require` when work lands: what can never be shown does not land."""

import pytest
from driven_worker import happened, work
from sample_repository import CONFIG, Repository, commit, write

from dos.verify.policy import Policy
from dos.verify.shipped import stricter, why_unreachable

PLAN = "# A plan\n\n## DEMO A1: first\n- lane: one\n- paths: one/**\n"
ACCEPTED = f"{PLAN}- acceptance: `grep -q 42 one/a.py`\n"
DONE = [write("one/a.py", "def answer():\n    return 42\n"), commit("Do A1")]


def prepare(repository: Repository, plan: str, require: str) -> None:
    (repository.root / "docs" / "demo-plan.md").write_text(plan)
    text = CONFIG.format(script=repository.script, home=repository.home)
    (repository.root / "dos.toml").write_text(f'{text}\n[verify]\nrequire = "{require}"\n')
    repository.commit_all("Plan")
    repository.play({"DEMO/A1": [DONE]})


@pytest.mark.parametrize("require", ["witnessed", "attested"])
def test_work_without_an_acceptance_command_cannot_be_witnessed_and_does_not_land(
    repository, require
):
    prepare(repository, PLAN, require)
    work(repository)
    assert repository.subjects() == ["Plan", "Begin"]
    reason = happened(repository, "work_measured")[0]["reason"]
    assert reason == (
        f"[verify] require = '{require}' asks for a runner that saw it work, and the unit has no"
        " acceptance command"
    )


@pytest.mark.parametrize(
    ("plan", "require"), [(ACCEPTED, "witnessed"), (PLAN, "live"), (PLAN, "named")]
)
def test_work_that_can_reach_the_required_evidence_lands(repository, plan, require):
    prepare(repository, plan, require)
    work(repository)
    assert repository.subjects()[0] == "Do A1"


def test_work_cannot_lower_what_is_required_of_itself(repository):
    prepare(repository, PLAN, "witnessed")
    text = (repository.root / "dos.toml").read_text().replace('one = ["one/**"]', 'one = ["**"]')
    text = text.replace('two = ["two/**"]', 'two = ["none/**"]')
    (repository.root / "dos.toml").write_text(text)
    repository.commit_all("Widen the lane")
    lowered = text.replace('"witnessed"', '"named"')
    repository.play({"DEMO/A1": [[write("dos.toml", lowered), *DONE]]})
    work(repository)
    assert repository.subjects()[0] == "Widen the lane"
    assert "has no acceptance command" in happened(repository, "work_measured")[0]["reason"]


@pytest.mark.parametrize("require", ["witnessed", "attested"])
def test_an_acceptance_that_passes_without_the_work_witnesses_nothing(require):
    policy = Policy(require=require)
    why = why_unreachable(policy, has_acceptance=True, passes_without_work=True)
    assert "its acceptance command passes without the work too" in why
    assert why_unreachable(policy, has_acceptance=True, passes_without_work=False) == ""
    assert why_unreachable(policy, has_acceptance=True) == "", "it is not known yet"


def test_a_ci_that_is_asked_later_can_attest_what_no_command_tells():
    policy = Policy(require="attested", non_git_oracle="ci_status")
    assert why_unreachable(policy, has_acceptance=False) == ""


def test_the_stricter_of_two_policies_counts():
    named, live = Policy(require="named"), Policy(require="live")
    assert stricter(named, live) == stricter(live, named) == live
