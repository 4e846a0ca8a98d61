"""A workspace that the version before left in the middle of its work is opened, finished and lost
nothing of.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from commanding import Answer, git, in_its_own_process, in_process

from dos import times
from dos.journal.events.envelope import Event
from dos.world import World

FIXTURE = Path(__file__).parents[1] / "fixtures" / "version_before"
OLD_BOOT = "0ld0b007-0000-4000-8000-000000000001"


class OldWorkspace:
    def __init__(self, root: Path) -> None:
        self.root = root
        git("init", "--quiet", "--initial-branch", "main", cwd=self._made(root))
        git(
            "fetch",
            "--quiet",
            "--update-head-ok",
            str(FIXTURE / "repository.bundle"),
            "refs/*:refs/*",
            cwd=root,
        )
        git("reset", "--quiet", "--hard", "main", cwd=root)
        git(
            "update-ref", "-d", "refs/landing", cwd=root
        )  # the commit is in no branch, as it was then
        shutil.copy(FIXTURE / "state.db", self._made(root / ".git" / "dos") / "state.db")

    def _made(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def dos(self, *words: str) -> Answer:
        return in_process("--workspace", str(self.root), *words)

    def events(self) -> list[Event]:
        with World(self.root) as world:
            return list(world.journal.events())

    def units(self, kind: str) -> Counter[str]:
        return Counter(event.body["unit"] for event in self.events() if event.kind == kind)


@pytest.fixture
def old(tmp_path, monkeypatch) -> Iterator[OldWorkspace]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield OldWorkspace(tmp_path / "repository")


@pytest.fixture
def before_the_restart(monkeypatch) -> None:
    """As long as the old machine has not been started again, its leases last."""
    monkeypatch.setattr(times, "_boot_id", lambda: OLD_BOOT)
    monkeypatch.setattr(times.SystemClock, "lease_ms", lambda self: 0)


def test_it_is_read_as_it_was_written(old, before_the_restart):
    assert old.dos("journal", "check").code == 0
    leases = {lease["lane"]: lease for lease in old.dos("lease-lane", "live", "--json").json}
    assert {lane: lease["holder"].partition(":")[0] for lane, lease in leases.items()} == {
        "web": "sam",
        "api": "old-host",
    }
    assert not any(lease["lapsed"] for lease in leases.values())
    answer = old.dos("decisions", "--json").json
    assert [question["about"] for question in answer] == ["lane_stopped"]
    assert "OLD/DOC1" in answer[0]["question"]
    units = {unit["unit"]: unit["state"] for unit in old.dos("status", "--json").json["units"]}
    assert set(units) == {"OLD/API1", "OLD/API2", "OLD/DOC1", "OLD/WEB1"}
    assert "landed" not in units.values()
    lanes = {lane["lane"] for lane in old.dos("top", "--once", "--json").json["lanes"]}
    assert lanes == {"api", "docs", "web"}


@pytest.mark.soak
def test_it_is_finished(old):
    before = old.events()
    (old.root / "docs" / "vendor.txt").write_text("chosen\n")
    git("add", "--all", cwd=old.root)
    git("commit", "--quiet", "--message", "Choose a vendor", cwd=old.root)
    question = old.dos("decisions", "--json").json[0]["id"]
    assert old.dos("decisions", "answer", question, "retry").code == 0
    ended = in_its_own_process(
        "up", "--until-idle", "--plain", "--target", "1", "--tick", "0.2", cwd=old.root
    )
    assert ended.code == 0, ended.out + ended.err
    assert old.events()[: len(before)] == before
    assert old.units("unit_landed") == Counter(["OLD/API1", "OLD/API2", "OLD/DOC1", "OLD/WEB1"])
    assert old.units("agent_started")["OLD/API1"] == 1, "what was about to land was not done again"
    assert old.dos("verify", "--all").code == 0
    assert old.dos("decisions", "--json").json == []
    assert old.dos("lease-lane", "live", "--json").json == []
    assert old.dos("journal", "check").code == 0
