"""The fleet uses the dos.toml that a person approved; an edit counts once committed or answered."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import in_process
from patience import PATIENCE
from sample_fleet import history, landed, wait_for
from sample_repository import commit, write

from dos import run_ids
from dos.approval.io import approve
from dos.approval.io.texts import MOST_QUESTIONS
from dos.config.load import load
from dos.errors import BadInput
from dos.fleet import effects
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.tick import ExpireQuestion, ObserveFleet, SpawnWorker
from dos.journal import fold, streams
from dos.machine import process
from dos.machine.process import Identity
from dos.questions import state
from dos.questions.documents import SettingsChanged
from dos.questions.state import Decisions
from dos.workspace import find
from dos.world import World, open_journal

JOURNAL = approve.journal_mark("")


class Executor:
    """Starts nobody, and keeps what the last worker was handed."""

    stdin_text: str | None = None

    def launch(self, words, *, cwd: Path, log: Path, stdin_text: str = "") -> Identity:
        self.stdin_text = stdin_text if "--settings-from-stdin" in words else None
        return Identity(4711, 1.0)

    def reap_children(self) -> dict[int, int]:
        return {}


class Seat:
    """A supervisor that starts nobody: what it asks, and what the next worker works by."""

    def __init__(self, repository, lock="supervisor/here"):
        self.repository, self.config = repository, repository.root / "dos.toml"
        self.text = self.config.read_text()
        self.easy = self.text + 'test = "true"\n'  # what an agent would like to be judged by
        self.executor = Executor()
        with World(repository.root) as world:
            self.fleet = SupervisorEffects(
                world.workspace, world.config, actor="supervisor", executor=self.executor
            )
            self.fleet.approve(world.loaded_config, by="me")
        self.lease = self.fleet.take_lease(effects.TakeLease(lane=lock, run_id="", is_lock=True))

    def dos(self, *words):
        return in_process("--workspace", str(self.repository.root), *words)

    def asked(self):
        """What the fleet asks about dos.toml; raised, as a supervisor does."""
        observation = self.fleet.observe(ObserveFleet(lease=self.lease))
        questions = [
            question for question in observation.questions if isinstance(question, SettingsChanged)
        ]
        self.fleet.store.append_all([state.raise_entry(each) for each in questions])
        for closing in observation.expired:
            self.fleet.expire_question(
                ExpireQuestion(question=closing.asked, choice=closing.choice, reason=closing.reason)
            )
        return questions

    def handed(self):
        """The text that a worker is started with."""
        self.fleet.spawn(SpawnWorker(lane="one", run_id="R"))
        return self.executor.stdin_text

    def open(self):
        return list(fold.current(self.fleet.store, Decisions)[0].open)


@pytest.fixture
def seat(repository):
    seat = Seat(repository)
    yield seat
    seat.fleet.close()


def test_an_edit_on_disk_configures_no_worker_and_is_asked_about_once(seat):
    assert seat.asked() == [] and seat.handed() == seat.text
    seat.config.write_text(seat.easy)
    (question,) = seat.asked()
    assert question.text.startswith("dos.toml changed on disk since `dos up`")
    assert seat.handed() == seat.text
    assert seat.asked() == [] and seat.open() == [question.id]
    shown = seat.dos("decisions")
    assert "dos.toml changed on disk" in shown.out
    seat.config.unlink()
    (removed,) = seat.asked()
    assert "was removed" in removed.text and seat.handed() == seat.text
    seat.config.write_text(seat.text)
    assert seat.asked() == [] and seat.open() == [], (
        "it is as it was, so there is nothing to answer"
    )
    for number in range(
        2, 8
    ):  # a person who stashes an edit and takes it out again; or an agent that does not stop
        seat.config.write_text(seat.easy)
        assert len(seat.asked()) == (number <= MOST_QUESTIONS) and seat.handed() == seat.text
        seat.config.write_text(seat.text)
        assert seat.asked() == [] and seat.open() == []


def test_the_question_shows_what_was_changed_as_long_as_that_is_on_disk(seat):
    seat.config.write_text(seat.easy)
    (question,) = seat.asked()
    shown = seat.dos("decisions", "show", question.id)
    assert '\n  +test = "true"\n' in shown.out and shown.out.count("\n  -") == 1, (
        "one line is new, and none is gone"
    )
    assert (
        '+test = "true"' in seat.dos("decisions", "show", question.id, "--json").json["difference"]
    )
    seat.config.write_text(seat.easy + "# and again\n")
    assert "changed\n" not in seat.dos("decisions", "show", question.id).out


def test_an_answer_and_a_commit_make_it_count(seat):
    seat.config.write_text(seat.easy)
    (question,) = seat.asked()
    assert seat.dos("decisions", "answer", question.id, "use").code == 0
    assert seat.asked() == [] and seat.handed() == seat.easy
    third = seat.easy + "wall_seconds = 77\n"
    seat.config.write_text(third)
    assert len(seat.asked()) == 1 and seat.handed() == seat.easy
    seat.repository.commit_all("Change the settings")
    assert seat.asked() == [] and seat.handed() == third and seat.open() == []


def test_a_text_that_cannot_be_loaded_never_counts_and_is_told(seat, capfd):
    seat.config.write_text("[workers\n")
    assert seat.asked() == [] and seat.handed() == seat.text
    assert (
        "dos.toml:1: not TOML" in (errors := capfd.readouterr().err)
        and "workers keep the settings" in errors
    )
    seat.asked()
    assert capfd.readouterr().err == "", "it is told once"
    seat.repository.commit_all("Break the settings")
    assert seat.handed() == seat.text


def test_what_a_person_sets_by_a_verb_is_approved(seat):
    assert seat.dos("config", "set", "workers.test", "make check").code == 0
    assert seat.asked() == [] and 'test = "make check"' in seat.handed()
    answer = seat.dos("config", "unset", "workers.test")
    assert answer.code == 0 and answer.err == ""
    assert (
        seat.asked() == []
        and seat.handed() == seat.config.read_text()
        and "make check" not in seat.handed()
    )


def test_a_verb_approves_nothing_of_what_somebody_else_changed(seat):
    seat.config.write_text(seat.easy)  # an agent
    answer = seat.dos("config", "set", "workers.wall_seconds", "99", "--json")
    assert answer.code == 0 and "other changes that nobody approved" in answer.err
    assert answer.json["warnings"] and "wall_seconds = 99" in seat.config.read_text()
    assert seat.handed() == seat.text and len(seat.asked()) == 1
    # The person has looked, and starts the fleet on what is there.
    seat.fleet.approve(load(seat.repository.root), by="me")
    assert seat.asked() == [] and "wall_seconds = 99" in seat.handed() and seat.open() == []


def test_another_journal_is_never_changed_over_to_while_the_fleet_runs(seat, capfd):
    """A worker that wrote elsewhere would be nobody's, and would find nothing approved there."""
    elsewhere = '\n[store]\nurl = "sqlite:/tmp/elsewhere"\n'
    seat.config.write_text(seat.text + elsewhere)
    assert seat.asked() == [] and seat.handed() == seat.text
    assert "names another journal" in capfd.readouterr().err
    seat.config.write_text(seat.text)
    answer = seat.dos("config", "set", "store.url", "sqlite:/tmp/elsewhere")
    assert answer.code == 0 and "`dos down`, then `dos up`" in answer.err
    assert seat.handed() == seat.text


