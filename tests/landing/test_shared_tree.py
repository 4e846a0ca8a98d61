"""Lanes that share the one work tree: what is in it is never reset, cleaned or moved."""

import pytest
from sample_repository import Repository

from dos.fleet.effects import Measurement, NotLanded, Worktree
from dos.git.fence import raise_fence
from dos.git.repository import Writer
from dos.landing import branch, shared_tree
from dos.lease import Lease
from dos.receipts.io.acceptance import AcceptanceResult
from dos.receipts.receipt import CommandRun
from dos.regions import region
from dos.units.unit import Landing

LEASE = Lease(
    lane="one",
    holder="h",
    host="here",
    ttl_ms=1000,
    region=region(["one/**"]),
    fence=7,
    boot="",
    granted_ms=0,
    beat_ms=0,
    expires_ms=0,
    version=1,
)
RAN = CommandRun(script="true", exit_code=0, output_digest="", started="", ended="")


def prepare(repository: Repository) -> Worktree:
    return shared_tree.prepare(Writer(repository.root), LEASE, target="main")


def put(repository: Repository, name: str, text: str = "x\n") -> None:
    (repository.root / name).parent.mkdir(parents=True, exist_ok=True)
    (repository.root / name).write_text(text)


def commit(repository: Repository, name: str, subject: str = "Work", unit: str = "") -> str:
    put(repository, name, f"{subject}\n")
    repository.git("add", "--", name)
    repository.git("commit", "--quiet", "-m", subject, *(["-m", f"Unit: {unit}"] if unit else []))
    return repository.git("rev-parse", "HEAD")


def measure(repository: Repository, worktree: Worktree, *, passed: bool = True) -> Measurement:
    def accept(commit: str) -> AcceptanceResult:
        return AcceptanceResult(passed=passed, detail="" if passed else "exit 1", run=RAN)

    return shared_tree.measure(worktree, "DEMO/A1", LEASE, accept)


def everything(repository: Repository) -> dict[str, str]:
    files = (
        path for path in repository.root.rglob("*") if path.is_file() and ".git" not in path.parts
    )
    return {str(path): path.read_text() for path in files} | {
        "HEAD": repository.git("rev-parse", "HEAD")
    }


def test_a_lane_begins_in_the_tree_as_it_is(repository):
    put(repository, "two/mine", "an edit of mine\n")
    worktree = prepare(repository)
    assert (worktree.path, worktree.base) == (
        str(repository.root),
        repository.git("rev-parse", "main"),
    )
    assert worktree.ready and worktree.salvaged == []


def nested(repository: Repository) -> None:
    repository.git("init", "--quiet", "one/nested")


