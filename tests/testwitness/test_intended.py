"""Old tests that fail on the new code on purpose: marked, run, and named in the answer."""

import shlex
import sys

import pytest
from toy_repository import SHELL, UNITTEST, Toy, cells

from dos.errors import BadInput
from dos.testwitness.verdict import Answer

PYTEST = f"PYTHONPATH=. {shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
RATE = "def price(net):\n    return net * {}\n\ndef name():\n    return {!r}\n"
OLD_TESTS = """import shop

def test_price():
    assert shop.price(10) == 20

def test_name():
    assert shop.name() == "shop"
"""
NEW_TESTS = OLD_TESTS.replace("20", "30")
MARK = "tests/test_shop.py::test_price"


@pytest.fixture
def toy(tmp_path):
    return Toy(tmp_path / "toy")


def change(toy, new_code=(3, "shop"), new_tests=NEW_TESTS, more=None):
    """A commit that changes what a price is, and the test that says so."""
    toy.commit({"shop.py": RATE.format(2, "shop"), "tests/test_shop.py": OLD_TESTS} | (more or {}))
    toy.commit({"shop.py": RATE.format(*new_code), "tests/test_shop.py": new_tests})


def marked(seen) -> dict[str, str]:
    return {mark.test: mark.outcome.value for mark in seen.matrix.intended}


@pytest.mark.parametrize("command", [PYTEST, f"{PYTEST} {{tests}}", f"make test RUN='{PYTEST}'"])
def test_a_single_test_that_is_meant_to_fail_is_left_out_and_tried(toy, command):
    change(toy, more={"Makefile": "test:\n\t$(RUN)\n"})
    assert toy.witness(command).verdict.answer is Answer.REGRESSIVE
    witness = toy.witness(command, intended=(MARK,))
    assert witness.verdict.answer is Answer.DISCRIMINATES and witness.verdict.witnesses
    assert cells(witness) == [["pass"], ["pass"], ["fail"], ["pass"]]
    assert marked(witness) == {MARK: "fail"} and MARK in witness.verdict.reason


def test_another_old_test_that_fails_is_still_a_regression(toy):
    change(toy, new_code=(3, "store"))
    witness = toy.witness(PYTEST, intended=(MARK,))
    assert witness.verdict.answer is Answer.REGRESSIVE and marked(witness) == {}
    both = toy.witness(PYTEST, intended=(MARK, "tests/test_shop.py::test_name"))
    assert both.verdict.answer is Answer.UNSATISFIED, "the new test asks for the old name"


def test_a_mark_that_excuses_nothing_is_told(toy):
    change(toy)
    unused = "tests/test_shop.py::test_name"
    witness = toy.witness(PYTEST, intended=(MARK, unused))
    assert witness.verdict.answer is Answer.DISCRIMINATES
    assert marked(witness) == {MARK: "fail", unused: "pass"}
    assert unused not in witness.verdict.reason


@pytest.mark.parametrize(
    ("new_tests", "answer"),
    [
        (
            OLD_TESTS.replace("20", "price(10)").replace(
                "shop.price(10) == price", "shop.price(10) == shop.price"
            ),
            Answer.VACUOUS,
        ),
        (OLD_TESTS.replace("20", "31"), Answer.UNSATISFIED),
        (NEW_TESTS.replace("def test_name", "def name"), Answer.ABSTAIN),
    ],
    ids=["passes without the change", "fails with the change", "weakened"],
)
def test_a_mark_makes_no_yes_of_new_tests_that_prove_nothing(toy, new_tests, answer):
    change(toy, new_tests=new_tests)
    witness = toy.witness(PYTEST, intended=(MARK,))
    assert witness.verdict.answer is answer and not witness.verdict.witnesses


def test_marked_tests_can_be_all_that_there_are(toy):
    only = "import shop\n\ndef test_price():\n    assert shop.price(10) == {}\n"
    toy.commit({"shop.py": RATE.format(2, "a"), "tests/test_shop.py": only.format(20)})
    toy.commit({"shop.py": RATE.format(3, "a"), "tests/test_shop.py": only.format(30)})
    for mark in (MARK, "tests/test_shop.py"):
        witness = toy.witness(PYTEST, intended=(mark,))
        assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict
        assert cells(witness) == [["pass"], [], ["fail"], ["pass"]]
        assert marked(witness) == {mark: "fail"}


