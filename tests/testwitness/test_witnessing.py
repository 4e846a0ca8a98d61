"""The tests of a commit on the old and on the new code, for real."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from patience import PATIENCE, has_ended, wait_for
from toy_repository import SHELL, UNITTEST, Toy, cells, fingerprint

from dos.testwitness.io import sandbox
from dos.testwitness.verdict import Answer, Cell

pytestmark = pytest.mark.sampled(3)

OLD_CODE = {"calc.py": "def add(a, b):\n    return a - b\n"}
NEW_CODE = {"calc.py": "def add(a, b):\n    return a + b\n"}
HEAD = "import unittest\n\nimport calc\n\n\nclass Adding(unittest.TestCase):\n"
ZERO = "    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
ONE = "    def test_one(self):\n        self.assertEqual(calc.add(1, 1), 2)\n"
OLD_TESTS = {"tests/__init__.py": "", "tests/test_calc.py": HEAD + ZERO}
NEW_TESTS = {"tests/test_calc.py": HEAD + ZERO + ONE}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A repository, and a temporary folder that nobody else uses."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield Toy(tmp_path / "toy")
    assert list((tmp_path / "tmp").iterdir()) == []


def shell(code: str, test: str) -> dict[str, str]:
    return {"code": f"{code}\n", "tests/test_it.sh": f"{test}\n"}


GREEN = shell("old", "true")


def test_a_test_that_fails_without_the_change_and_passes_with_it_is_a_witness(toy):
    toy.commit(OLD_CODE | OLD_TESTS)
    sha = toy.commit(NEW_CODE | NEW_TESTS)
    before = fingerprint(toy.root)
    witness = toy.witness(UNITTEST, repeat=2)
    assert (
        witness.verdict.answer is Answer.DISCRIMINATES
        and witness.verdict.witnesses
        and witness.verdict.assert_level
    )
    assert cells(witness) == [["pass"], ["pass"], ["fail", "fail"], ["pass", "pass"]]
    assert witness.verdict.evidence.rung == "OS_RECORDED" and witness.change.commit == sha
    assert fingerprint(toy.root) == before


@pytest.mark.soak
def test_a_test_that_passes_without_the_change_proves_nothing(toy):
    toy.commit(OLD_CODE | OLD_TESTS)
    toy.commit(NEW_CODE | {"tests/test_more.py": HEAD + ZERO})
    witness = toy.witness(UNITTEST)
    assert witness.verdict.answer is Answer.VACUOUS and not witness.verdict.witnesses
    assert cells(witness) == [["pass"], ["pass"], ["pass"], ["pass"]]


@pytest.mark.soak
def test_a_test_that_cannot_even_be_loaded_without_the_change_is_a_lesser_witness(toy):
    toy.commit({"other.py": ""} | OLD_TESTS | OLD_CODE)
    toy.commit(
        {"extra.py": "", "tests/test_extra.py": "import unittest\nimport extra\n" + HEAD + ZERO}
    )
    witness = toy.witness(UNITTEST)
    assert witness.verdict.answer is Answer.DISCRIMINATES and not witness.verdict.assert_level
    assert witness.verdict.evidence.baseline == "error"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("old", "new", "answer", "reached"),
    [
        (GREEN, shell("new", "grep -q new code"), Answer.DISCRIMINATES, 4),
        (GREEN, shell("new", "test -s code"), Answer.VACUOUS, 4),
        (GREEN, shell("new", "grep -q newest code"), Answer.UNSATISFIED, 4),
        (shell("old", "grep -q old code"), shell("new", "grep -q new code"), Answer.REGRESSIVE, 2),
        (shell("old", "grep -q bold code"), shell("new", "grep -q new code"), Answer.ABSTAIN, 1),
        (GREEN, {"code": "new\n"}, Answer.ABSTAIN, 0),
        (GREEN, {"tests/test_it.sh": "test -s code\n"}, Answer.ABSTAIN, 0),
        (GREEN, {"code": "new\n", "tests/test_it.sh": None}, Answer.ABSTAIN, 0),
        ({"code": "old\n"}, shell("new", "grep -q new code"), Answer.DISCRIMINATES, 2),
    ],
    ids=[
        "red to green",
        "vacuous",
        "unsatisfied",
        "regressive",
        "broken before",
        "no tests",
        "only tests",
        "only deleted tests",
        "the first tests of all",
    ],
)
def test_each_kind_of_change_has_its_answer(toy, old, new, answer, reached):
    toy.commit(old)
    toy.commit(new)
    witness = toy.witness(SHELL)
    assert witness.verdict.answer is answer, witness.verdict
    assert sum(map(bool, cells(witness))) == reached


def test_a_deleted_test_is_there_for_the_old_row_and_gone_for_the_new(toy):
    toy.commit(GREEN | {"tests/test_gone.sh": "grep -q old code\n"})
    toy.commit(shell("old new", "grep -q new code") | {"tests/test_gone.sh": None})
    witness = toy.witness(SHELL)
    assert cells(witness) == [
        ["pass"],
        ["pass"],
        ["fail"],
        ["pass"],
    ] and witness.change.deleted == ["tests/test_gone.sh"]
    assert "tests/test_gone.sh" in witness.change.files(Cell.OLD_NEW)
    assert "tests/test_gone.sh" not in witness.change.files(Cell.NEW_OLD)


@pytest.mark.soak
def test_a_change_that_takes_a_test_away_is_not_vouched_for_by_another(toy):
    toy.commit(
        GREEN
        | {"tests/test_gone.sh": "grep -q old code\n", "tests/test_moved.sh": "test -s code\n"}
    )
    moved = {"tests/test_moved.sh": None, "tests/test_new.sh": "test -s code\n"}
    toy.commit(shell("old new", "grep -q new code") | moved)
    assert toy.witness(SHELL).verdict.witnesses
    toy.commit(shell("old new newer", "grep -q newer code") | {"tests/test_gone.sh": None})
    witness = toy.witness(SHELL)
    assert witness.verdict.answer is Answer.ABSTAIN and not witness.verdict.witnesses
    assert len(witness.matrix.weakened) == 1 and "tests/test_gone.sh" in witness.verdict.reason


@pytest.mark.soak
def test_a_change_that_asks_for_less_is_not_vouched_for_by_what_it_adds(toy):
    toy.commit(OLD_CODE | OLD_TESTS)
    toy.commit(
        NEW_CODE | {"tests/test_calc.py": HEAD + "    @unittest.skip('later')\n" + ZERO + ONE}
    )
    witness = toy.witness(UNITTEST)
    assert cells(witness) == [["pass"], ["pass"], ["fail"], ["pass"]]
    assert witness.verdict.answer is Answer.ABSTAIN and "test_zero" in witness.verdict.reason


def test_what_tests_need_comes_along_with_them(toy):
    """A new fixture is laid over the old code too.

    A test must not be red there for want of its own data.
    """
    toy.commit(GREEN)
    toy.commit(
        shell("new", "test -s tests/data && test -s conftest.py")
        | {"tests/data": "x\n", "conftest.py": "#\n"}
    )
    assert toy.witness(SHELL).verdict.answer is Answer.VACUOUS


def test_globs_say_which_files_are_tests(toy):
    toy.commit({"code": "old\n", "checks/a": "true\n"})
    toy.commit({"code": "new\n", "checks/a": "grep -q new code\n"})
    assert toy.witness("sh checks/a").verdict.answer is Answer.ABSTAIN
    witness = toy.witness("sh {tests}", globs=("checks/**",))
    assert witness.verdict.answer is Answer.DISCRIMINATES and witness.change.changed == ["checks/a"]


def test_the_placeholder_stands_for_the_changed_tests_whatever_they_are_called(toy):
    odd = "tests/test_ü \t'\"$(touch x)\r\n.sh"
    toy.commit(GREEN)
    toy.commit({"code": "new\n", odd: "grep -q new code\n", "-dash_test.sh": "true\n"})
    witness = toy.witness('for each in {tests}; do echo "$each" >&2; sh "$each" || exit 1; done')
    assert witness.verdict.answer is Answer.DISCRIMINATES, witness
    assert witness.change.to_run(Cell.NEW_OLD) == ["-dash_test.sh", odd]
    assert witness.change.to_run(Cell.OLD_NEW) == ["tests/test_it.sh"]


@pytest.mark.soak
def test_a_workspace_below_the_top_is_where_its_command_runs(toy):
    toy.commit({f"sub/{name}": text for name, text in GREEN.items()})
    toy.commit({f"sub/{name}": text for name, text in shell("new", "grep -q new code").items()})
    assert toy.witness("sh {tests}", folder="sub").verdict.answer is Answer.DISCRIMINATES
    assert (
        toy.witness(SHELL, folder="sub", globs=("tests/**",)).verdict.answer is Answer.DISCRIMINATES
    )
    missing = toy.witness(SHELL, folder="other")
    assert missing.verdict.answer is Answer.ABSTAIN and "no folder other" in missing.verdict.reason


def test_a_first_commit_has_nothing_to_be_compared_with(toy):
    toy.commit(GREEN)
    witness = toy.witness(SHELL)
    assert witness.verdict.answer is Answer.ABSTAIN and "no parent" in witness.verdict.reason


def test_a_history_that_is_cut_off_is_not_a_first_commit(toy, tmp_path):
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    toy.git("clone", "--quiet", "--depth", "1", f"file://{toy.root}", str(tmp_path / "shallow"))
    toy.root = tmp_path / "shallow"
    witness = toy.witness(SHELL)
    assert witness.verdict.answer is Answer.ABSTAIN and "cut off" in witness.verdict.reason


def test_a_merge_is_compared_with_the_branch_that_it_was_made_on(toy):
    base = toy.commit(GREEN)
    toy.git("checkout", "--quiet", "-b", "side")
    toy.commit(shell("new", "grep -q new code"))
    toy.git("checkout", "--quiet", "main")
    first = toy.commit({"other": "x\n"})
    toy.git("merge", "--quiet", "--no-ff", "--message", "merge", "side")
    witness = toy.witness(SHELL)
    assert witness.verdict.answer is Answer.DISCRIMINATES and witness.change.parent == first != base


def alternating(counter) -> str:
    """A test that comes out another way each time it is called, whatever the code is."""
    return f"echo x >> {counter}; test $(($(wc -l < {counter}) % 2)) -eq 0"


def test_old_tests_that_come_out_differently_are_flaky(toy, tmp_path):
    toy.commit(shell("old", alternating(tmp_path / "counter")))
    toy.commit({"code": "new\n", "tests/test_more.sh": "grep -q new code\n"})
    witness = toy.witness(SHELL, repeat=2)
    assert witness.verdict.answer is Answer.FLAKY and cells(witness)[0] == ["fail", "pass"]


def test_new_tests_that_come_out_differently_are_flaky(toy, tmp_path):
    toy.commit(GREEN)
    toy.commit({"code": "new\n", "tests/test_more.sh": alternating(tmp_path / "counter") + "\n"})
    witness = toy.witness(SHELL, repeat=2)
    assert witness.verdict.answer is Answer.FLAKY and cells(witness)[2] == ["fail", "pass"]


def test_the_order_of_the_runs_is_drawn_by_lot(toy):
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    asked = []
    toy.witness(SHELL, repeat=2, choose=lambda left: asked.append(list(left)) or left[-1])
    assert asked[2] == [Cell.NEW_OLD, Cell.NEW_OLD, Cell.NEW_NEW, Cell.NEW_NEW]
    assert asked[-1] == [Cell.NEW_OLD]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nosuchprogram", "no such program"),
        ("sleep 60", "no end within"),
        ("kill -9 $$", "error"),
        ("exit 3", "fail"),
    ],
)
def test_a_command_that_says_nothing_of_the_tests_is_no_witness(toy, command, said):
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    witness = toy.witness(command, timeout_seconds=0.5)
    assert witness.verdict.answer is Answer.ABSTAIN and said in witness.verdict.reason


@pytest.mark.parametrize("ending", ["os._exit(0)", "atexit.register(os._exit, 0)"])
def test_code_that_ends_its_own_process_well_is_not_green(toy, ending):
    toy.commit(OLD_CODE | OLD_TESTS)
    toy.commit(
        {"calc.py": f"import atexit\nimport os\n\n{ending}\nadd = int.__sub__\n"} | NEW_TESTS
    )
    witness = toy.witness(UNITTEST)
    assert witness.verdict.answer is Answer.ABSTAIN, witness.verdict
    assert "on new code" in witness.verdict.reason


def test_tests_that_skip_themselves_on_the_new_code_are_not_green(toy):
    skipping = (
        "import unittest\n\nimport calc\n\n\nclass Adding(unittest.TestCase):\n    def "
        "test_one(self):\n"
    )
    skipping += (
        "        if calc.add(1, 1) == 2:\n            self.skipTest('')\n        self.fail()\n"
    )
    toy.commit(OLD_CODE)
    toy.commit(NEW_CODE | {"tests/__init__.py": "", "tests/test_calc.py": skipping})
    witness = toy.witness(UNITTEST)
    assert witness.verdict.answer is Answer.ABSTAIN and "skipped" in witness.verdict.reason


@pytest.mark.soak
def test_a_run_does_not_know_by_its_place_which_code_it_is_tried_on(toy, tmp_path):
    """The path, environment, file times and content of its home are the same each time."""
    log = tmp_path / "log"
    look = (
        "pwd; env | grep -v DOS_WITNESS | sort; stat -c '%n %a %Y' $(find . | sort); ls "
        "-A $HOME $TMPDIR"
    )
    toy.commit(GREEN)
    toy.commit({"code": "new\n", "tests/test_it.sh": "grep -q new code\n"})
    toy.witness(f"({look}; echo ======) >> {log}; " + SHELL, repeat=2)
    first, *others, rest = log.read_text().split("======\n")
    assert len(others) == 5 and not rest and all(other == first for other in others)


def test_a_run_gets_nothing_of_the_callers_settings_and_secrets(toy, tmp_path, monkeypatch):
    toy.commit(GREEN)
    sha = toy.commit(shell("new", "grep -q new code"))
    for name in ("GIT_DIR", "DOS_FENCE", "DOS_RUN_ID", "API_TOKEN", "PYTHONPATH"):
        monkeypatch.setenv(name, "/nosuch")
    toy.witness(f"env > {tmp_path}/env; " + SHELL, commit=sha)
    given = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert not {"GIT_DIR", "DOS_FENCE", "DOS_RUN_ID", "API_TOKEN", "PYTHONPATH"} & given.keys()
    assert (
        given["CI"] == "true"
        and given["PATH"] == os.environ["PATH"]
        and given["HOME"] != os.environ.get("HOME")
    )


@pytest.mark.soak
def test_what_a_run_does_to_its_tree_is_not_seen_by_the_next(toy):
    toy.commit(GREEN)
    toy.commit({"code": "new\n", "tests/test_it.sh": "grep -q new code\n"})
    spoil = (
        "test ! -e spoilt && touch spoilt && echo spoilt > tests/extra && ls .. | grep -c "
        "tree | grep -qx 1 && "
    )
    witness = toy.witness(
        spoil + "(" + SHELL + "); code=$?; chmod -R a-w .; mkdir -p x/y; chmod 0 x; exit $code",
        repeat=2,
    )
    assert witness.verdict.answer is Answer.DISCRIMINATES


def gone(path) -> bool:
    pids = [int(line) for line in path.read_text().split()]
    assert pids
    return all(map(has_ended, pids))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "detach",
    [
        "sleep 300 & echo $! >> {file}",
        "(setsid sh -c 'echo $$ >> {file}; exec sleep 300' >/dev/null 2>&1 &)",
        "(env -i setsid sh -c 'echo $$ >> {file}; sleep 300 & exec sleep 300' >/dev/null 2>&1 &)",
        "sleep 300 & echo $! >> {file}; kill -9 $PPID; sleep 1",
    ],
    ids=[
        "in the background",
        "in a session of its own",
        "with another environment",
        "having ended its keeper",
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
def test_whatever_a_test_leaves_running_is_ended(toy, tmp_path, detach):
    file = tmp_path / "pids"
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    wait = f"; while [ ! -s {file} ]; do sleep 0.02; done"
    toy.witness(detach.format(file=file) + wait)
    assert gone(file)


@pytest.mark.soak
def test_a_test_reaches_no_network_but_its_own(toy):
    if not sandbox._can_cut_network():
        pytest.skip("this system lets nobody cut off the network")
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    connect = (
        f'{sys.executable} -c \'import socket; socket.create_connection(("127.0.0.1", '
        f"{{port}}), 5)'"
    )
    serve = (
        'import socket; s = socket.create_server(("127.0.0.1", 0)); '
        "socket.create_connection(s.getsockname(), 5)"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert subprocess.run(["sh", "-c", connect.format(port=port)]).returncode == 0
        witness = toy.witness(connect.format(port=port))
    assert witness.network == "off" and cells(witness)[0] == ["fail"]
    assert cells(toy.witness(f"{sys.executable} -c '{serve}'"))[0] == ["pass"]


def test_folders_are_kept_when_asked_and_named(toy, tmp_path):
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    witness = toy.witness(SHELL, keep=True)
    kept = sorted(path.name for path in (tmp_path / "tmp").glob("*/*"))
    assert kept == [
        "1-old-tests-old-code",
        "2-old-tests-new-code",
        "3-new-tests-old-code",
        "4-new-tests-new-code",
    ]
    subprocess.run(["rm", "-r", witness.kept], check=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
@pytest.mark.skipif(
    sys.platform != "linux", reason="a child is told of its parent's end on Linux only"
)
def test_nothing_is_left_when_somebody_breaks_it_off(toy, tmp_path, number, code):
    toy.commit(GREEN)
    toy.commit(shell("new", "grep -q new code"))
    file = tmp_path / "pids"
    command = f"(setsid sh -c 'echo $$ >> {file}; exec sleep 300' &); sleep 300"
    running = subprocess.Popen(
        [sys.executable, "-m", "dos", "test-witness", "run", "--cmd", command],
        cwd=toy.root,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < deadline and running.poll() is None
        threading.Event().wait(0.02)
    running.send_signal(number)
    assert running.wait(timeout=PATIENCE) == code
    wait_for(lambda: gone(file), "all that it started has ended")
    if number == signal.SIGKILL:  # nobody could clean up after it
        subprocess.run(["rm", "-r", *map(str, (tmp_path / "tmp").iterdir())], check=True)


def test_a_command_about_tests_that_are_new_has_no_old_ones_to_run(toy):
    toy.commit(OLD_CODE | OLD_TESTS)
    toy.commit(NEW_CODE | {"tests/test_one.py": HEAD + ONE})
    witness = toy.witness(f"{sys.executable} -m unittest tests/test_one.py")
    assert witness.verdict.answer is Answer.DISCRIMINATES
    assert cells(witness)[:2] == [[], []]


def test_a_change_that_leaves_old_tests_out_by_its_settings_is_not_vouched_for(toy):
    """Settings of pytest belong to the tests: each row is run with its own."""
    slow = {".github/workflows/slow.yml": "jobs:\n  a:\n    steps:\n      - run: pytest -m slow\n"}
    toy.commit(OLD_CODE | OLD_TESTS)
    toy.commit(NEW_CODE | NEW_TESTS | {"pytest.ini": "[pytest]\naddopts = -m 'not slow'\n"})
    witness = toy.witness(UNITTEST)
    assert witness.verdict.answer is Answer.ABSTAIN and "not slow" in witness.verdict.reason
    toy.git("reset", "--quiet", "--hard", "HEAD~1")
    toy.commit(slow)
    toy.commit(NEW_CODE | NEW_TESTS | {"pytest.ini": "[pytest]\naddopts = -m 'not slow'\n"})
    assert toy.witness(UNITTEST).verdict.witnesses
