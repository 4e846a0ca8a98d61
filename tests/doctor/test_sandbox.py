"""What doctor says of the sandbox: the sockets that agents can open, and the listed paths."""

import pytest

from dos.doctor.subjects import sandbox
from dos.sandbox.settings import Sandbox
from dos.sandbox.support import Support
from dos.world import World

NAMESPACES = Support(landlock_abi=7, seccomp=True, namespaces=True)


def named_sockets(path, support=NAMESPACES, **settings):
    found = sandbox.judge_sockets(Sandbox(**settings), support, {path: "PostgreSQL"}, "")
    return [finding.what for finding in found]


@pytest.mark.parametrize("folder", ["/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm"])
def test_a_socket_below_a_folder_that_namespaces_cover_is_not_listed(folder):
    assert named_sockets(f"{folder}/db/.s.PGSQL.5432") == []


def test_every_other_socket_is_listed_and_all_of_them_without_namespaces():
    assert "/srv/db/.s.PGSQL.5432 (PostgreSQL)" in named_sockets("/srv/db/.s.PGSQL.5432")[0]
    for settings, support in (
        ({}, Support(landlock_abi=7, seccomp=True)),
        ({"level": "landlock"}, NAMESPACES),
    ):
        assert "/run/d.sock" in named_sockets("/run/d.sock", support, **settings)[0]


@pytest.mark.parametrize("key", ["readable", "writable"])
def test_a_socket_that_the_settings_keep_visible_is_listed(key, monkeypatch):
    monkeypatch.setenv("HOME", "/run/user/7")
    for path in ("/run/user/7/bus", "/run/user", "~/bus"):
        assert "/run/user/7/bus" in named_sockets("/run/user/7/bus", **{key: (path,)})[0]
    assert named_sockets("/run/user/7/bus", **{key: ("/run/use", "~/other")}) == []


@pytest.fixture
def root(repository, monkeypatch):
    """A repository beside a home that has a cache."""
    (repository.root.parent / "home" / "cache").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(repository.root.parent / "home"))
    return repository.root


def findings_of(root, text):
    (root / "dos.toml").write_text(f"[sandbox]\n{text}\n")
    found = sandbox.examine(World(root))
    return [finding for finding in found if finding.kind.startswith("SANDBOX_PATH")]


def test_a_listed_path_that_does_not_exist_is_named_with_its_key(root):
    assert findings_of(root, 'writable = ["~/cache"]\nreadable = ["/usr"]') == []
    (missing,) = findings_of(root, 'writable = ["~/cache", "~/not there"]')
    assert "[sandbox] writable names ~/not there, which does not exist" in missing.what
    assert missing.fix == f"mkdir -p '{root.parent}/home/not there'"
    (missing,) = findings_of(root, 'readable = ["/no/such"]')
    assert "[sandbox] readable names /no/such, which does not exist" in missing.what


def test_a_writable_path_around_the_repository_or_the_home_is_named(root):
    for path in ("/", "~/", str(root), str(root.parent)):
        (wide,) = findings_of(root, f'writable = ["{path}"]')
        assert f"writable names {path}, which holds your repository" in wide.what
    assert findings_of(root, 'writable = ["~/cache", "/usr"]\nreadable = ["/"]') == []


MINE = '[agents.mine]\nadapter = "command"\ncommand = ["true"]'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[workers]\nagent = "claude_code"', ""),
        ('[workers]\nagent = "command"\ncommand = ["true"]', "command"),
        (f'[workers]\nagent = "claude_code"\nfallback = ["mine"]\n{MINE}', "mine"),
        ('[workers]\nagent = "command"\ncommand = ["true"]\n[sandbox]\nreads = "all"', ""),
    ],
)  # fmt: skip
def test_agents_that_read_everything_are_named(root, monkeypatch, text, named):
    monkeypatch.setattr(sandbox, "probe", lambda: NAMESPACES)
    (root / "dos.toml").write_text(text)
    found = [finding.what for finding in sandbox.examine(World(root)) if "folders" in finding.what]
    assert found == [f"dos does not know which folders these agents need: {named}"] * bool(named)