def test_code_that_hides_the_old_tests_does_not_make_them_marked(toy):
    """Where nothing is left to run, the same must hold of the old code."""
    change(toy)
    quits = "import sys\n\nsys.exit(5)\n"
    toy.commit(
        {
            "shop.py": RATE.format(4, "shop") + quits,
            "tests/test_shop.py": NEW_TESTS.replace("30", "40"),
        }
    )
    witness = toy.witness(PYTEST, intended=(MARK,))
    assert not witness.verdict.witnesses


UNITTEST_CASE = """import unittest
import shop

class It(unittest.TestCase):
    def test_it(self):
        self.assertEqual({}, {})
"""
SHELL_FILES = {
    "code": "old\n",
    "tests/test_kept.sh": "test -s code\n",
    "tests/test_old.sh": "grep -q old code\n",
}
NEW_SHELL = {"code": "new\n", "tests/test_old.sh": "grep -q new code\n"}


@pytest.mark.parametrize("command", [SHELL, "for each in {tests}; do sh $each || exit 1; done"])
def test_a_whole_file_can_be_marked_for_every_runner(toy, command):
    toy.commit(SHELL_FILES)
    toy.commit(NEW_SHELL)
    assert toy.witness(command).verdict.answer is Answer.REGRESSIVE
    witness = toy.witness(command, intended=("tests/test_old.sh",))
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict
    assert marked(witness) == {"tests/test_old.sh": "fail"}
    assert (
        toy.witness(command, intended=("tests/test_kept.sh",)).verdict.answer is Answer.REGRESSIVE
    )


def test_a_command_that_names_the_marked_file_has_nothing_else_to_run(toy):
    toy.commit(SHELL_FILES)
    toy.commit(NEW_SHELL)
    witness = toy.witness("sh tests/test_old.sh", intended=("tests/test_old.sh",))
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict
    assert cells(witness)[1] == [] and marked(witness) == {"tests/test_old.sh": "fail"}


def test_a_command_that_cannot_do_without_the_marked_file_proves_nothing(toy):
    toy.commit(SHELL_FILES)
    toy.commit(NEW_SHELL)
    command = "sh tests/test_old.sh && sh tests/test_kept.sh"
    witness = toy.witness(command, intended=("tests/test_old.sh",))
    assert witness.verdict.answer is Answer.ABSTAIN, witness.verdict
    assert "without the tests that are meant to fail" in witness.verdict.reason


def test_a_file_of_unittest_can_be_marked(toy):
    case = UNITTEST_CASE
    old = {
        "tests/__init__.py": "",
        "tests/test_price.py": case.format("shop.price(10)", 20),
        "tests/test_name.py": case.format("shop.name()", "'shop'"),
    }
    toy.commit({"shop.py": RATE.format(2, "shop")} | old)
    toy.commit(
        {
            "shop.py": RATE.format(3, "shop"),
            "tests/test_price.py": case.format("shop.price(10)", 30),
        }
    )
    witness = toy.witness(UNITTEST, intended=("tests/test_price.py",))
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness.verdict


@pytest.mark.parametrize(
    ("command", "mark", "said"),
    [
        (PYTEST, "tests/test_none.py", "names no test file"),
        (PYTEST, "shop.py", "names no test file"),
        (PYTEST, "tests", "names no test file"),
        (UNITTEST, MARK, "only with pytest"),
        ("go test ./...", MARK, "only with pytest"),
    ],
)
def test_a_mark_that_cannot_be_obeyed_is_refused(toy, command, mark, said):
    change(toy)
    with pytest.raises(BadInput, match=said):
        toy.witness(command, intended=(mark,))


def test_a_name_of_a_test_is_no_option_and_no_command(toy):
    change(toy)
    for name in ("$(touch x)", "a'b", "-k", "a b"):
        mark = f"tests/test_shop.py::{name}"
        witness = toy.witness(PYTEST, intended=(mark,))
        assert witness.verdict.answer is Answer.REGRESSIVE
