"""`dos doctor --deep` runs setup and test as a fleet would before it starts agents, and says what
is wrong."""

import os
import pty
import signal
import subprocess
import sys
import time

import pytest
import troubles
from commanding import git
from patience import PATIENCE
from troubles import configured, finding, kinds

from dos.baseline.io import on_demand
from dos.errors import GitFailed
from dos.journal.events.limits import BaselineChecked
from dos.journal.events.reader import decode
from dos.world import World

PYTHON = sys.executable
TEST = "-m unittest discover -q -s tests"
PRICE = (
    "import unittest\nfrom shop.price import total\n\n\nclass Price(unittest.TestCase):\n"
    "    def test_total(self):\n"
)


@pytest.fixture
def shop(workspace):
    """A package with a test, in a workspace that nothing else is wrong with."""
    (workspace / "src" / "shop").mkdir(parents=True)
    (workspace / "src" / "shop" / "__init__.py").write_text("")
    (workspace / "src" / "shop" / "price.py").write_text(
        "def total(items):\n    return sum(items)\n"
    )
    (workspace / "tests").mkdir()
    (workspace / "tests" / "test_price.py").write_text(
        PRICE + "        self.assertEqual(total([1, 2]), 3)\n"
    )
    (workspace / ".gitignore").write_text(".venv\n__pycache__\n")
    (workspace / "docs" / "first-plan.md").write_text(troubles.PLAN)
    with (workspace / "dos.toml").open("a") as file:
        file.write("\n" + troubles.HEALTHY)
    for key, value in (("user.name", "T"), ("user.email", "t@example.com")):
        git("config", key, value, cwd=workspace)
    commit(workspace)
    return workspace


def commit(place):
    git("add", "--all", cwd=place)
    git("commit", "--quiet", "--message", "FIRST1: begin", cwd=place)


@pytest.fixture
def tested(shop, monkeypatch, tmp_path):
    """Sets the test, and other keys of [workers]; commits. What it runs may leave marks."""
    configured("sandbox.writable", f'["{tmp_path}"]')(shop, monkeypatch, tmp_path)

    def run_with(command, **keys):
        for key, value in {"test": command, **keys}.items():
            configured(f"workers.{key}", f"{value!r}")(shop, monkeypatch, tmp_path)
        commit(shop)
        return shop

    return run_with


def checks(place):
    with World(place) as world:
        found = [decode(event) for event in world.journal.events()]
    return [fact for fact in found if isinstance(fact, BaselineChecked)]


def leaves_nothing(place):
    assert len(git("worktree", "list", cwd=place).splitlines()) == 1
    assert git("status", "--porcelain", cwd=place) == ""


def test_a_healthy_repository_passes_and_that_is_written_down(tested, dos):
    workspace = tested(f"PYTHONPATH=src {PYTHON} {TEST}", setup="touch src/made")
    answer = dos("doctor", "--deep", "--check", "--json")
    assert {found["severity"] for found in answer.json["findings"]} <= {"info"} and answer.code == 0
    assert "BASELINE_UNCHECKED" not in kinds(answer)
    (check,) = checks(workspace)
    assert check.is_good and check.sees_tree is True
    leaves_nothing(workspace)


def test_without_the_flag_nothing_is_run_and_nothing_is_written(tested, dos):
    workspace = tested("touch /nowhere/at/all")
    assert not {kind for kind in kinds(dos("doctor", "--json")) if kind.startswith("BASELINE")}
    assert not (workspace / ".git" / "dos").exists()


