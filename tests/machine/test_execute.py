"""Programs that we run: every clock holds, every line is kept, nothing is left behind."""

import gc
import os
import signal
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.agents.adapter import LAUNCH_FAILED
from dos.machine import execute, streams
from dos.machine.execute import EndedBy, Limits, Output


def run(code: str, tmp_path, *, wall: float = 30, silence: float = 30, **more):
    for_limits = {name: more.pop(name) for name in ("should_stop", "snapshot") if name in more}
    for_output = {name: more.pop(name) for name in ("log", "on_line") if name in more}
    return execute.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        environment=dict(os.environ) | more.pop("environment", {}),
        limits=Limits(wall_seconds=wall, silence_seconds=silence, **for_limits),
        output=Output(**for_output),
        **more,
    )


def test_lines_exit_code_and_log(tmp_path):
    ran = run("print('one'); print('two'); raise SystemExit(3)", tmp_path, log=tmp_path / "log")
    assert (ran.exit_code, ran.lines, ran.timed_out) == (3, ["one", "two"], False)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


def test_what_it_is_told_arrives(tmp_path):
    assert run("import sys; print(len(sys.stdin.read()))", tmp_path, stdin="x" * 300_000).lines == [
        "300000"
    ]


def test_one_that_does_not_listen_is_not_waited_for(tmp_path):
    assert run("print('no')", tmp_path, stdin="x" * 3_000_000).lines == ["no"]


@pytest.mark.parametrize(
    "chatter", ["time.sleep(0.02)", "time.sleep(60)"], ids=["chatty", "silent"]
)
def test_the_wall_clock_ends_it_however_much_it_talks(tmp_path, chatter):
    ran = run(f"import time\nwhile True:\n print('.', flush=True); {chatter}", tmp_path, wall=1)
    assert ran.timed_out and ran.seconds < 20


def test_silence_ends_it(tmp_path):
    assert run("import time; time.sleep(60)", tmp_path, silence=0.5).timed_out


def test_progress_without_a_line_end_is_not_silence(tmp_path):
    code = (
        "import time, sys\n"
        "for _ in range(10):\n sys.stdout.write('.'); sys.stdout.flush(); time.sleep(0.2)"
    )
    ran = run(code, tmp_path, silence=1.5)
    assert (ran.timed_out, ran.lines) == (False, ["." * 10])


def test_it_is_stopped_from_another_thread(tmp_path):
    stopped = threading.Event()
    threading.Timer(0.5, stopped.set).start()
    ran = run(
        "import time\nwhile True: print('.', flush=True); time.sleep(0.02)",
        tmp_path,
        should_stop=stopped.is_set,
    )
    assert ran.ended_by is EndedBy.STOPPED and not ran.timed_out


def test_one_that_closes_its_output_is_let_work_on(tmp_path):
    run("import os, time; os.close(1); os.close(2); time.sleep(1); open('done', 'w')", tmp_path)
    assert (tmp_path / "done").exists()


def test_one_that_ignores_being_asked_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "GRACE_SECONDS", 0.3)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        " print('up', flush=True); time.sleep(60)"
    )
    assert run(code, tmp_path, wall=1).exit_code == -9


def test_a_child_that_holds_the_pipe_is_not_waited_for(tmp_path):
    ran = run("import subprocess; subprocess.Popen(['sleep', '30'])", tmp_path)
    assert not ran.timed_out and ran.seconds < 20


def test_a_program_that_is_not_there_is_a_failed_launch(tmp_path):
    ran = execute.run(
        ["no-such-program"],
        cwd=tmp_path,
        environment=dict(os.environ),
        limits=Limits(wall_seconds=9),
    )
    assert ran.exit_code == LAUNCH_FAILED and "no-such-program" in ran.lines[-1]


def test_the_last_lines_are_the_ones_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LINES_KEPT", 3)
    assert run("for n in range(10): print(n)", tmp_path).lines == ["7", "8", "9"]


def test_a_line_without_end_and_a_log_without_end_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LONGEST_LINE", 1000)
    monkeypatch.setattr(streams, "LARGEST_LOG", 100_000)
    ran = run("import sys; sys.stdout.write('x' * 5_000_000)", tmp_path, log=tmp_path / "log")
    assert len(ran.lines[0]) == 1000
    assert (tmp_path / "log").stat().st_size < 200_000


