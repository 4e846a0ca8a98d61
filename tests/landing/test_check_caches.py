"""The caches of a check tree: what the setup put there stays, and nothing that a check left there
reaches the check of another unit."""

import pytest
from driven_worker import happened, work
from sample_repository import commit, set_level, write

LEVELS = ["auto", "landlock", "off"]
PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/**
- acceptance: `sh one/check.sh`

## DEMO A2: second
- lane: one
- paths: one/**
- acceptance: `{look}; test -s one/b.txt`
"""
PLACES = "$XDG_CACHE_HOME $HOME/.gradle/wrapper/"


def prepare(repository, level: str, setup: str, check: str):
    """A fleet whose first unit brings its own check, and whose second one looks around."""
    seen = repository.home / "seen"
    look = f"ls -R {PLACES} >> {seen}"
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN.format(look=look))
    if setup:
        repository.config.write_text(f"{repository.config.read_text()}setup = {setup!r}\n")
    set_level(repository, level)
    first = [write("one/a.txt"), write("one/check.sh", check), commit("Write a")]
    repository.play({"DEMO/A1": [first], "DEMO/A2": [[write("one/b.txt"), commit("Write b")]]})
    return seen


@pytest.mark.parametrize("setup", ["", "mkdir -p made"], ids=["no setup", "a setup"])
@pytest.mark.parametrize("level", LEVELS)
def test_what_a_check_leaves_in_a_cache_reaches_no_other_unit(repository, level, setup):
    check = f"test -s one/a.txt && for place in {PLACES}; do echo x > $place/evil; done"
    seen = prepare(repository, level, setup, check)
    work(repository)
    assert len(happened(repository, "unit_landed")) == 2
    assert "gradle" in seen.read_text() and "evil" not in seen.read_text()


@pytest.mark.parametrize("level", LEVELS)
def test_what_the_setup_puts_into_a_cache_is_there_for_every_check(repository, level):
    runs = repository.home / "runs"
    # In the lane it runs as well, for the agents.
    setup = f"case $PWD in */checks/*) echo x >> {runs};; esac; echo x > $XDG_CACHE_HOME/package"
    check = "test -s one/a.txt && test -s $XDG_CACHE_HOME/package"
    seen = prepare(repository, level, setup, check)
    work(repository)
    assert len(happened(repository, "unit_landed")) == 2
    assert "package" in seen.read_text()
    assert runs.read_text() == "x\n", "the setup runs once while nobody changes what it made"
