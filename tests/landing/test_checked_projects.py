"""Projects of several kinds pass and fail in a check tree exactly as in a fresh clone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample_repository import Repository
from test_check_trees import add, head, open_trees, run, set_up_with

from dos.landing.trees.check_tree import CannotCheck

PYPROJECT = """[build-system]
requires = ["setuptools>=64", "setuptools_scm>=8"]
build-backend = "setuptools.build_meta"

[project]
name = "versioned"
dynamic = ["version"]

[tool.setuptools_scm]
version_file = "src/versioned/_version.py"
"""


def put(repository: Repository, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = repository.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command], cwd=cwd, capture_output=True, text=True, timeout=300
    )


@pytest.mark.soak
def test_a_project_whose_version_is_that_of_its_tag(repository):
    """An editable install in the setup points into the tree, so each commit is what is imported."""
    put(
        repository,
        {
            "pyproject.toml": PYPROJECT,
            "src/versioned/__init__.py": "answer = 41\n",
            ".gitignore": ".venv/\n_version.py\n*.egg-info/\n__pycache__/\n",
        },
    )
    setup = f"{sys.executable} -m venv .venv && .venv/bin/pip install --quiet -e ."
    set_up_with(repository, setup)
    repository.git("tag", "-a", "v1.2.3", "-m", "v1.2.3")
    base = head(repository)
    check = ".venv/bin/python -c 'import versioned; assert versioned.answer == 42'"
    work = add(repository, "src/versioned/__init__.py", "answer = 42\n")
    trees = open_trees(repository)
    version = ".venv/bin/python -c 'from versioned._version import version; print(version)'"
    try:
        with trees.at(work, run, base=base) as tree:
            assert tree.run(check).passed
            assert tree.run(version).output[-1:] == ["1.2.3"], "of the base, where the setup ran"
            assert ".venv/" in tree.setup_paths
    except CannotCheck as error:
        pytest.skip(f"pip cannot install setuptools_scm here: {error}")
    with trees.at(base, run) as tree:
        assert tree.run(check).passed is False
        assert tree.run("git describe").output == ["v1.2.3"]


@pytest.mark.soak
def test_an_npm_workspace(repository):
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    put(
        repository,
        {
            "package.json": '{"private": true, "workspaces": ["packages/*"],'
            ' "scripts": {"test": "node packages/app/test.js"}}\n',
            "packages/lib/package.json": '{"name": "lib", "version": "1.0.0", "main": "i.js"}\n',
            "packages/lib/i.js": "module.exports = 41;\n",
            "packages/app/package.json": '{"name": "app", "version": "1.0.0",'
            ' "dependencies": {"lib": "1.0.0"}}\n',
            "packages/app/test.js": "if (require('lib') !== 42) process.exit(1);\n",
            ".gitignore": "node_modules/\n",
        },
    )
    setup = "npm install --offline --no-audit --no-fund --no-update-notifier --no-package-lock"
    set_up_with(repository, setup)
    base = head(repository)
    work = add(repository, "packages/lib/i.js", "module.exports = 42;\n")
    trees = open_trees(repository)
    try:
        with trees.at(work, run, base=base) as tree:
            assert tree.run("npm test --silent").passed
            assert tree.setup_paths == ("node_modules/",)
    except CannotCheck as error:
        pytest.skip(f"npm cannot link a workspace offline: {error}")
    with trees.at(base, run) as tree:
        assert tree.run("npm test --silent").passed is False


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Another repository, which is a submodule of the first."""
    folder = tmp_path / "library"
    folder.mkdir()
    commit = "git -c user.name=a -c user.email=a@a commit --quiet -m First"
    made = shell(f"git init -q -b main && echo 1 > number && git add . && {commit}", folder)
    assert made.returncode == 0
    return folder


