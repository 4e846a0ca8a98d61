"""Ways to turn an acceptance green without doing the work: none lands; the honest work does.

Each lie is tried first and refused, with a reason that the next agent reads; the next agent does
the work, and that lands as witnessed.
"""

import pytest
from cheats import (
    BASE,
    BUSY,
    GREEN_BEFORE,
    GREEN_TEST,
    HONEST,
    LIES,
    PYTEST,
    RED_TEST,
    RIGHT,
    STUB,
    STUB_ACCEPTANCE,
    STUB_HONEST,
)
from driven_worker import happened, work
from sample_repository import Repository, commit, write

from dos.verify.candidate import Tier
from dos.verify.io import verifier
from dos.world import World

PLAN = "# A plan\n\n## DEMO A1: add prices up\n- lane: one\n- paths: one/**\n- acceptance: `{}`\n"


def prepare(repository: Repository, acceptance: str, files: dict[str, str] = BASE) -> None:
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN.format(acceptance))
    for path, text in files.items():
        file = repository.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    repository.commit_all("Plan")


def tier(repository: Repository) -> Tier:
    with World(repository.root) as world:
        return verifier.verify(world, [("DEMO", "A1")], verifier.Ask(ref="main"))[0].tier


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LIES)
def test_a_lie_does_not_land_and_the_honest_work_lands_as_witnessed(repository, name):
    lie = LIES[name]
    prepare(repository, lie.acceptance)
    repository.play({"DEMO/A1": [lie.steps, HONEST]})
    work(repository)
    measured = happened(repository, "work_measured")
    assert [fact["accepted"] for fact in measured] == [True, True], "the lie turned it green"
    (refused,) = happened(repository, "landing_refused")
    assert lie.why in refused["reason"]
    assert repository.subjects() == ["Add prices up", "Plan", "Begin"]
    assert repository.git("show", "main:one/price.py") == RIGHT.strip()
    assert tier(repository) is Tier.WITNESSED


def test_a_stub_does_not_land_and_the_honest_work_lands_as_witnessed(repository):
    prepare(repository, STUB_ACCEPTANCE, {})
    repository.play({"DEMO/A1": [STUB, STUB_HONEST]})
    work(repository)
    measured = happened(repository, "work_measured")
    assert [fact["verdict"] for fact in measured] == ["UNPROVEN", "DELIVERED"]
    assert "only stubs were added" in measured[0]["reason"]
    assert repository.git("show", "main:one/sums.py") == RIGHT.strip()
    assert tier(repository) is Tier.WITNESSED


def test_honest_work_with_tests_of_its_own_lands_at_once(repository):
    """It adds a test to a file, a new file, a fixture and a document, and moves a test."""
    prepare(repository, f"{PYTEST} one/tests")
    more = RED_TEST.replace("import total", "import total, vat")
    more += "\n\ndef test_vat(rate):\n    assert vat(100) == rate\n"
    fixture = "import pytest\n\n\n@pytest.fixture\ndef rate():\n    return 19\n"
    steps = [
        write("one/price.py", f"{RIGHT}\n\ndef vat(price):\n    return price * 19 // 100\n"),
        write("one/tests/test_price.py", more),
        write("one/tests/test_new.py", GREEN_TEST),
        write("one/tests/conftest.py", fixture),
        {"run": "mkdir one/tests/unit; git mv one/tests/test_other.py one/tests/unit/test_o.py"},
        commit("Add prices up"),
    ]
    repository.play({"DEMO/A1": [steps]})
    work(repository)
    assert happened(repository, "landing_refused") == []
    assert repository.subjects()[0] == "Add prices up"
    assert tier(repository) is Tier.WITNESSED


def test_an_acceptance_that_was_green_before_witnesses_nothing(repository):
    pytest.importorskip("dos.verify.red_before", reason="needs the check on the commit below")
    prepare(repository, GREEN_BEFORE)
    repository.play({"DEMO/A1": [[write("one/price.py", BUSY), commit("Add prices up")]]})
    work(repository)
    assert repository.subjects()[0] == "Add prices up", "it can land"
    assert tier(repository) is Tier.LIVE, "and is never called witnessed"


def test_an_acceptance_that_was_green_before_is_refused_where_a_witness_is_required(repository):
    pytest.importorskip("dos.verify.red_before", reason="needs the check on the commit below")
    settings = repository.root / "dos.toml"
    settings.write_text(f'{settings.read_text()}\n[verify]\nrequire = "witnessed"\n')
    prepare(repository, GREEN_BEFORE)
    repository.play({"DEMO/A1": [[write("one/price.py", BUSY), commit("Add prices up")]]})
    work(repository)
    assert repository.subjects() == ["Plan", "Begin"]
    assert "its acceptance command passes without the work too" in str(
        happened(repository, "landing_refused") + happened(repository, "work_measured")
    )