def test_a_test_that_imports_another_checkout_does_not_see_the_tree(tested, dos, shop, tmp_path):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "__editable__.shop-1.pth").write_text(
        f"{shop / 'src'}\n"
    )  # what `pip install -e .` leaves
    tested(f"{tmp_path}/venv/bin/python {TEST}")
    answer = dos("doctor", "--deep", "--check", "--json")
    row = finding(answer, "BASELINE_BLIND")
    assert (answer.code, row["severity"]) == (1, "error")
    assert "dos.toml:" in row["what"] and "does not see the tree it is run in" in row["what"]
    assert "all 1" not in row["what"] and "1 source file emptied" in row["what"]
    assert checks(shop) == [], "only what lets agents start is written down"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (f"{PYTHON} -m no_such_test_runner", "No module named no_such_test_runner"),
        ("no-such-program test", "no-such-program"),
        ("echo first; echo 'sh: 1: mocha: not found' >&2; exit 127", "mocha: not found"),
        ("printf 'told \\033[31m\\n'; exit 3", "exit 3"),
    ],
)
def test_a_test_that_fails_before_any_work_is_an_error_with_its_reason_and_output(
    tested, dos, command, reason
):
    workspace = tested(command)
    answer = dos("doctor", "--deep", "--json")
    row = finding(answer, "BASELINE_RED")
    assert row["severity"] == "error" and row["what"].startswith("dos.toml:")
    assert "fails on main" in row["what"] and reason in row["what"]
    assert row["output"] and row["fix"]
    shown = dos("doctor", "--deep").out
    assert "output   the last" in shown and "\x1b" not in shown.split("✗")[-1]
    assert checks(workspace) == []
    leaves_nothing(workspace)


def test_a_setup_that_fails_is_named_and_the_test_is_not_run(tested, dos, tmp_path):
    tested(f"touch {tmp_path}/tested", setup="echo no network; exit 7")
    row = finding(dos("doctor", "--deep", "--json"), "BASELINE_RED")
    assert "`echo no network; exit 7` fails" in row["what"] and not (tmp_path / "tested").exists()


def test_a_missing_setup_that_the_lock_file_suggests_is_the_fix(tested, dos, shop):
    (shop / "package.json").write_text('{"name": "x", "scripts": {"test": "mocha"}}')
    (shop / "package-lock.json").write_text("{}")
    tested("node_modules/.bin/mocha")
    row = finding(dos("doctor", "--deep", "--json"), "BASELINE_RED")
    assert "not found" in row["what"] and "npm ci" in row["fix"] and "workers.setup" in row["fix"]


@pytest.mark.parametrize("require_red", [False, True])
def test_acceptance_commands_that_pass_before_the_work_are_named_beforehand(
    tested, dos, shop, require_red
):
    text = "".join(
        f"## {unit}: x\n\n- lane: api\n- acceptance: `{command}`\n\n"
        for unit, command in {"A1": "test -s api/not-yet.txt", "A2": "test -d src"}.items()
    )
    (shop / "docs" / "first-plan.md").write_text(text)
    if require_red:
        with (shop / "dos.toml").open("a") as file:
            file.write("\n[landing]\nrequire_red = true\n")
    tested("test -s src/shop/price.py")
    answer = dos("doctor", "--deep", "--check", "--json")
    findings = answer.json["findings"]
    (named,) = [each for each in findings if each["kind"] == "ACCEPTANCE_ALREADY_PASSES"]
    assert "`test -d src`" in named["what"] and "FIRST/A2" in named["what"]
    assert named["severity"] == ("warn" if require_red else "info")
    problems = dos("plan", "--json").json["problems"]
    (told,) = [line for line in problems if "does not tell" in line]
    assert told.startswith("FIRST/A2: its acceptance does not tell whether it was done")


def test_acceptance_commands_that_cannot_run_are_warned_of_and_red_ones_are_not(tested, dos, shop):
    units = {
        "A1": "test -s api/not-yet.txt",
        "A2": f"{PYTHON} -m no_such_checker",
        "A3": "cd src && no-such-linter .",
        "A4": "plainly-missing",  # told without --deep too, and only once
    }
    text = "".join(
        f"## {unit}: x\n\n- lane: api\n- acceptance: `{command}`\n\n"
        for unit, command in units.items()
    )
    (shop / "docs" / "first-plan.md").write_text(text)
    tested("test -s src/shop/price.py")
    answer = dos("doctor", "--deep", "--check", "--json")
    findings = [each for each in answer.json["findings"] if each["kind"] == "ACCEPTANCE_CANNOT_RUN"]
    assert [each["severity"] for each in findings] == ["warn", "warn"] and answer.code == 1
    assert "docs/first-plan.md:6: the acceptance command of FIRST/A2" in findings[0]["what"]
    assert "no_such_checker" in findings[0]["what"] and "no-such-linter" in findings[1]["what"]
    assert [each["kind"] for each in answer.json["findings"]].count(
        "UNIT_ACCEPTANCE_PROGRAM_MISSING"
    ) == 1
    assert set(checks(shop)[0].missing) == {"FIRST/A2", "FIRST/A3"}


