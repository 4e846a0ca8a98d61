"""Setup and test have to pass on the target before agents start, and have to see the program."""

import signal
import subprocess
import sys

import pytest
from commanding import in_process
from sample_fleet import Fleet, wait_for
from sample_repository import Repository

from dos.errors import Conflict
from dos.fleet import effects
from dos.fleet.io.drive import drive
from dos.fleet.io.supervisor_effects import SupervisorEffects
from dos.fleet.supervisor import Supervisor, SupervisorExit, SupervisorProcess, SupervisorResult
from dos.journal import fold
from dos.journal.events.limits import BaselineChecked
from dos.journal.events.reader import decode
from dos.machine import process
from dos.questions import state
from dos.questions.state import Decisions
from dos.report.event_lines import event_line
from dos.world import World, open_journal

PYTHON = sys.executable


def configure(repository: Repository, **settings: str) -> None:
    config = repository.root / "dos.toml"
    lines = [f"{name} = {value!r}\n" for name, value in settings.items()]
    config.write_text(config.read_text() + "".join(lines))
    repository.commit_all("Configure")


class SeenEnough(Conflict):
    """The test ends the supervisor."""


def up(repository: Repository, act=None, *, until_idle: bool = True) -> SupervisorResult:
    """`dos up` in this process, with workers in processes of their own; pauses call `act`."""
    world = World(repository.root)
    acting = SupervisorEffects(world.workspace, world.config, actor="supervisor/test")
    supervisor = Supervisor(
        SupervisorProcess(host=process.host(), system=process.system(), pid=1),
        target=2,
        tick_seconds=0.2,
        until_idle=until_idle,
    )
    performers = dict(acting.performers())
    if act:
        real = performers[effects.Pause]
        performers[effects.Pause] = lambda effect: (act(), real(effect))[1]
    try:
        return drive(supervisor.supervise(), performers)
    finally:
        acting.close()


def up_until_checked(repository: Repository) -> BaselineChecked:
    """The first check, before anybody is started."""

    def look():
        if checks(repository):
            raise SeenEnough("it is checked", hint="")

    with pytest.raises(SeenEnough):
        up(repository, look)
    return checks(repository)[0]


def checks(repository: Repository) -> list[BaselineChecked]:
    found = [decode(event) for event in World(repository.root).journal.events()]
    return [fact for fact in found if isinstance(fact, BaselineChecked)]


def questions(repository: Repository) -> Decisions:
    return fold.current(World(repository.root).journal, Decisions)[0]


def answer(repository: Repository, choice: str) -> None:
    with World(repository.root) as world:
        store = open_journal(world.workspace, world.config.store.url, actor="person")
        for asked in questions(repository).open.values():
            store.append_all(state.answer_entries(asked, choice, by="person"))


def test_setup_and_test_run_in_a_fresh_tree_and_a_restart_on_the_same_tree_costs_nothing(
    repository,
):
    path = repository.home / "seen"
    (repository.root / "ignored").write_text("x")
    (repository.root / ".gitignore").write_text("ignored\nbuilt\n")
    configure(
        repository,
        setup="touch built",
        test=f"test -e built && test ! -e ignored && git log -1 --format='%s' >> {path}",
    )
    check = up_until_checked(repository)
    assert check.passed and check.sees_tree is None, (
        "there is no program here that could be emptied"
    )
    story = [
        line.text
        for event in World(repository.root).journal.events()
        if (line := event_line(event))
    ]
    assert any("passes on main" in text and "none could be emptied" in text for text in story)
    assert path.read_text().splitlines() == ["Configure"]
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert up(repository).exit is SupervisorExit.IDLE
    assert len(checks(repository)) == 1
    assert path.read_text().splitlines().count("Configure") == 1
    assert sorted(repository.subjects())[-3:] == ["Write a", "Write b", "Write c"]


