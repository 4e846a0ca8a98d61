"""Whatever an agent writes beside git's objects, no branch loses a commit."""

import shutil
import subprocess

import pytest
from driven_worker import work
from lane_tree import prepare_lane
from sample_repository import Repository, commit, set_level, write
from test_sharing import Clone, git, make_remote

from dos.errors import GitFailed
from dos.fleet.effects import NotLanded
from dos.git import commits
from dos.git.repository import Writer
from dos.landing import branch, rebase
from dos.units.unit import Landing
from dos.world import World

AS_AGENT = "git -c user.name=A -c user.email=a@example.invalid"
# A commit without a parent that has everything the branch has and names the unit, as an agent in
# its worktree makes it.
ORPHAN = (
    "base=$(git rev-parse HEAD); common=$(git rev-parse --git-common-dir); echo x > "
    "one/a.txt; git add -A;"
    f" orphan=$(printf 'Write a\\n\\nUnit: DEMO/A1\\n' | {AS_AGENT} commit-tree $(git write-tree));"
    " git checkout -q --detach $orphan;"
)
GRAFT = ORPHAN + ' mkdir -p "$common/info"; echo "$orphan $base" >> "$common/info/grafts"'
REPLACE = ORPHAN + (
    f" other=$(printf 'Write a\\n\\nUnit: DEMO/A1\\n' | {AS_AGENT} commit-tree -p "
    f"$base $(git write-tree));"
    " git replace $orphan $other"
)
# A merge whose second side is hidden: what that changed long ago would come along unseen.
SHALLOW = (
    "base=$(git rev-parse HEAD); common=$(git rev-parse --git-common-dir);"
    f" deep=$(echo deep | {AS_AGENT} commit-tree HEAD^{{tree}});"
    f" side=$(echo side | {AS_AGENT} commit-tree -p $deep HEAD^{{tree}});"
    " echo x > one/a.txt; git add -A;"
    f" new=$(printf 'Write a\\n\\nUnit: DEMO/A1\\n' | {AS_AGENT} commit-tree -p $base "
    f"-p $side $(git write-tree));"
    ' git checkout -q --detach $new; echo "$side" >> "$common/shallow"'
)
# With git in the agent's own hands, whatever hooks or settings are about.
ATTACKS = {"grafts": GRAFT, "replacements": REPLACE, "shallow": SHALLOW}


def measured(repository: Repository) -> list[str]:
    happened = World(repository.root).journal.events()
    return [event.body["reason"] for event in happened if event.kind == "work_measured"]


def share(repository: Repository, remote: str) -> None:
    """Let the fleet land on a remote."""
    config = repository.root / "dos.toml"
    config.write_text(config.read_text().replace("[workers]", f'[workers]\nremote = "{remote}"'))
    repository.commit_all("Share")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    ("shared", "level"),
    [(False, "off"), (True, "off"), (False, "auto")],
    ids=["here", "on a remote", "behind walls"],
)
def test_a_forged_history_does_not_land_and_the_branch_keeps_its_commits(
    repository, tmp_path, attack, shared, level
):
    set_level(repository, level)
    plan = repository.root / "docs" / "demo-plan.md"
    if attack != "shallow":  # the oracle sees through an orphan by the paths that it changes
        plan.write_text(plan.read_text().replace("- paths: one/**\n", ""))
        repository.commit_all("Plan")
    if shared:
        repository.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
        repository.git("remote", "add", "origin", f"file://{tmp_path / 'remote.git'}")
        share(repository, "origin")
        repository.git("push", "--quiet", "origin", "main")
    before = repository.git("rev-parse", "main")
    steps = [{"run": ATTACKS[attack]}]
    repository.play(
        {"DEMO/A1": [steps] * 9, "DEMO/A2": [[write("one/b.txt"), commit("Write b")]] * 9}
    )
    work(repository)
    assert repository.git("merge-base", "--is-ancestor", before, "main") == ""
    assert "Write a" not in repository.subjects()
    if shared:
        assert before in git(tmp_path / "remote.git", "rev-list", "main").split()
        assert "Write a" not in git(tmp_path / "remote.git", "log", "--format=%s", "main")
    why = "HEAD no longer contains the base commit"
    if attack == "shallow":  # the hidden side is missing in what the lane hands over
        why = "did not receive expected object"
    assert any(why in reason for reason in measured(repository))