@pytest.mark.parametrize(
    ("keys", "fix"),
    [
        ({"test": "exit 1", "baseline": "off"}, "dos config set workers.baseline auto"),
        ({"test": "exit 1", "isolation": "shared"}, "dos config set workers.isolation worktree"),
        ({"test": ""}, "dos config set workers.test '\"python3 -m unittest"),
    ],
)
def test_where_there_is_nothing_to_run_it_says_which_setting_gives_it_something(
    tested, dos, keys, fix
):
    workspace = tested(keys.pop("test"), **keys)
    answer = dos("doctor", "--deep", "--json")
    row = finding(answer, "BASELINE_UNCHECKED")
    assert row["severity"] == "info" and "had nothing to run" in row["what"] and fix in row["fix"]
    assert checks(workspace) == []


def test_the_text_says_what_the_document_says(tested, dos):
    tested("echo it is red; exit 5")
    row = finding(dos("doctor", "--deep", "--json"), "BASELINE_RED")
    answer = dos("doctor", "--deep")
    for said in (row["what"], row["why"], f"fix: {row['fix']}", *row["output"]):
        assert said in answer.out
    assert answer.err == ""


@pytest.mark.soak
def test_on_a_terminal_it_tells_what_is_run_and_how_long_it_took(tested):
    workspace = tested(f"PYTHONPATH=src {PYTHON} {TEST}")
    asked = [PYTHON, "-m", "dos", "doctor", "--deep"]
    assert "running the test: PYTHONPATH=src" in (told := on_terminal(asked, workspace)), told
    assert (
        "the test passed after" in told
        and "the test with 1 source file emptied failed after" in told
    )
    assert on_terminal([*asked, "--json"], workspace) == ""


def on_terminal(words, place):
    """What is written to stderr when that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, cwd=place, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    told = b""
    try:
        while piece := os.read(ours, 4096):
            told += piece
    except OSError:  # how Linux says that nobody has it open any more
        pass
    os.close(ours)
    process.wait(PATIENCE)
    return told.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_interrupts_it_finds_nothing_left(tested, tmp_path, number):
    started = tmp_path / "started"
    workspace = tested(f"setsid sleep 600 & touch {started}; sleep 601")
    process = subprocess.Popen(
        [PYTHON, "-m", "dos", "doctor", "--deep"], cwd=workspace, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + PATIENCE
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number and "Traceback" not in said
    leaves_nothing(workspace)
    assert not left_behind(workspace)


def left_behind(place):
    import psutil

    return [
        process
        for process in psutil.process_iter(["environ"])
        if (process.info["environ"] or {}).get("DOS_WORKSPACE") == str(place)
    ]


def test_a_look_that_fails_is_a_finding(tested, dos, monkeypatch):
    tested("true")

    def broken(*given, **more):
        raise GitFailed("git went away", hint="")

    monkeypatch.setattr(on_demand, "_check", broken)
    row = finding(dos("doctor", "--deep", "--json"), "BASELINE_UNREAD")
    assert "git went away" in row["what"] and row["severity"] == "warn"


def test_an_agent_may_not_ask_for_it(tested, dos, monkeypatch):
    """It runs commands in the agent's own environment, and what it finds lets agents start."""
    workspace = tested("true")
    for name, value in (("DOS_WORKSPACE", str(workspace)), ("DOS_LANE", "api"), ("DOS_FENCE", "1")):
        monkeypatch.setenv(name, value)
    answer = dos("doctor", "--deep")
    assert answer.code == 77 and "dos doctor --deep is for people" in answer.err
    assert dos("doctor").code == 0 and checks(workspace) == []