def test_a_question_of_another_checkout_is_left_to_its_own_fleet(seat):
    detail = {
        "document": "dos.toml",
        "digest": "1" * 64,
        "approved": "2" * 64,
        "where": "other:/elsewhere",
    }
    theirs = SettingsChanged.ask(**detail)
    seat.fleet.store.append_all([state.raise_entry(theirs)])
    assert seat.asked() == [] and seat.open() == [theirs.id]


def test_a_second_up_approves_what_lies_there_though_a_fleet_runs(fleet):
    seat = Seat(fleet.repository, lock=streams.supervisor(process.system()))
    seat.config.write_text(seat.easy)
    assert len(seat.asked()) == 1
    assert fleet.dos("up").returncode == 1
    assert seat.asked() == [] and seat.handed() == seat.easy and seat.open() == []
    seat.fleet.close()


def test_the_same_settings_are_approved_once(seat):
    seat.fleet.approve(load(seat.repository.root), by="me")
    kinds = [event.kind for event in seat.fleet.store.load("approvals")]
    assert kinds == ["settings_approved", "plans_approved"]


def test_a_start_by_the_system_goes_on_by_what_was_approved(seat):
    workspace = find(seat.repository.root)
    seat.config.write_text(seat.easy)
    assert approve.service_settings(workspace, JOURNAL).text == seat.text
    seat.config.unlink()
    assert approve.service_settings(workspace, JOURNAL).text == seat.text
    seat.config.write_text(seat.easy)
    approve.approve(
        workspace, load(workspace.root), seat.fleet.store, by="me"
    )  # `dos service install`
    seat.config.write_text(seat.text + 'test = "false"\n')
    assert approve.service_settings(workspace, JOURNAL).text == seat.easy
    seat.config.write_text(seat.text + '[store]\nurl = "sqlite:/tmp/of-an-agent"\n')
    assert approve.service_settings(workspace, JOURNAL).text == seat.easy, (
        "the committed file names the journal"
    )
    with pytest.raises(BadInput, match="names another journal"):
        approve.service_settings(workspace, approve.journal_mark("sqlite:elsewhere"))


