"""A provider that claims too long a limit, a program without a login: named, asked about, and over
at once.
"""

import re
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs
from sample_fleet import Fleet, history, landed, wait_for
from sample_repository import Repository, commit, write
from test_people_and_fleet import observe, work

from dos.agents.io import candidates
from dos.agents.logins import Credentials
from dos.journal import fold
from dos.questions.state import Decisions
from dos.world import World

PATIENCE = 120.0
NEXT_YEAR_SECONDS = 300 * 86_400
EVERYTHING = ["DEMO/A1", "DEMO/A2", "DEMO/B1"]
WORK = {
    "DEMO/A1": [write("one/a.txt"), commit("Write a")],
    "DEMO/A2": [write("one/b.txt"), commit("Write b")],
    "DEMO/B1": [write("two/c.txt"), commit("Write c")],
}


def facts(fleet: Fleet, kind: str) -> list[dict]:
    return [event["body"] for event in history(fleet) if event["kind"] == kind]


def edit(repository: Repository, old: str, new: str) -> None:
    config = repository.root / "dos.toml"
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    repository.commit_all("Configure")


@pytest.mark.soak
def test_a_limit_until_next_year_is_asked_about_and_its_lift_wakes_everybody_at_once(fleet):
    repository = fleet.repository
    works = {unit: [steps] for unit, steps in WORK.items()}
    repository.play(works | {"DEMO/A1": [[{"limit": NEXT_YEAR_SECONDS}], WORK["DEMO/A1"]]})
    edit(repository, "jitter_seconds = 0", "jitter_seconds = 3600")
    process = fleet.up("--until-idle", "--target", "2")
    wait_for(lambda: facts(fleet, "decision_raised") and facts(fleet, "run_parked"), PATIENCE)
    year = str((datetime.now() + timedelta(seconds=NEXT_YEAR_SECONDS)).year)
    (asked,) = [fact for fact in facts(fleet, "decision_raised") if fact["about"] == "limit_until"]
    claim = r"scripted says it is limited for (299\.9|300\.0) days"
    assert re.search(claim, asked["question"])
    assert [choice["name"] for choice in asked["choices"]] == ["lift", "wait"]

    assert year in fleet.dos("limits").stdout and year in fleet.dos("top", "--once").stdout
    assert (
        max(fact["until_ms"] for fact in facts(fleet, "run_parked"))
        < time.time_ns() // 10**6 + 3_601_000
    )

    lifted = fleet.dos("limits", "lift")
    assert (lifted.returncode, asked["id"] in lifted.stdout) == (0, True)
    story, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, story
    assert landed(fleet) == EVERYTHING, "an hour of jitter holds up nobody"
    journal = World(repository.root).journal
    assert fold.current(journal, Decisions)[0].open == {}
    assert fleet.dos("limits").stdout == "No provider is limited.\n"
    assert fleet.dos("limits", "lift").returncode == 1


CLAUDE = """#!{python}
import os, subprocess, sys
from pathlib import Path

here = Path({home!r})
with (here / "starts").open("a") as starts:
    starts.write(os.environ["DOS_UNIT"] + "\\n")
if not (Path(os.environ["HOME"]) / ".claude" / ".credentials.json").exists():
    print((Path({captures!r}) / "claude-not-logged-in.jsonl").read_text())
    sys.exit(1)
steps = {work!r}[os.environ["DOS_UNIT"]]
path = Path(steps[0]["write"])
path.write_text("x\\n")
subprocess.run(["git", "add", path], check=True)
trailer = "Unit: " + os.environ["DOS_UNIT"]
subprocess.run(["git", "commit", "--quiet", "-m", steps[1]["commit"], "-m", trailer], check=True)
print((Path({captures!r}) / "claude-ok.jsonl").read_text())
"""


class Claude:
    """A program that says what the real one says, with and without its credentials."""

    def __init__(self, fleet: Fleet, home: Path) -> None:
        self.home = home
        program = home / "claude"
        captures = Path(__file__).parent.parent / "fixtures" / "agents"
        program.write_text(
            CLAUDE.format(python=sys.executable, home=str(home), captures=str(captures), work=WORK)
        )
        program.chmod(0o755)
        edit(
            fleet.repository,
            f'agent = "scripted"\ncommand = ["{fleet.repository.script}"]\n',
            f'agent = "claude_code"\n\n[agents.claude_code]\ncommand = ["{program}"]\n',
        )
        fleet.repository.set_walls(f'writable = ["{home}"]\nreadable = ["{captures}"]')
        fleet.repository.commit_all("Let it read what the real one said")

    def log_in(self) -> None:
        folder = self.home / ".claude"
        folder.mkdir()
        (folder / ".credentials.json").write_text("{}")

    def starts(self) -> int:
        return len((self.home / "starts").read_text().splitlines())