@pytest.mark.parametrize("command", ["echo No tests here >&2; exit 3", "no-such-program"])
def test_a_red_baseline_stops_the_fleet_with_one_question_before_any_agent_is_paid(
    repository, command
):
    configure(repository, test=command)
    ending = up(repository)
    assert ending.exit is SupervisorExit.WORK_LEFT and "Environment not ready" in ending.text
    assert repository.starts() == []
    (asked,) = questions(repository).open.values()
    assert (
        command.partition(";")[0].split()[0] in asked.raised.question
        and "main" in asked.raised.question
    )
    assert [choice.name for choice in asked.raised.choices] == ["retry", "start", "leave"]
    assert any("No tests" in line or "not found" in line for line in asked.question.output)


def test_the_question_shows_the_tail_of_what_the_command_printed(repository):
    noisy = "for line in $(seq 30); do echo line $line; done; printf 'red \\033[31m\\n'; exit 3"
    configure(repository, test=noisy)
    assert up(repository).exit is SupervisorExit.WORK_LEFT
    (asked,) = questions(repository).open.values()
    shown = in_process(
        "decisions", "show", asked.raised.id, "--workspace", str(repository.root)
    ).out
    assert "output   the last 20 lines:\n  line 12\n  line 13\n" in shown
    assert "  line 30\n  red \\u001b[31m\n" in shown and "line 11" not in shown


def test_an_acceptance_command_that_cannot_run_is_told_before_an_agent_is_paid_and_a_red_one_is_not(
    repository,
):
    plan = repository.root / "docs" / "demo-plan.md"
    missing_module = f"{PYTHON} -m no_such_module_here"
    plan.write_text(
        plan.read_text().replace("test -s one/b.txt", missing_module)
        + "- acceptance: `CI=1 no-such-program --all`\n"  # of the last unit
    )
    configure(repository, test="true")
    check = up_until_checked(repository)
    assert repository.starts() == []
    assert check.passed and set(check.missing) == {"DEMO/A2", "DEMO/B1"}, (
        "the work of A1 is only not done yet"
    )
    assert "No module named no_such_module_here" in check.missing["DEMO/A2"]
    assert "no-such-program" in check.missing["DEMO/B1"]
    texts = [
        line.text
        for event in World(repository.root).journal.events()
        if (line := event_line(event))
    ]
    assert any("the acceptance command of DEMO/A2 cannot run: " in line for line in texts), (
        "`dos up` prints it"
    )


def test_whoever_starts_the_fleet_again_has_a_red_baseline_checked_again(repository):
    flag = repository.home / "flag"
    configure(repository, test=f"test -e {flag}")
    assert up(repository).exit is SupervisorExit.WORK_LEFT
    flag.touch()

    def look():
        if len(checks(repository)) > 1 and not questions(repository).open:
            raise SeenEnough("it is checked", hint="")

    with pytest.raises(SeenEnough):
        up(repository, look)
    assert [check.passed for check in checks(repository)] == [False, True]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cleared", ["by a new tree", "by an answer", "by the doctor"])
def test_a_running_fleet_goes_on_once_the_cause_is_gone_or_a_person_says_so(repository, cleared):
    flag = repository.home / "flag"
    configure(repository, test=f"test -e fixed -o -e {flag}")
    acted = []

    def clear():
        if questions(repository).open and not acted:
            acted.append(cleared)
            if cleared == "by an answer":
                flag.touch()
                answer(repository, "retry")
            elif cleared == "by the doctor":
                flag.touch()
                assert "fails on" not in doctor(repository)
            else:
                (repository.root / "fixed").touch()
                repository.commit_all("Fix")
        if acted and not questions(repository).open and checks(repository)[-1].passed:
            raise SeenEnough("agents may start", hint="")

    with pytest.raises(SeenEnough):
        up(repository, clear, until_idle=False)
    (answered,) = questions(repository).answered.values()
    assert answered.choice == ("retry" if cleared == "by an answer" else "passed")
    assert [check.passed for check in checks(repository)] == [False, True]
    assert repository.starts() == []