def test_a_start_by_the_system_takes_what_is_committed_where_nobody_approved_anything(repository):
    place, config, plan = (
        find(repository.root),
        repository.root / "dos.toml",
        repository.root / "docs" / "demo-plan.md",
    )
    text = config.read_text()
    config.write_text(text + 'test = "true"\n')
    assert approve.service_settings(place, JOURNAL).text == text
    with open_journal(place, "") as store:
        approvals = {event.kind: event.body["documents"] for event in store.load("approvals")}
    assert approvals["plans_approved"] == {"docs/demo-plan.md": plan.read_text()}


@pytest.mark.parametrize("name", ["dos.toml", "docs/demo-plan.md"])
def test_a_start_by_the_system_on_what_nobody_approved_and_nobody_committed_is_an_error(
    repository, name
):
    repository.git("rm", "--quiet", "--cached", name)
    repository.git("commit", "--quiet", "-m", "Take it out")
    answer = in_process("--workspace", str(repository.root), "up", "--service", JOURNAL)
    assert answer.code == 2 and f"{name} is not committed, and no person has approved" in answer.err
    assert f"git add -- {name}" in answer.err and "dos service install" in answer.err


def test_a_worker_works_by_what_it_is_handed_and_not_by_the_disk(fleet):
    """The lanes, the agent and the test are those that were approved."""
    repository, config = fleet.repository, fleet.repository.root / "dos.toml"
    tested = repository.home / "tested"
    text = f'{config.read_text()}test = "touch {tested}"\n'
    config.write_text('[workers]\nagent = "scripted"\ncommand = ["/nowhere"]\n')
    words = [
        "worker",
        "--lane=two",
        f"--run-id={run_ids.mint(0, 0, 'worker-two').run_id}",
        "--settings-from-stdin",
    ]
    command = [sys.executable, "-m", "dos", *words]
    done = subprocess.run(
        command,
        cwd=repository.root,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert landed(fleet) == ["DEMO/B1"] and tested.exists()


@pytest.mark.soak
def test_an_agent_that_rewrites_the_settings_configures_nobody_also_when_the_supervisor_is_killed(
    fleet,
):
    """It replaces the test in the user's checkout; the next worker uses the approved one."""
    repository = fleet.repository
    config = repository.root / "dos.toml"
    config.write_text(config.read_text() + 'baseline = "off"\ntest = "test ! -e two/bad.txt"\n')
    repository.commit_all("Test")
    rewrite = f"sed -i 's/^test = .*/test = \"true\"/' {config}"
    repository.play(
        {
            "DEMO/A1": [[{"run": rewrite}, write("one/a.txt"), commit("Write a")]],
            "DEMO/A2": [[write("one/b.txt"), commit("Write b")]],
            "DEMO/B1": [
                [repository.waits, write("two/bad.txt"), commit("Write what the test refuses")]
            ]
            * 9,
        }
    )

    def of(kind):
        return [event["body"] for event in history(fleet) if event["kind"] == kind]

    def asked():
        return [each for each in of("decision_raised") if each["about"] == "settings_changed"]

    first = fleet.up("--target", "1")
    (question,) = wait_for(asked)
    wait_for(lambda: fleet.worker_at("two"))  # started after the edit
    assert 'test = "true"' in config.read_text()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    again = fleet.up("--target", "1", "--service", JOURNAL)
    wait_for(lambda: len(of("fleet_started")) == 2)
    repository.let_go()
    (refused, *_) = wait_for(
        lambda: of("landing_refused") or ("DEMO/B1" in landed(fleet) and [{"reason": "landed"}])
    )
    assert refused["reason"].startswith("the tests fail")
    assert asked() == [question] and not of("decision_answered"), (
        "one question, and a restart leaves it open"
    )
    assert len(of("settings_approved")) == 1
    assert fleet.dos("decisions", "answer", question["id"], "use").returncode == 0
    wait_for(lambda: len(of("settings_approved")) == 2)
    assert of("settings_approved")[-1]["documents"]["dos.toml"] == config.read_text()
    assert fleet.dos("down", "--now", "--timeout", "120").returncode == 0
    again.communicate(timeout=PATIENCE)


def test_the_target_is_checked_by_the_settings_that_count_now(seat):
    """A person fixes a test that fails at the start: in dos.toml, while the fleet runs."""
    seat.asked()
    before = seat.fleet.baseline.commands
    seat.config.write_text(seat.easy)
    seat.asked()
    assert seat.fleet.baseline.commands == before, "nobody approved it"
    seat.config.write_text(seat.text)
    assert seat.dos("config", "set", "workers.test", "make check").code == 0
    seat.asked()
    assert seat.fleet.baseline.test == "make check"