def test_an_honest_rebase_lands_beside_the_lies(repository):
    """An agent that rebased its own two commits, on a target that moves before they land."""
    swap = (
        f"{AS_AGENT} commit -q --allow-empty -m second; {AS_AGENT} rebase -q --force-rebase HEAD~2;"
        ' cd "$(git rev-parse --git-common-dir)"; mkdir -p info; echo "# none" >> info/grafts'
    )
    repository.play({"DEMO/A1": [[write("one/a.txt"), commit("Write a"), {"run": swap}]], "*": []})
    work(repository)
    assert "Write a" in repository.subjects() and "Begin" in repository.subjects()


@pytest.fixture
def clone(tmp_path) -> Clone:
    remote = make_remote(tmp_path)
    made = Clone(remote, tmp_path / "clone")
    made.holds("one", 7)
    return made


def orphan(clone: Clone, base: str) -> str:
    output = git(clone.tree, "commit-tree", f"{base}^{{tree}}", "-m", "Orphan")
    (clone.tree / ".git" / "info").mkdir(exist_ok=True)
    (clone.tree / ".git" / "info" / "grafts").write_text(f"{output} {base}\n")
    return output


def test_a_push_that_takes_commits_away_is_refused_by_us(clone, tmp_path):
    honest = clone.work("one/a.txt")
    forged = Landing(
        unit="DEMO/A1", branch="main", base=honest.base, commit=orphan(clone, honest.base)
    )
    output = git(clone.tree, "merge-base", "--is-ancestor", forged.base, forged.commit)
    assert output == "", "a git that believes grafts takes it for a fast-forward"
    refused = clone.lands(forged, fence=7)
    assert (
        isinstance(refused, NotLanded)
        and "does not descend from" in refused.reason
        and not refused.retryable
    )
    assert git(tmp_path / "remote.git", "rev-parse", "main") == honest.base
    assert clone.lands(honest, fence=7) is None
    assert git(tmp_path / "remote.git", "rev-parse", "main") == honest.commit


def test_the_branch_here_is_only_moved_to_what_was_built_on_it(clone):
    base = git(clone.tree, "rev-parse", "main")
    step = Landing(unit="DEMO/A1", branch="main", base=base, commit=orphan(clone, base))
    refused = branch.move_branch(clone.git, lane="one", fence=7, landing=step)
    assert refused and "does not descend from" in refused.reason
    assert git(clone.tree, "rev-parse", "main") == base
    assert git(clone.tree, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_clone_that_is_shallow_by_itself_is_believed(clone, tmp_path):
    for number in range(3):
        assert clone.lands(clone.work(f"one/{number}.txt"), fence=7) is None
    cut = tmp_path / "cut"
    git(tmp_path, "clone", "-q", "--depth=2", f"file://{tmp_path / 'remote.git'}", str(cut))
    base = git(cut, "rev-parse", "HEAD")
    git(cut, "commit", "-q", "--allow-empty", "-m", "more")
    assert commits.hidden_history(Writer(cut), base, "HEAD") == ""
    assert commits.is_fast_forward(Writer(cut), base, "HEAD")
    with (cut / ".git" / "shallow").open("a") as file:
        file.write(base + "\n")  # its parent is here
    assert base[:9] in commits.hidden_history(Writer(cut), base, "HEAD")


def test_ancestry_is_read_from_the_commits_whatever_their_dates_say(repository):
    first = repository.git("rev-parse", "HEAD")
    for day in ("2040-01-01", "1980-01-01", "2030-01-01"):
        repository.git("commit", "--quiet", "--allow-empty", "--date", day, "-m", day)
    last = repository.git("rev-parse", "HEAD")
    git_here = Writer(repository.root)
    assert commits.is_fast_forward(git_here, first, last) and commits.is_fast_forward(
        git_here, first, first
    )
    assert not commits.is_fast_forward(git_here, last, first)
    assert not commits.is_fast_forward(git_here, "0" * 40, last)


def test_hooks_aliases_editors_and_variables_of_others_have_no_part_in_our_git(
    repository, tmp_path, monkeypatch
):
    ran = tmp_path / "ran"
    hooks = repository.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "pre-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (hooks / name).chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.editor",
        "sequence.editor",
        "core.pager",
        "alias.status",
        "diff.external",
    ):
        repository.git("config", key, f"touch {ran}")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_EDITOR", "GIT_PAGER"):
        monkeypatch.setenv(name, f"touch {ran}")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(hooks))
    ours = Writer(repository.root)
    prepare_lane(repository)
    (repository.root / "one" / "new.txt").write_text("x\n")
    assert ours.dirty_paths() == ["one/new.txt"]
    assert rebase.describe_conflict(ours) == ""
    assert not ran.exists()
    with pytest.raises(GitFailed):
        ours.run("ls-remote", f"ext::touch {ran}")
    assert not ran.exists()