@pytest.fixture
def claude(fleet, tmp_path, monkeypatch) -> Claude:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    for name, value in (("AUTHOR", "Tester"), ("COMMITTER", "Tester")):
        monkeypatch.setenv(f"GIT_{name}_NAME", value)
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "tester@example.invalid")
    return Claude(fleet, tmp_path)


def test_a_login_is_seen_by_the_next_look(repository, claude):
    stop = work(repository)
    assert (stop.reason, stop.detail) == ("launch-failed", "claude is not logged in")
    observation = observe(repository)
    assert (observation.new_logins, observation.settled, observation.idle) == ([], [], True)
    (asked,) = fold.current(World(repository.root).journal, Decisions)[0].open.values()
    assert asked.raised.question.startswith("claude is not logged in")
    assert asked.raised.question.endswith("Log in with `claude auth login`; the fleet notices it")
    claude.log_in()
    assert [limit.key.vendor for limit in observe(repository).new_logins] == ["anthropic"]


@pytest.mark.soak
def test_who_is_not_logged_in_is_named_with_the_command_and_a_login_lets_the_fleet_go_on(
    fleet, claude
):
    process = fleet.up("--target", "2")
    wait_for(
        lambda: any(fact["about"] == "limit" for fact in facts(fleet, "decision_raised")), PATIENCE
    )
    (asked,) = [fact for fact in facts(fleet, "decision_raised") if fact["about"] == "limit"]
    assert asked["question"].startswith("claude is not logged in")
    assert "`claude auth login`" in asked["question"]
    assert "claude is not logged in" in fleet.dos("limits").stdout
    wait_for(lambda: len(facts(fleet, "run_stopped")) >= 1, PATIENCE)
    assert {fact["reason"] for fact in facts(fleet, "run_stopped")} == {"claude is not logged in"}
    assert facts(fleet, "unit_attempted") == [], "no unit was tried"

    claude.log_in()
    wait_for(lambda: landed(fleet) == EVERYTHING, PATIENCE)
    assert fold.current(World(fleet.repository.root).journal, Decisions)[0].open == {}, (
        "nobody need answer any more"
    )
    assert fleet.dos("down").returncode == 0
    story, _ = process.communicate(timeout=PATIENCE)
    assert "claude is not logged in; log in with `claude auth login`" in story
    assert "has no room" not in story and "process did not start" not in story


@pytest.mark.soak
def test_one_agent_sees_at_the_start_whether_somebody_has_logged_in(fleet, claude):
    process = fleet.up("--until-idle", "--target", "2")
    story, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "claude is not logged in" in story) == (3, True)
    before = claude.starts()
    assert fleet.up("--until-idle", "--target", "2").wait(timeout=PATIENCE) == 3
    assert claude.starts() == before + 1, "one goes first, and the others do not follow it"

    claude.log_in()
    assert fleet.up("--until-idle", "--target", "2").wait(timeout=PATIENCE) == 0
    assert landed(fleet) == EVERYTHING


@pytest.mark.soak
def test_a_limit_of_an_agent_that_is_not_used_any_more_is_not_shown(fleet, claude):
    assert fleet.up("--until-idle", "--target", "1").wait(timeout=PATIENCE) == 3
    assert "claude is not logged in" in fleet.dos("top", "--once").stdout
    edit(
        fleet.repository,
        'agent = "claude_code"\n',
        f'agent = "scripted"\ncommand = ["{fleet.repository.script}"]\n',
    )
    assert "logged in" not in fleet.dos("limits").stdout
    assert "limit: " not in fleet.dos("top", "--once").stdout
    assert "no lane uses it" in fleet.dos("limits", "--all").stdout
    assert fleet.up("--until-idle", "--target", "2").wait(timeout=PATIENCE) == 0
    assert "logged in" not in fleet.dos("decisions").stdout + fleet.dos("top", "--once").stdout


def test_credentials_tell_a_login_on_their_own_host_only(tmp_path):
    environment = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "there")}
    before = candidates.credentials_fingerprint("anthropic", environment)
    assert candidates.credentials_fingerprint("anthropic", environment) == before
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / ".credentials.json").write_text("{}")
    after = candidates.credentials_fingerprint("anthropic", environment)
    assert candidates.credentials_renewed(before, after) and not candidates.credentials_renewed(
        before, before
    )
    assert not candidates.credentials_renewed(structs.replace(before, host="elsewhere"), after)
    assert not candidates.credentials_renewed(Credentials(), after)
    assert candidates.credentials_fingerprint("acme", environment) == Credentials()