@pytest.mark.soak
def test_a_person_may_start_all_the_same_and_is_not_asked_again(repository):
    configure(repository, test="test -s one/a.txt")  # what the first unit is to write
    assert up(repository).exit is SupervisorExit.WORK_LEFT
    answer(repository, "start")
    up(repository)
    assert "Write a" in repository.subjects(), "the agent made the test pass"
    assert len(questions(repository).answered) == 1 and not questions(repository).open


def doctor(repository: Repository) -> str:
    return in_process("doctor", "--deep", "--workspace", str(repository.root)).out


def test_what_the_doctor_has_found_to_pass_is_not_run_again(repository):
    path = repository.home / "seen"
    configure(repository, test=f"git log -1 --format='%s' >> {path}")
    assert "fails" not in doctor(repository)

    def look():
        if repository.starts():
            raise SeenEnough("an agent works", hint="")

    with pytest.raises(SeenEnough):
        up(repository, look)
    assert len(checks(repository)) == 1
    assert path.read_text().splitlines().count("Configure") == 1


def test_it_can_be_switched_off(repository):
    configure(repository, test="exit 1", baseline="off")

    def look():
        if repository.starts():
            raise SeenEnough("an agent works", hint="")

    with pytest.raises(SeenEnough):
        up(repository, look)
    assert checks(repository) == []


def test_an_interrupt_ends_it_at_once(repository, fleet: Fleet):
    started = repository.home / "started"
    configure(repository, test=f"touch {started}; sleep 600")
    process = fleet.up()
    wait_for(started.exists, 120)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert "checking that" in said and "sleep 600" in said
    assert repository.starts() == [] and checks(repository) == []
    assert fleet.stray_processes() == []


# The canary


@pytest.fixture
def package(repository) -> Repository:
    """A Python package with a test, in a virtual environment with an editable install of it."""
    root = repository.root
    (root / "src" / "shop").mkdir(parents=True)
    (root / "src" / "shop" / "__init__.py").write_text("")
    (root / "src" / "shop" / "price.py").write_text("def total(items):\n    return sum(items)\n")
    (root / "tests").mkdir()
    (root / "tests" / "test_price.py").write_text(
        "import unittest\nfrom shop.price import total\n\n\nclass Price(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
    )
    (root / ".gitignore").write_text(".venv\n__pycache__\n")
    venv = repository.home / "venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(venv)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "__editable__.shop-1.pth").write_text(
        f"{root / 'src'}\n"
    )  # what `pip install -e .` leaves
    repository.commit_all("A package")
    return repository


def test_a_test_that_imports_another_checkout_is_noticed_before_any_agent_is_paid(package):
    configure(package, test=f"{package.home}/venv/bin/python -m unittest discover -q -s tests")
    assert up(package).exit is SupervisorExit.WORK_LEFT
    (check,) = checks(package)
    assert check.passed and check.sees_tree is False and check.blanked == 1
    (asked,) = questions(package).open.values()
    assert "Your test does not see the tree it is run in" in asked.raised.question
    assert package.starts() == []


def test_a_test_that_imports_the_tree_it_runs_in_is_taken(package):
    configure(package, test=f"PYTHONPATH=src {PYTHON} -m unittest discover -q -s tests")
    check = up_until_checked(package)
    assert check.passed and check.sees_tree is True
    assert package.git("status", "--porcelain") == ""


@pytest.mark.soak
def test_a_runner_that_the_test_command_names_is_not_emptied(package):
    runner = (
        "import subprocess, sys\n"
        "sys.exit(subprocess.call([sys.executable, '-m', 'unittest', '-q', 'tests.test_price'],"
    )
    (package.root / "check.py").write_text(f"{runner} env={{'PYTHONPATH': 'src'}}))\n")
    package.commit_all("A runner")
    configure(package, test=f"{PYTHON} check.py")
    check = up_until_checked(package)
    assert check.sees_tree is True and check.blanked == 1