def test_a_log_keeps_its_newest_part_and_says_where_the_rest_is(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LARGEST_LOG", 200_000)
    code = "for n in range(100_000): print(n, flush=n % 500 == 0)\nprint('the last line')"
    run(code, tmp_path, log=tmp_path / "1.1.log")
    older, newer = ((tmp_path / name).read_text() for name in ("1.1.older.log", "1.1.log"))
    assert len(older) + len(newer) <= 200_200
    first, *lines = newer.splitlines()
    assert first.startswith("earlier output is in 1.1.older.log; ") and first.endswith(
        " were removed"
    )
    assert lines[-1] == "the last line"
    assert older.splitlines()[-1] == str(int(lines[0]) - 1), (
        "nothing is missing between the two, and no line is cut"
    )


def test_every_line_is_heard_also_those_that_are_not_kept_and_one_that_nothing_ends(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(streams, "LINES_KEPT", 3)
    heard: list[str] = []
    ran = run("for n in range(4): print(n)\nprint('half', end='')", tmp_path, on_line=heard.append)
    assert heard == ["0", "1", "2", "3", "half"]
    assert ran.lines == heard[1:]


@pytest.mark.filterwarnings(
    "error::ResourceWarning", "error::pytest.PytestUnraisableExceptionWarning"
)
def test_no_pipe_and_no_log_is_left_open(tmp_path):
    run("print('x')", tmp_path, stdin="x" * 3_000_000, log=tmp_path / "log")
    with pytest.raises(ValueError, match="null byte"):
        execute.run(
            ["a\0b"],
            cwd=tmp_path,
            environment={},
            limits=Limits(wall_seconds=9),
            output=Output(log=tmp_path / "log"),
        )
    gc.collect()


def test_a_disk_without_room_costs_the_log_and_not_the_program(tmp_path, capfd):
    ran = run("for n in range(50_000): print(n)", tmp_path, log=Path("/dev/full"))
    assert (ran.exit_code, len(ran.lines)) == (0, streams.LINES_KEPT)
    assert capfd.readouterr().err.count("No space left") == 1


def test_a_program_heeds_the_signals_that_our_caller_ignores(tmp_path):
    """As under nohup, or behind a shell's &."""
    code = (
        "import signal;"
        " print([signal.getsignal(each).name for each in (signal.SIGHUP, signal.SIGQUIT)])"
    )
    before = {
        number: signal.signal(number, signal.SIG_IGN)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
    }
    try:
        ran = run(
            f"{code}; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)",
            tmp_path,
        )
    finally:
        for number, heeded in before.items():
            signal.signal(number, heeded)
    assert ran.lines == ["['SIG_DFL', 'SIG_DFL']", "True"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process inherit orphans")
def test_who_left_the_group_ends_with_the_program(tmp_path):
    detached = (
        "import subprocess;"
        " print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid, flush=True)"
    )
    left = int(run(detached, tmp_path).lines[0])
    assert not psutil.pid_exists(left)


@given(
    st.lists(
        st.lists(st.sampled_from([b"a", b"bb\n", b"\n", b"c" * 70]), min_size=1).map(b"".join),
        min_size=1,
    )
)
def test_however_it_is_printed_a_log_ends_with_what_came_last(pieces):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "LARGEST_LOG", 400)
        log = streams.Log(Path(folder, "1.1.log"))
        for piece in pieces:
            log.write(piece)
        log.close()
        newer, aside = Path(folder, "1.1.log").read_bytes(), Path(folder, "1.1.older.log")
        printed = b"".join(pieces)
        if not aside.exists():
            assert newer == printed
            return
        told, _, newer = newer.partition(b"\n")
        older = aside.read_bytes()
        older = older.partition(b"\n")[2] if older.startswith(b"earlier output is in") else older
        assert told.startswith(b"earlier output is in 1.1.older.log")
        assert newer and printed.endswith(older + newer)
        assert len(newer) <= 200 + len(max(pieces, key=len))


ECHOES = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)"


def test_a_program_is_answered_while_it_runs(tmp_path):
    talk = streams.ProgramInput("one\n", stays_open=True)

    def on_line(line: str) -> None:
        if line == "got one":
            assert talk.send("two")
        else:
            talk.close()

    ran = execute.run(
        [sys.executable, "-c", ECHOES],
        cwd=tmp_path,
        environment={},
        limits=Limits(wall_seconds=60),
        stdin=talk,
        output=Output(on_line=on_line),
    )
    assert (ran.lines, ran.exit_code) == (["got one", "got two"], 0)
    assert not talk.send("three"), "its input has ended"


def test_a_program_that_does_not_read_keeps_nobody_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MOST_UNREAD", 100_000)
    talk = streams.ProgramInput(stays_open=True)
    sent = []

    def on_line(_line: str) -> None:
        sent.append(talk.send("x" * 50_000))

    ran = execute.run(
        [sys.executable, "-c", "for n in range(9): print(n, flush=True)"],
        cwd=tmp_path,
        environment={},
        limits=Limits(wall_seconds=60),
        stdin=talk,
        output=Output(on_line=on_line),
    )
    assert (len(ran.lines), ran.exit_code) == (9, 0)
    assert sent[0] and not any(sent[3:]), "what is left unread is bounded"


def test_a_program_that_stays_after_its_work_is_ended_and_was_not_late(tmp_path, monkeypatch):
    monkeypatch.setattr(execute, "EXIT_SECONDS", 0.2)
    ended = execute.run(
        [sys.executable, "-c", "import time; time.sleep(60)"],
        cwd=tmp_path,
        environment={},
        limits=Limits(wall_seconds=60, is_over=lambda: True),
    )
    assert (ended.ended_by, ended.timed_out) == (EndedBy.OVER, False)


def test_silence_does_not_count_while_a_person_is_asked(tmp_path):
    asked = iter([True] * 12)
    limits = Limits(wall_seconds=60, silence_seconds=0.3, is_waiting=lambda: next(asked, False))
    argv = [sys.executable, "-c", "import time; time.sleep(60)"]
    ended = execute.run(argv, cwd=tmp_path, environment={}, limits=limits)
    assert ended.ended_by is EndedBy.SILENT
    assert next(asked, None) is None, "the silence began after the last question"
