"""Work that passes only because of what its agent hid in its own tree does not land, with walls and
without: its repository is its own, and checks run on the commits."""

import pytest
from driven_worker import fleet, happened, work
from sample_repository import Repository, commit, set_level, write

TEST = "tests/test_a.sh"
PLAN = f"""# A plan

## DEMO A1: first
- lane: one
- paths: one/**
- acceptance: `sh {TEST}`
"""
WRONG = [write("one/a.py", "value = 41\n")]
RIGHT = [write("one/a.py", "value = 42\n")]
HIDDEN = {
    "skip-worktree and a rewritten copy": (
        f"git update-index --skip-worktree {TEST} && echo true > {TEST}"
    ),
    "assume-unchanged and a rewritten copy": (
        f"git update-index --assume-unchanged {TEST} && echo true > {TEST}"
    ),
    "a smudge filter": (
        "git config filter.evil.smudge 'echo true' && git config filter.evil.clean cat"
        " && echo '*.sh filter=evil' >> $(git rev-parse --git-common-dir)/info/attributes"
    ),
    "a file that git is told to ignore and that shadows the runner": (
        "echo runner >> $(git rev-parse --git-common-dir)/info/exclude; echo 'exit 0' > runner"
    ),
    "an ignored file": "echo 'exit 0' > runner.local",
    "a replaced object": (
        f"git replace $(git rev-parse HEAD:{TEST}) $(echo true | git hash-object -w --stdin)"
    ),
    "a stash of another test": f"echo true > {TEST} && git stash --quiet",
}


def declare(repository: Repository) -> None:
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN)
    (repository.root / "tests").mkdir()
    (repository.root / TEST).write_text(
        "for file in runner runner.local; do test ! -e $file || . ./$file; done\n"
        "grep -q 42 one/a.py\n"
    )
    (repository.root / ".gitignore").write_text("runner.local\n")
    repository.commit_all("Declare")


def has_landed(repository: Repository) -> bool:
    return "DEMO/A1" in {name for name, unit in fleet(repository).units.items() if unit.landed}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("level", ["off", "auto"])
def test_wrong_work_with_a_hidden_edit_of_its_test_does_not_land(repository, hidden, level):
    declare(repository)
    set_level(repository, level)
    repository.play({"DEMO/A1": [[*WRONG, commit("Do it"), {"run": hidden}, {"ending": "auth"}]]})
    work(repository)
    assert not has_landed(repository)
    assert {fact["verdict"] for fact in happened(repository, "work_measured")} == {"REJECTED"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("level", ["off", "auto"])
def test_honest_work_lands_whatever_lies_beside_it(repository, hidden, level):
    declare(repository)
    set_level(repository, level)
    repository.play({"DEMO/A1": [[*RIGHT, commit("Do it"), {"run": hidden}]]})
    work(repository)
    assert has_landed(repository)
    assert repository.git("show", "main:one/a.py") == "value = 42"