def test_a_project_with_a_submodule(repository, library):
    allow = ("-c", "protocol.file.allow=always")
    repository.git(*allow, "submodule", "--quiet", "add", str(library), "lib/number")
    repository.commit_all("Add the library")
    base = head(repository)
    trees = open_trees(repository)
    with trees.at(base, run) as tree:
        assert tree.run("cat lib/number/number && git -C lib/number log --format=%s").output == [
            "1", "First",
        ]  # fmt: skip
        for hostile in (
            "echo 7 > lib/number/number",
            "git -C lib/number config filter.evil.smudge 'echo evil'; rm -rf lib/number/number",
            "rm -rf lib/number && ln -s /tmp lib/number",
            "rm -rf lib/number/.git && git init -q lib/number && touch lib/number/more",
        ):
            tree.run(hostile)
            assert tree.run("cat lib/number/number; ls lib/number; git status --short").output == [
                "1", "number",
            ]  # fmt: skip
    shell("echo 2 > number && git -c user.name=a -c user.email=a@a commit -qam Second", library)
    inner = repository.root / "lib" / "number"
    shell("git -c protocol.file.allow=always pull --quiet", inner)
    repository.commit_all("Take the second")
    with trees.at(head(repository), run, base=base) as tree:
        assert tree.run("cat lib/number/number").output == ["2"]
        assert tree.unpublished_submodule(base) == ""
    with trees.at(base, run) as tree:
        assert tree.run("cat lib/number/number").output == ["1"]


def test_a_link_above_a_submodule_removes_nothing_of_the_users(repository, library, tmp_path):
    allow = ("-c", "protocol.file.allow=always")
    repository.git(*allow, "submodule", "--quiet", "add", str(library), "lib/number")
    repository.commit_all("Add the library")
    mine = tmp_path / "user" / "number" / "thesis"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    trees = open_trees(repository)
    for hostile in (f"rm -rf lib && ln -s {tmp_path}/user lib", "rm -rf lib && touch lib"):
        with trees.at(head(repository), run) as tree:
            tree.run(hostile)
        with trees.at(head(repository), run) as tree:
            assert tree.run("cat lib/number/number").output == ["1"]
        assert mine.read_text() == "mine\n"


def test_a_submodule_at_a_commit_that_nobody_has_cannot_be_checked(repository, library):
    allow = ("-c", "protocol.file.allow=always")
    repository.git(*allow, "submodule", "--quiet", "add", str(library), "lib/number")
    repository.commit_all("Add the library")
    base = head(repository)
    gone = "1" * 40
    repository.git("update-index", "--cacheinfo", f"160000,{gone},lib/number")
    repository.git("commit", "--quiet", "-m", "Move it")
    with open_trees(repository).at(head(repository), run, base=base) as tree:
        with pytest.raises(CannotCheck, match="lib/number could not be checked out"):
            tree.run("true")
        assert tree.unpublished_submodule(base) == "lib/number"


@pytest.mark.parametrize("is_local", [True, False], ids=["in the repository", "for the user"])
def test_a_project_with_large_files(repository, monkeypatch, tmp_path, is_local):
    if not shutil.which("git-lfs"):
        pytest.skip("git-lfs is not installed")
    if not is_local:
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
        monkeypatch.setenv("HOME", str(tmp_path))
    where = "--local" if is_local else "--skip-repo"
    repository.git("lfs", "install", where)
    repository.git("lfs", "track", "*.bin")
    commit = add(repository, "one/large.bin", "large\n")
    assert "version https://git-lfs" in repository.git("cat-file", "-p", f"{commit}:one/large.bin")
    with open_trees(repository).at(commit, run) as tree:
        assert tree.run("cat one/large.bin").output == ["large"]


def test_pointers_stay_pointers_where_no_filter_is_configured(repository):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    put(repository, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    commit = add(repository, "one/large.bin", pointer)
    with open_trees(repository).at(commit, run) as tree:
        assert tree.run("head -1 one/large.bin").output == [pointer.split("\n")[0]]
