"""Where the paths of a tool call really lead, on a real disk with links."""

import os
import unicodedata

import pytest
from commanding import git
from growth import grows_less_than

from dos import workspace
from dos.permission.ask import Ask, Asker, AskerKind, Footprint
from dos.permission.footprint import read_footprint
from dos.permission.io.resolve import guarded_trees, resolve
from dos.permission.judge import judge
from dos.regions import region


@pytest.fixture
def tree(tmp_path):
    """The user's checkout, in which `api` links in every way to what is not its own."""
    root = tmp_path / "repository"
    for folder in ("api/deep/down", "docs/sub", "API"):
        (root / folder).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    git("init", "--quiet", ".", cwd=root)
    (root / "docs" / "page.md").write_text("x")
    links = {
        "to_docs": "../docs",
        "to_sub": "../docs/sub",
        "to_page": "../docs/page.md",
        "to_new": "../docs/new.md",
        "to_link": "to_docs",
        "to_top": str(root),
        "to_git": "../.git",
        "to_elsewhere": str(tmp_path / "elsewhere"),
        "to_itself": "to_itself",
        "to_process": "/proc/self/cwd",
        "honest": "deep/down",
    }
    for name, target in links.items():
        (root / "api" / name).symlink_to(target)
    return root


def led(tree, *paths, **more):
    return resolve(Footprint(paths=paths), tree, **more).paths


LEADS = {
    "api/new.py": "api/new.py",
    "api/deep/../new.py": "api/new.py",
    "api/missing/../new.py": "api/new.py",
    "api/honest/new.py": "api/deep/down/new.py",
    "api/to_docs/new.md": "docs/new.md",
    "api/to_link/new.md": "docs/new.md",
    "api/to_page": "docs/page.md",
    "api/to_new": "docs/new.md",
    "api/to_docs": "docs",
    "api/to_docs/": "docs",
    "api/to_sub/../new.md": "docs/new.md",
    "api/honest/../new.py": "api/deep/new.py",
    "api/to_top/docs/x": "docs/x",
    "api/to_git/config": ".git/config",
    "api/../.git/hooks/x": ".git/hooks/x",
    "./docs//x": "docs/x",
    "docs/../../repository/docs/x": "docs/x",
    "API/x": "API/x",
    ".": ".",
    "~/../../..//nonsense/../repository": None,
    "docs/ü": "docs/ü",
    "api/to_itself/x": "api/to_itself/x",
    "/proc/1/root/x": "/proc/1/root/x",
    "/tmp/scratch": None,
    "../elsewhere/x": None,
    "api/to_elsewhere/x": None,
    "/dev/null": None,
    "/proc/self/fd/1": None,
    "/dev/stdout": None,
}


def test_a_path_behind_a_process_is_judged_as_that_and_where_it_likely_leads(tree):
    for path in (
        "/proc/self/cwd/docs/x",
        "/proc/7/task/7/cwd/docs/x",
        f"/proc/1/root{tree}/docs/x",
    ):
        assert led(tree, path) == ("docs/x", path)
    assert led(tree, "api/to_process/docs/x") == ("docs/x", "/proc/self/cwd/docs/x")
    assert led(tree, "/proc/self/fd/7/docs/x") == ("/proc/self/fd/7/docs/x",)


def test_another_work_tree_of_the_repository_has_the_same_paths(tree, tmp_path):
    beside = tmp_path / "beside"
    inner = tree / "docs" / "inner"
    for folder in (beside, inner):
        (folder / "docs").mkdir(parents=True)
        found = led(tree, str(folder / "docs/x"), "api/x", beside=folder)
        assert found == ("docs/x", "api/x")
    assert led(tree, str(beside / "docs/x")) == ()
    assert led(inner, str(tree / "docs/x"), str(inner / "docs/y"), beside=tree) == (
        "docs/x", "docs/y",
    )  # fmt: skip


@pytest.mark.parametrize("path", LEADS)
def test_a_path_is_judged_where_it_leads(tree, path):
    expected = LEADS[path]
    found = led(tree, path, guarded=guarded_trees(workspace.find(tree)))
    assert found == ((expected,) if expected else ())