def merging(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit_all("Another line")
    repository.git("checkout", "--quiet", "main")
    repository.commit_all("This line")
    repository.git("merge", "--no-commit", "--no-ff", "other")


@pytest.mark.parametrize(
    ("disturb", "why"),
    [
        (lambda repository: put(repository, "one/keep"), "one/keep in .* has uncommitted changes"),
        (lambda repository: put(repository, "one/new"), "one/new in .* has uncommitted changes"),
        (lambda repository: [put(repository, f"one/{n}") for n in range(3)], "one/0 and 2 more in"),
        (nested, "one/nested/"),
        (
            lambda repository: repository.git("checkout", "--quiet", "-b", "other"),
            "on branch 'other'",
        ),
        (lambda repository: repository.git("checkout", "--quiet", "--detach"), "is on no branch"),
        (merging, "unfinished operation .MERGE_HEAD."),
    ],
)
def test_what_is_in_the_way_is_named_and_left_as_it_is(repository, disturb, why):
    disturb(repository)
    before = everything(repository)
    with pytest.raises(shared_tree.TreeNotReady, match=why) as refused:
        prepare(repository)
    assert refused.value.hint and everything(repository) == before


def test_what_an_agent_committed_is_measured_and_is_on_the_branch_already(repository):
    git = Writer(repository.root)
    raise_fence(git, "one", 7)
    worktree = prepare(repository)
    first, second = commit(repository, "one/a.txt"), commit(repository, "one/b.txt")
    measured = measure(repository, worktree)
    assert (measured.commits, measured.strays, measured.accepted) == ([first, second], [], True)
    assert (
        measured.head == second and measured.changed_paths == 2 and measured.acceptance_run == RAN
    )
    ready = shared_tree.prepare_landing("DEMO/A1", worktree, measured.head, LEASE)
    assert ready == Landing(unit="DEMO/A1", branch="main", base=worktree.base, commit=second)
    assert shared_tree.confirm_landed(git, lane="one", fence=7, ready=ready) is None
    assert branch.has_landed(git, ready)


@pytest.mark.parametrize(("name", "passed"), [("two/stray", True), ("one/a.txt", False)])
def test_what_is_not_taken_stays_on_the_branch_and_the_outcome_says_so(repository, name, passed):
    worktree = prepare(repository)
    head = commit(repository, name, unit="DEMO/A1")
    before = everything(repository)
    measured = measure(repository, worktree, passed=passed)
    assert bool(measured.strays) == (name == "two/stray")
    assert f"1 commit ({head[:9]}) stays on 'main' until you decide" in measured.detail
    assert everything(repository) == before


def test_what_others_commit_meanwhile_is_not_this_lanes(repository):
    worktree = prepare(repository)
    theirs = commit(repository, "two/a", unit="DEMO/B1")
    first = commit(repository, "one/a.txt", unit="DEMO/A1")
    unnamed = commit(repository, "two/b")
    second = commit(repository, "one/b.txt")
    share = shared_tree.find_unit_commits(
        Writer(repository.root), worktree.base, second, "DEMO/A1", LEASE
    )
    assert (share.mine, share.others, share.strays) == ([first, second], [theirs, unnamed], [])
    ready = shared_tree.prepare_landing("DEMO/A1", worktree, second, LEASE)
    assert isinstance(ready, Landing) and (ready.base, ready.commit) == (theirs, second)


def test_a_commit_that_names_the_unit_is_its_own_also_outside_of_the_lane(repository):
    worktree = prepare(repository)
    head = commit(repository, "two/a", unit="DEMO/A1")
    assert shared_tree.find_unit_commits(
        Writer(repository.root), worktree.base, head, "DEMO/A1", LEASE
    ).strays == ["two/a"]


def test_acceptance_runs_on_the_commit_whatever_lies_uncommitted_beside_it(repository):
    worktree = prepare(repository)
    commit(repository, "one/a.txt")
    head = commit(repository, "two/a.txt", unit="DEMO/B1")
    put(repository, "two/edit")
    judged: list[str] = []

    def accept(commit: str) -> AcceptanceResult:
        judged.append(commit)
        return AcceptanceResult(passed=True)

    measured = shared_tree.measure(worktree, "DEMO/A1", LEASE, accept)
    assert judged == [measured.head] and measured.head != head


def test_what_is_left_uncommitted_is_named_and_left_alone(repository):
    worktree = prepare(repository)
    commit(repository, "one/a.txt")
    put(repository, "one/half")
    put(repository, "two/of-another")
    before = everything(repository)
    assert shared_tree.uncommitted_in_lane(Writer(repository.root), LEASE) == ["one/half"]
    assert measure(repository, worktree).commits and everything(repository) == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["checkout", "--quiet", "-b", "other"], "on other"),
        (["commit", "--quiet", "--amend", "-m", "Rewritten"], "no longer contains the base commit"),
    ],
)
def test_a_branch_that_was_left_or_rewritten_is_no_delivery(repository, words, why):
    worktree = prepare(repository)
    repository.git(*words)
    commit(repository, "one/a.txt")
    measured = measure(repository, worktree)
    assert measured.commits == [] and why in measured.detail


def test_work_that_is_not_on_the_branch_any_more_does_not_land(repository):
    git = Writer(repository.root)
    raise_fence(git, "one", 7)
    worktree = prepare(repository)
    head = commit(repository, "one/a.txt")
    ready = shared_tree.prepare_landing("DEMO/A1", worktree, head, LEASE)
    assert isinstance(ready, Landing)
    repository.git("reset", "--quiet", "--hard", worktree.base)
    assert isinstance(shared_tree.prepare_landing("DEMO/A1", worktree, head, LEASE), NotLanded)
    refused = shared_tree.confirm_landed(git, lane="one", fence=7, ready=ready)
    assert refused and "is no longer on 'main'" in refused.reason


def test_a_stale_worker_confirms_nothing(repository):
    git = Writer(repository.root)
    worktree = prepare(repository)
    ready = shared_tree.prepare_landing("DEMO/A1", worktree, commit(repository, "one/a.txt"), LEASE)
    raise_fence(git, "one", 8)
    assert isinstance(ready, Landing)
    refused = shared_tree.confirm_landed(git, lane="one", fence=7, ready=ready)
    assert refused and "fence" in refused.reason


def test_a_workspace_below_the_top_of_its_repository_has_its_lanes_below_it_too(repository):
    put(repository, "sub/one/a")
    repository.commit_all("A folder")
    put(repository, "one/edit")
    worktree = shared_tree.prepare(
        Writer(repository.root / "sub"), LEASE, target="main", prefix="sub/"
    )
    assert worktree.path == str(repository.root)
    put(repository, "sub/one/edit")
    with pytest.raises(shared_tree.TreeNotReady, match="sub/one/edit"):
        shared_tree.prepare(Writer(repository.root / "sub"), LEASE, target="main", prefix="sub/")
