"""A lane that lies while it is handed over: the worker believes nothing that it cannot see, touches
nothing outside the lane, and goes on with the next unit."""

import time

import pytest
from driven_worker import fleet, happened, work
from lying_filter import lying
from sample_repository import commit, set_level, write

from dos import workspace
from dos.loop.types import StopReason

SOAKING = (pytest.param(level, marks=pytest.mark.soak) for level in ("landlock", "off"))
LEVELS = ["auto", *SOAKING]
LIES = {
    "lists within lists": 'answer(b"[" * 100_000)',
    "a head that is no text": 'answer({"head": ["a"] * 40})',
    "a head that is nothing": 'answer({"head": None})',
    "a head that nobody has": 'answer({"head": "12" * 20})',
    "a head of another kind of repository": 'answer({"head": "12" * 32})',
    "a head that was not sent": 'answer({"head": head})',
    "a branch that nobody has": (
        'answer({"saved": [{"commit": "12" * 20, "kind": "branch", "onto": ""}]})'
    ),
    "changes without a commit": (
        'answer({"head": base, "saved": [{"commit": "", "kind": "changes", "onto": ""}]})'
    ),
    "the same folder twice": (
        'answer({"head": base, "aside": [{"path": "one", "kind": "repository"}] * 2})'
    ),
}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    for name in ("TAKE_OVER_SECONDS", "PEEK_SECONDS"):
        monkeypatch.setattr(f"dos.landing.lane.repository.{name}", 3.0)


def landed_units(repository) -> set[str]:
    return {name for name, unit in fleet(repository).units.items() if unit.landed}


def play(repository, lie: str, *more: dict) -> None:
    lied = [write("one/a.txt"), commit("Write a"), *lying(lie), *more]
    again = [write("one/a.txt"), commit("Write a again")]
    honest = [write("one/b.txt"), commit("Write b")]
    repository.play({"DEMO/A1": [lied, again], "DEMO/A2": [honest]})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_lands_nothing_and_ends_no_worker(repository, lie):
    play(repository, lie)
    assert work(repository).reason is StopReason.COMPLETE
    assert landed_units(repository) == {"DEMO/A1", "DEMO/A2"}
    assert "Write a" not in repository.subjects() and "Write a again" in repository.subjects()
    assert happened(repository, "work_measured")[0]["verdict"] == "NOTHING"


def test_work_that_passes_through_a_filter_lands_and_what_is_left_is_saved(repository):
    """The same filter, without a lie."""
    play(repository, "pass")
    assert work(repository).reason is StopReason.COMPLETE
    assert {"Write a", "Write b"} <= set(repository.subjects())
    saved = [body["commit"] for body in happened(repository, "work_salvaged")]
    assert any("one/x.lie" in repository.git("ls-tree", "-r", "--name-only", x) for x in saved)


HOLD = """
if os.fork() == 0:
    os.setsid()
    pipe = os.open(f"/proc/{pid}/fd/1", os.O_WRONLY)
    os.set_inheritable(pipe, True)
    if os.fork():
        os._exit(0)
    open("MARK", "w").write(str(os.getpid()))
    os.execve("/bin/sleep", ["/bin/sleep", "300"], {})
time.sleep(300)
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rest", [0, 5], ids=["at the end", "while the agent works"])
def test_a_pipe_that_a_daemon_holds_open_is_not_waited_for(repository, monkeypatch, level, rest):
    monkeypatch.setattr("dos.agents.io.run.PROGRESS_SECONDS", 0.5)
    set_level(repository, level)
    mark = repository.home / "daemon"
    play(repository, HOLD.replace("MARK", str(mark)), {"sleep": rest})
    began = time.monotonic()
    assert work(repository).reason is StopReason.COMPLETE
    assert time.monotonic() - began < 60
    assert landed_units(repository) == {"DEMO/A1", "DEMO/A2"}
    assert mark.exists()
    if level != "auto":  # there it is a pid of another namespace, which is gone as a whole
        assert not is_alive(int(mark.read_text()))


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"sleep" in file.read()
    except OSError:
        return False


SWAP = """
os.makedirs("pit/mine", exist_ok=True)
answer({"head": base, "aside": [{"path": "pit/mine", "kind": "repository"}]})
time.sleep(0.5)
os.rename("pit", "gone")
os.symlink("USER", "pit")
"""


@pytest.mark.parametrize("level", LEVELS)
def test_a_folder_that_becomes_a_link_moves_nothing_of_the_users(repository, level):
    repository.set_walls(f'level = "{level}"')
    repository.commit_all("Let the walls stand")
    mine = repository.home / "user" / "mine"
    mine.mkdir(parents=True)
    (mine / "thesis").write_text("mine\n")
    play(repository, SWAP.replace("USER", str(mine.parent)))
    assert work(repository).reason is StopReason.COMPLETE
    assert (mine / "thesis").read_text() == "mine\n"
    assert landed_units(repository) == {"DEMO/A1", "DEMO/A2"}
    salvage = workspace.find(repository.root).state / "salvage"
    assert list(salvage.rglob("gone")), "the folder is kept as it was left"