def test_the_home_of_the_user_is_where_it_is(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert led(tree, "~/repository/docs/x", "~/notes") == ("docs/x",)
    assert led(tree, "~root/x", "~nobody") == ("./~root/x", "./~nobody")


ODD = [
    "a\0b", "x" * 300, "/".join(["x" * 200] * 30), "\ud800", "\n", " ", "\\", "docs\\x", "\x1b[2J",
    "../" * 500, "a/" * 2_000, "*", "~", "//x", "/", "",
]  # fmt: skip


@pytest.mark.parametrize("path", ODD, ids=range(len(ODD)))
def test_no_name_is_too_odd(tree, path):
    found = led(tree, path, guarded=guarded_trees(workspace.find(tree)))
    assert len(found) <= 1
    holder = Asker(kind=AskerKind.HOLDER, lane="api", region=region(["api/**"]))
    for each in found:
        footprint = Footprint(paths=(each,))
        assert judge(Ask(asker=holder, tool="Write", footprint=footprint)).reason_class


def deep(tree):
    """A path nearly as long as the kernel takes it, with a link at its end."""
    path = tree / "api" / "/".join(["d" * 9] * 300)
    path.mkdir(parents=True)
    (path / "out").symlink_to(tree / "docs")
    return str(path.relative_to(tree))


def test_a_path_that_no_system_takes_is_not_followed(tree):
    for path in ("api/" + "a/" * 3_000 + "x", "api/" + "x" * 5_000):
        found = resolve(Footprint(paths=(path, "docs/x")), tree)
        assert found.paths == ("docs/x",) and found.unknown
    for path in ("api/" + "./" * 3_000 + "../docs/x", "api/" + "n/../" * 2_000 + "../docs/x"):
        found = resolve(Footprint(paths=(path,)), tree)
        assert found.paths == ("docs/x",), "a program that computes it can write there"
        assert found.unknown
    longest = deep(tree)
    found = resolve(Footprint(paths=(f"{longest}/out/x", f"{longest}/new")), tree)
    assert found.paths == ("docs/x", f"{longest}/new") and not found.unknown


def test_many_long_paths_cost_what_their_length_does(tree):
    longest = deep(tree)
    (tree / "a").symlink_to("b/" * 2_000)

    def lead(times):
        paths = (f"{longest}/{number}/x" for number in range(times))
        resolve(Footprint(paths=(*paths, "a/" * (20 * times))), tree)

    assert grows_less_than(40, lead, 100, 2_000)
    assert grows_less_than(40, lambda size: led(tree, "../" * size), 1_000, 20_000)
    paths = tuple(f"{longest}/{number}/x" for number in range(2_000))
    assert resolve(Footprint(paths=paths), tree).unknown, "too much to look at"
    honest = tuple(f"api/module{number}/sub/file.py" for number in range(2_000))
    found = resolve(Footprint(paths=honest), tree)
    assert found.paths == honest and not found.unknown


def test_both_forms_of_a_letter_are_one_name(tree):
    composed = unicodedata.normalize("NFC", "api/é")
    apart = unicodedata.normalize("NFD", "api/é")
    holder = Asker(kind=AskerKind.HOLDER, lane="api", region=region([composed]))
    for path in (composed, apart):
        ask = Ask(asker=holder, tool="Write", footprint=Footprint(paths=led(tree, path)))
        assert not judge(ask).reason_class


@pytest.fixture
def lanes(tree, tmp_path):
    """Two lanes' trees beside each other, in the state folder, as clones of the user's."""
    place = workspace.find(tree)
    git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "begin",
        cwd=tree)  # fmt: skip
    for lane in ("api", "docs"):
        git("clone", "--quiet", "--shared", str(tree), str(place.worktrees / lane), cwd=tree)
    return place.worktrees


def test_a_lane_keeps_its_own_tree_and_leaves_the_others(lanes, tree, tmp_path):
    own = lanes / "api"
    guarded = guarded_trees(workspace.find(tree))
    kept = led(
        own, str(own / "api/x"), str(lanes / "docs/x"), str(tree / "docs/x"),
        str(tree / ".git/config"), str(tmp_path / "notes"), "../docs/y", guarded=guarded,
    )  # fmt: skip
    assert kept == (
        "api/x", str(lanes / "docs/x"), str(tree / "docs/x"), str(tree / ".git/config"),
        str(lanes / "docs/y"),
    )  # fmt: skip
    found = led(own, str(lanes / "docs/x"), str(tree / "docs/x"))
    assert len(found) == 2, "also where nobody says which trees there are"