@pytest.mark.soak
def test_a_filter_that_an_agent_configures_is_not_run_by_our_git(repository, tmp_path):
    """Its own git runs it, with what an agent has; ours would run it with what the fleet has."""
    ran = tmp_path / "ran"
    evil = (
        f"git config filter.evil.smudge 'touch {ran}; cat'; git config merge.evil.driver "
        f"'touch {ran}; true'"
    )
    attributes = write("one/.gitattributes", "* filter=evil merge=evil\n")
    repository.play(
        {"DEMO/A1": [[{"run": evil}, attributes, write("one/a.txt"), commit("Write a")]]}
    )
    work(repository)
    assert "Write a" in repository.subjects() and not ran.exists()


@pytest.mark.parametrize("included_before", [False, True])
def test_a_filter_that_an_agent_includes_from_another_file_is_not_run_by_our_git(
    repository, tmp_path, included_before
):
    ran, shared = tmp_path / "ran", repository.root / ".gitconfig"
    (repository.root / ".gitattributes").write_text("one/a.txt filter=evil\n")
    (repository.root / "one" / "a.txt").write_text("a\n")
    repository.commit_all("Filter")
    shared.write_text("[core]\n\teol = lf\n")
    include = ("config", "include.path", "../.gitconfig")
    if included_before:
        repository.git(*include)
    ours = Writer(repository.root)
    ours.run("status")
    if not included_before:
        repository.git(*include)
    shared.write_text(f'[filter "evil"]\n\tsmudge = touch {ran}; cat\n')
    (repository.root / "one" / "a.txt").unlink()
    ours.run("checkout", "--quiet", "--", "one/a.txt")
    assert not ran.exists() and (repository.root / "one" / "a.txt").read_text() == "a\n"


def test_a_credential_helper_that_an_agent_configures_is_not_asked_by_our_git(repository, tmp_path):
    ran, asked = tmp_path / "ran", "protocol=https\nhost=example.invalid\n\n"
    own = "!f() { echo username=person; echo password=own; }; f"
    repository.git("config", "credential.helper", own)
    ours = Writer(repository.root)
    assert "username=person" in ours.run("credential", "fill", feed=asked)
    repository.git("config", "--add", "credential.helper", f"!touch {ran}; false")
    repository.git("config", "credential.https://example.invalid.helper", f"!touch {ran}; false")
    assert "username=person" in ours.run("credential", "fill", feed=asked), (
        "what a person configured before is asked"
    )
    assert not ran.exists()


@pytest.mark.soak
def test_a_filter_that_a_person_configured_before_is_run(repository):
    repository.git("config", "filter.person.smudge", "sed s/plain/decoded/")
    repository.git("config", "filter.person.clean", "sed s/decoded/plain/")
    (repository.root / ".gitattributes").write_text("one/secret filter=person\n")
    (repository.root / "one" / "secret").write_text("plain\n")
    plan = repository.root / "docs" / "demo-plan.md"
    plan.write_text(plan.read_text().replace("test -s one/a.txt", "grep -q decoded one/secret"))
    repository.commit_all("Keep a secret")
    later = {"run": "git config user.email another@example.invalid"}
    repository.play({"DEMO/A1": [[later, write("one/a.txt"), commit("Write a")]]})
    work(repository)
    assert "Write a" in repository.subjects()


def test_a_bitmap_that_somebody_forged_beside_the_objects_spoils_no_push(repository, tmp_path):
    for number in range(40):
        (repository.root / f"file{number}").write_text(f"{number}\n")
        repository.commit_all(f"Add {number}")
    repository.git("repack", "-adb", "--quiet")
    (bitmap,) = (repository.root / ".git" / "objects" / "pack").glob("*.bitmap")
    bitmap.chmod(0o644)
    honest = bitmap.read_bytes()
    push = ("push", "--quiet", f"file://{tmp_path / 'remote.git'}", "main")
    for place in range(40, len(honest) - 30, 25):
        bitmap.write_bytes(honest[:place] + b"\x5a\xa5\x00\xff" + honest[place + 4 :])
        shutil.rmtree(tmp_path / "remote.git", ignore_errors=True)
        repository.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
        plain = subprocess.run(["git", *push], cwd=repository.root, capture_output=True)
        if plain.returncode != 0:
            break
    else:
        pytest.skip("this git believes none of these forged bitmaps")
    Writer(repository.root).run(*push)
    assert git(tmp_path / "remote.git", "rev-parse", "main") == repository.git("rev-parse", "main")
