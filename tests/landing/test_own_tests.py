"""Tests that the work brings witness nothing if they pass without the rest of the work.

Beside each lie stands the honest work of the same form.
"""

import shutil

import pytest
from cheats import BUSY, GREEN_TEST, PYTEST, RED_TEST, RIGHT, WRONG
from driven_worker import happened, work
from sample_repository import Repository, commit, write

from dos.verify import red_before
from dos.verify.candidate import Tier
from dos.verify.io import verifier
from dos.world import World

PLAN = "# A plan\n\n## DEMO A1: {}\n- lane: one\n- paths: one/**\n- acceptance: `{}`\n"
TITLE = "add prices up"
TEST = "one/tests/test_price.py"
ASKED = "python3 -c \"import sys; sys.path.insert(0, '{}'); import price; "
ASKED += 'assert price.total([1, 2]) == 3"'
SCRIPT = "one/scripts/check.sh"
# A fixture for all tests, and a test that needs it.
FIXTURE = (
    "import os\n\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef currency(monkeypatch):\n"
)
FIXTURE += "    monkeypatch.setenv('CURRENCY', 'EUR')\n"
FIXED = "import os\n\n\ndef test_currency():\n    assert os.environ['CURRENCY'] == 'EUR'\n"
FIRST_TEST = "from price import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
PATCHED = "import sys\n\nsys.path.insert(0, 'one')\nimport price\n\nprice.total = sum\n"
PACKAGE = '{{"name": "shop", "version": "1.0.0", "scripts": {{"build": "true"{}}}}}\n'


def declare(
    repository: Repository, acceptance: str, base: dict[str, str], title: str = TITLE
) -> None:
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN.format(title, acceptance))
    for path, text in {"one/price.py": WRONG, **base}.items():
        file = repository.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    repository.commit_all("Plan")


def land(repository: Repository, *steps: dict[str, str]) -> tuple[Tier, str]:
    """Let an agent do this and land it; the tier of the unit, and why."""
    repository.play({"DEMO/A1": [[*steps, commit("Add prices up")]]})
    work(repository)
    assert happened(repository, "landing_refused") == []
    assert repository.subjects()[0] == "Add prices up"
    with World(repository.root) as world:
        (found,) = verifier.verify(world, [("DEMO", "A1")], verifier.Ask(ref="main"))
    return found.tier, found.reason


# name: the acceptance, what is there before, what a lie brings, what honest work brings
TABLE = {
    "a test": (f"{PYTEST} {TEST}", {}, {TEST: GREEN_TEST}, {TEST: RED_TEST}),
    "a script": (
        f"sh {SCRIPT}",
        {},
        {SCRIPT: "exit 0\n"},
        {SCRIPT: f"{ASKED.format('one')}\n"},
    ),
    "a target of make": (
        "make -C one check",
        {"one/Makefile": ".PHONY: all\nall:\n\ttrue\n"},
        {"one/Makefile": ".PHONY: all check\nall:\n\ttrue\n\ncheck:\n\ttrue\n"},
        {"one/Makefile": f".PHONY: all check\nall:\n\ttrue\n\ncheck:\n\t{ASKED.format('.')}\n"},
    ),
    "a script of npm": (
        "npm --prefix one run check",
        {"one/package.json": PACKAGE.format("")},
        {"one/package.json": PACKAGE.format(', "check": "true"')},
        {"one/package.json": PACKAGE.format(', "check": "sh check.sh"'),
         "one/check.sh": f"{ASKED.format('.')}\n"},
    ),
    "a test beside one that was red": (
        f"{PYTEST} one/tests",
        {TEST: RED_TEST},
        {"one/tests/test_first.py": PATCHED},
        {"one/tests/test_first.py": GREEN_TEST},
    ),
    "the first tests of a repository": (
        f"{PYTEST} one/tests && make -C one check",
        {},
        {"one/pytest.ini": "[pytest]\n", TEST: GREEN_TEST, "one/Makefile": "check:\n\ttrue\n"},
        {"one/pytest.ini": "[pytest]\npythonpath = .\n", TEST: FIRST_TEST,
         "one/Makefile": "check:\n\tpython3 -m compileall -q price.py\n"},
    ),
    "a fixture for all tests": (
        f"{PYTEST} one/tests",
        {TEST: RED_TEST},
        {"one/tests/__init__.py": PATCHED},
        {"one/tests/conftest.py": FIXTURE, "one/tests/test_currency.py": FIXED},
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_honest", [False, True], ids=["lie", "honest"])
@pytest.mark.parametrize("name", TABLE)
def test_tests_of_the_work_witness_it_only_if_they_fail_without_it(repository, name, is_honest):
    acceptance, base, lie, honest = TABLE[name]
    if "npm" in acceptance and not shutil.which("npm"):
        pytest.skip("needs npm")
    declare(repository, acceptance, base)
    brought = honest if is_honest else lie
    steps = [write(path, text) for path, text in brought.items()]
    tier, reason = land(repository, write("one/price.py", RIGHT if is_honest else BUSY), *steps)
    if is_honest:
        assert tier is Tier.WITNESSED
        assert "by tests that were there before" not in reason, "it brought some of its own"
    else:
        assert (tier, red_before.DOES_NOT_TELL in reason) == (Tier.LIVE, True)


@pytest.mark.parametrize(("title", "tier"), [("test prices", Tier.WITNESSED), (TITLE, Tier.LIVE)])
def test_tests_alone_are_the_work_only_of_a_unit_that_asks_for_them(repository, title, tier):
    declare(repository, f"{PYTEST} {TEST}", {"one/price.py": RIGHT}, title)
    assert land(repository, write(TEST, RED_TEST))[0] is tier


def test_where_red_is_required_tests_that_pass_without_the_work_are_refused(repository):
    config = repository.root / "dos.toml"
    config.write_text(f"{config.read_text()}\n[landing]\nrequire_red = true\n")
    declare(repository, f"{PYTEST} {TEST}", {})
    lie = [write("one/price.py", BUSY), write(TEST, GREEN_TEST), commit("Add prices up")]
    honest = [write("one/price.py", RIGHT), write(TEST, RED_TEST), commit("Add prices up")]
    repository.play({"DEMO/A1": [lie, honest]})
    work(repository)
    measured = happened(repository, "work_measured")
    assert [fact["verdict"] for fact in measured] == ["UNPROVEN", "DELIVERED"]
    assert "passes with the tests of the work alone" in measured[0]["reason"]
    assert repository.git("show", "main:one/price.py") == RIGHT.strip()


def test_a_test_that_is_renamed_with_its_module_lands(repository):
    """The old test cannot run any more: what it imports has another name."""
    cost = RED_TEST.replace("price", "cost")
    base = {TEST: RED_TEST, "one/cost.py": RIGHT, "one/tests/test_cost.py": cost}
    declare(repository, f"{PYTEST} one/tests", base)
    move = (
        "git mv one/cost.py one/costs.py && git mv one/tests/test_cost.py one/tests/test_costs.py"
    )
    steps = [
        write("one/price.py", RIGHT),
        {"run": f"{move} && sed -i s/cost/costs/ one/tests/test_costs.py"},
    ]
    assert land(repository, *steps)[0] is Tier.WITNESSED