@pytest.mark.parametrize("name", ["shop.git", ".bare"])
def test_what_is_beside_a_bare_repository_is_nobodys_business(tree, tmp_path, name):
    git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "begin",
        cwd=tree)  # fmt: skip
    bare = tmp_path / "code" / name
    git("clone", "--quiet", "--bare", str(tree), str(bare), cwd=tmp_path)
    work = tmp_path / "code" / "main"
    git("worktree", "add", "--quiet", str(work), cwd=bare)
    place = workspace.find(work)
    lane = place.worktrees / "api"
    git("clone", "--quiet", "--shared", str(bare), str(lane), cwd=tmp_path)
    beside = str(tmp_path / "code" / "notes.md")
    for top in (work, lane):
        found = led(top, beside, str(bare / "config"), "api/x", guarded=guarded_trees(place))
        assert found == (str(bare / "config"), "api/x")
        assert led(top, beside, str(bare / "config")) == (str(bare / "config"),)
    assert led(lane, str(work / "x"), guarded=guarded_trees(place)) == (str(work / "x"),)


def test_the_files_of_git_around_a_submodule_stay_guarded(tree):
    modules = tree / ".git" / "modules"
    modules.mkdir()
    git("init", "--quiet", "--separate-git-dir", str(modules / "part"), "docs/part", cwd=tree)
    part = tree / "docs" / "part"
    guarded = guarded_trees(workspace.find(part))
    kept = (str(modules / "other" / "config"), str(tree / ".git" / "config"))
    assert led(part, *kept, "x", str(tree / "api" / "x"), guarded=guarded) == (*kept, "x")


def test_a_tree_that_is_reached_by_a_link_is_the_same_tree(tree, tmp_path):
    (tmp_path / "short").symlink_to(tree)
    short = tmp_path / "short"
    assert led(short, "api/x", str(tree / "docs/x"), str(short / "docs/y")) == (
        "api/x", "docs/x", "docs/y",
    )  # fmt: skip


COMMANDS = {
    "echo a > api/to_docs/x": "OUT_OF_REGION",
    "echo a > api/to_sub/../x": "OUT_OF_REGION",
    "cd api/to_sub && echo a > x": "OUT_OF_REGION",
    "cd api/to_sub && echo a > ../x": "OUT_OF_REGION",
    "cd api/to_sub/.. && echo a > x": "",
    "cd api/deep && echo a > ../x": "",
    "cd api/honest && echo a > x": "",
    "rm -rf api/to_top/docs": "OUT_OF_REGION",
    "echo a > api/to_git/config": "GIT_DIRECTORY",
    "echo a > .GIT/config": "GIT_DIRECTORY",
    "echo a > /proc/self/cwd/docs/x": "OUT_OF_REGION",
    "echo a > api/to_process/docs/x": "OUT_OF_REGION",
    "echo a > /proc/self/cwd/api/x": "OTHER_TREE",
    "echo a > /proc/self/fd/7/api/x": "OTHER_TREE",
    "pytest > /tmp/log 2>&1": "",
    "cp a api": "",
    "rm -rf api": "",
    "rm -rf .": "OUT_OF_REGION",
    "rm -rf ../repository/docs": "OUT_OF_REGION",
    "echo a > docs": "OUT_OF_REGION",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_link_leads_a_command_out_of_the_lane_unseen(tree, command):
    footprint = read_footprint("Bash", {"command": command}, cwd=str(tree), root=str(tree))
    holder = Asker(kind=AskerKind.HOLDER, lane="api", region=region(["api/**"]))
    ask = Ask(asker=holder, tool="Bash", footprint=resolve(footprint, tree))
    assert judge(ask).reason_class == COMMANDS[command]


def test_where_a_path_leads_is_where_the_kernel_writes(tree):
    """The same paths, written for real by a program in that folder."""
    for path in LEADS:
        if LEADS[path] is None or path.startswith(("/proc", "api/to_itself", "~", ".")):
            continue
        if path in ("api/to_docs", "api/to_docs/") or "missing" in path or "to_process" in path:
            continue
        full = tree / LEADS[path]
        os.makedirs(full.parent, exist_ok=True)
        full.unlink(missing_ok=True)
        with open(os.path.join(tree, path), "w") as file:
            file.write(path)
        assert full.read_text() == path
