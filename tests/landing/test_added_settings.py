"""Settings to which only a new target or script was added run as they did; all else counts."""

import pytest

from dos.git.changes import FileChange
from dos.landing.guard import renames, settings_additions

MAKE = "PYTHON = python3\n\n.PHONY: all test\nall: test\n\ntest: lint\n\t$(PYTHON) -m pytest\n"
HONEST = {
    "a target": f"{MAKE}\ncheck: all\n\tsh check.sh\n",
    "a phony target": f"{MAKE}check:\n\ttrue\n".replace(": all test", ": all test check"),
    "a target in between": MAKE.replace("\ntest:", "\ncheck:\n\ttrue\n\ntest:"),
    "a variable with a target": f"{MAKE}\nRUFF := ruff\ncheck:\n\t$(RUFF) check\n",
    "a comment": f"# How to build\n{MAKE}",
}  # fmt: skip
LIES = {
    "a second recipe": f"{MAKE}\ntest:\n\ttrue\n",
    "a shell": f"{MAKE}\nSHELL = /bin/true\n",
    "flags of make": f"{MAKE}\nMAKEFLAGS += -i\n",
    "a variable that is known": f"{MAKE}\nPYTHON = true\n",
    "a program in place of one": f"{MAKE}\nexport PATH := bin:$(PATH)\n",
    "a file that is included": f"{MAKE}\n-include more.mk\n",
    "failures that are ignored": f"{MAKE}\n.IGNORE:\n",
    "a line before a recipe": MAKE.replace("\t$(P", "\texit 0\n\t$(P"),
    "a line less": MAKE.replace("\t$(PYTHON) -m pytest\n", "\ttrue\n"),
    "a prerequisite less": MAKE.replace("test: lint", "test:"),
    "another first target": MAKE.replace("all: test\n", "none:\n\ttrue\n\nall: test\n"),
    "a target for what is needed": f"{MAKE}\nlint:\n\tcp fake.py price.py\n",
    "a pattern": f"{MAKE}\n%.py:\n\ttrue\n",
    "a target that is a file now": MAKE.replace(".PHONY: all test", ".PHONY: all"),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_makefile_with_a_new_target_runs_the_old_ones_as_before(name):
    assert settings_additions.only_adds("Makefile", MAKE, HONEST[name])


@pytest.mark.parametrize("name", LIES)
def test_a_makefile_that_decides_about_an_old_target_counts_as_changed(name):
    assert not settings_additions.only_adds("Makefile", MAKE, LIES[name])


PACKAGE = '{"name": "shop", "jest": {}, "scripts": {"test": "jest"}}'


@pytest.mark.parametrize(
    ("new", "only_adds"),
    [
        ('{"name": "shop", "jest": {}, "scripts": {"test": "jest", "check": "tsc"}}', True),
        ('{"name": "shop", "jest": {}, "scripts": {"test": "jest", "pretest": "sed"}}', False),
        ('{"name": "shop", "jest": {}, "scripts": {"test": "true", "check": "tsc"}}', False),
        ('{"name": "shop", "jest": {"x": 1}, "scripts": {"test": "jest", "a": "b"}}', False),
        ('{"name": "shop", "jest": {}, "scripts": {"check": "tsc"}}', False),
        ("[]", False),
        ("{", False),
    ],
)
def test_new_scripts_of_npm_are_additions_unless_they_run_before_or_after_old_ones(new, only_adds):
    assert settings_additions.only_adds("package.json", PACKAGE, new) is only_adds


def test_the_script_that_npm_init_writes_may_become_a_test():
    old = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1", "build": "tsc"}}'
    new = '{"scripts": {"test": "node --test", "build": "tsc"}}'
    assert settings_additions.only_adds("package.json", old, new)
    assert not settings_additions.only_adds("package.json", old, new.replace("tsc", "true"))


def test_of_other_settings_every_change_counts():
    assert not settings_additions.only_adds("pytest.ini", "[pytest]\n", "[pytest]\nx = 1\n")


@pytest.mark.parametrize(
    ("old_path", "new_path", "before", "after"),
    [
        ("src/cost.py", "src/costs.py", "from cost import total", "from costs import total"),
        ("shop/cost.py", "shop/sum/cost.py", "import shop.cost", "import shop.sum.cost"),
        ("src/cost.ts", "src/costs.ts", "from '../src/cost'", "from '../src/costs'"),
        ("src/cost.py", "src/costs.py", "costly = cost_of(1)", "costly = cost_of(1)"),
        ("data/3.csv", "data/4.csv", "assert total() == 3", "assert total() == 3"),
        ("src/assertEqual.py", "src/print.py", "assertEqual(1, 2)", "assertEqual(1, 2)"),
    ],
)
def test_a_test_follows_its_module_and_nothing_else(old_path, new_path, before, after):
    move = FileChange(path=new_path, old_path=old_path, status="R", old_blob="a", new_blob="a")
    assert renames.with_new_names(before, [move]) == after
