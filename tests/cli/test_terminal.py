"""How the command behaves at a terminal: pipes, signals, encodings, colour, mistyped words, bugs;
in real processes."""

import json
import os
import pty
import signal
import subprocess
import sys
import types

import pytest
from commanding import command, in_process
from patience import PATIENCE

from dos.verbs import lookup
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import Verb

# A verb that is asked with no words at all and does not come back by itself, or only after minutes.
ENDLESS = {"demo", "quickstart", "serve", "up"}
STREAMS = {"journal tail", "journal export"}  # one document a line
# They speak the protocol of those who call them, and say nothing where nobody asks.
SPEAK_OTHERWISE = {"mcp", *(name for name in VERBS if name.startswith("hook "))}
WITHOUT_WORDS = [
    name
    for name, verb in VERBS.items()
    if name not in ENDLESS
    and not any(field.required for field in lookup.arguments(verb))
    and name not in SPEAK_OTHERWISE
]


def run(*words, cwd, environment=None, **settings):
    settings = {"stdout": subprocess.PIPE} | settings
    return subprocess.run(
        command(*words),
        cwd=cwd, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, timeout=PATIENCE, **settings,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["status"], ["exit-codes"], ["doctor", "--help"]]
)
def test_a_reader_that_went_away_is_no_error(words, workspace):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*words, cwd=workspace, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_went_away_does_not_change_the_verdict(workspace):
    (workspace / "dos.toml").write_text("[lanes")
    reading, writing = os.pipe()
    os.close(reading)
    done = run("lint", cwd=workspace, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_the_first_line_can_be_taken_with_head(workspace):
    words = " ".join(f"'{word}'" for word in command("exit-codes"))
    done = subprocess.run(
        ["sh", "-c", f"{words} | head -1"], cwd=workspace, capture_output=True, timeout=PATIENCE
    )
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("words", [["--version"], ["status"]])
def test_a_closed_output_is_no_error(words, workspace):
    line = " ".join(f"'{word}'" for word in command(*words))
    done = subprocess.run(
        ["sh", "-c", f"{line} >&-"], cwd=workspace, capture_output=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [["--help"], ["status"]])
def test_an_output_that_takes_nothing_is_said(words, workspace):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = run(*words, cwd=workspace, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: cannot write to stdout: No space left")
    assert b"Traceback" not in done.stderr


INTERRUPTED = """
import signal, sys, time, types
# A shell that starts a program in the background makes it ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
from dos.verbs.listing.table import VERBS, Verb
from dos.cli.main import run
from msgspec import Struct

verb = types.ModuleType("sleepy")
verb.EXITS = {"woken": 0}
verb.Args = type("Args", (Struct,), {})
def sleep(args, context):
    context.print_line("asleep")
    time.sleep(60)
verb.run = sleep
sys.modules["sleepy"] = verb
VERBS["sleep"] = Verb("sleep", "help", "sleepy", "sleep")
sys.exit(run(["sleep"]))
"""


def test_an_interrupt_ends_it_with_130_and_without_a_word(workspace):
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout.readline() == b"asleep\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    assert (child.returncode, out, err) == (130, b"", b"")


ASCII = {
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii",
    "PYTHONCOERCECLOCALE": "0",
}


@pytest.mark.parametrize("words", [["--help"], ["doctor"], ["man", "lane"], ["status"], ["lint"]])
def test_a_terminal_without_utf8_gets_ascii(words, workspace):
    with (workspace / "dos.toml").open("a", encoding="utf-8") as file:
        file.write('\n[reasons."Übel"]\ncategory = "MISROUTE"\nsee_also = "lane nirgendwo→"\n')
    done = run(*words, cwd=workspace, environment=ASCII)
    assert done.returncode == 0, done.stderr
    done.stdout.decode("ascii")
    assert done.stdout and b"Traceback" not in done.stderr


def test_the_doctor_marks_what_it_finds_as_the_terminal_can_show_it(workspace):
    plain = run("doctor", cwd=workspace, environment=ASCII).stdout
    rich = run("doctor", cwd=workspace, environment={"PYTHONIOENCODING": "utf-8"}).stdout.decode()
    assert b"\nx [workers] agent is not set" in plain
    assert "\n✗ [workers] agent is not set" in rich


def at_a_terminal(*words, cwd, environment):
    """What a person would see: the output of a process whose stdout is a terminal."""
    screen, inside = pty.openpty()
    child = subprocess.Popen(
        command(*words),
        cwd=cwd,
        env={**os.environ, "TERM": "xterm", **environment},
        stdin=inside,
        stdout=inside,
    )
    os.close(inside)
    seen = b""
    while True:
        try:
            more = os.read(screen, 65_536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not more:
            break
        seen += more
    os.close(screen)
    child.wait(timeout=PATIENCE)
    return seen


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("environment", "terminal", "coloured"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "DOS_COLOR": "always"}, True, False),
        ({"DOS_COLOR": "always"}, False, True),
        ({"DOS_COLOR": "never"}, True, False),
        ({"DOS_COLOR": "0"}, True, False),
        ({"DOS_COLOR": "false"}, True, False),
    ],
)
def test_colour_is_for_those_who_look_and_did_not_say_no(
    environment, terminal, coloured, workspace
):
    if terminal:
        output = at_a_terminal("doctor", cwd=workspace, environment=environment)
    else:
        output = run("doctor", cwd=workspace, environment=environment).stdout
    assert (b"\x1b[3" in output) is coloured


def test_json_is_never_coloured(workspace):
    done = run("doctor", "--json", cwd=workspace, environment={"DOS_COLOR": "always"})
    assert b"\x1b" not in done.stdout
    json.loads(done.stdout)


FEWER = {"simulate": ("--seeds", "5")}  # by itself it takes its time


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WITHOUT_WORDS)
def test_json_is_one_document_for_every_verb_that_needs_no_words(name, dos):
    dos("id-alloc", "allocate", "something")  # so that there is a journal with something in it
    answer = dos(*name.split(), *FEWER.get(name, ()), "--json")
    assert answer.code in lookup.exit_codes(VERBS[name]).values(), answer.err
    if answer.code == 2:  # it wants words after all, in a way that no single field says
        assert answer.out == "" and answer.err.startswith("error: ")
        return
    for document in answer.out.splitlines() if name in STREAMS else [answer.out]:
        json.loads(document)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["statsu"], "did you mean `dos status`?"),
        (["qqqq"], "`dos --help` lists the verbs"),
        (["status", "--bogus"], "--bogus"),
        (["doctor", "--chek"], "--chek"),
        (["doctor", "extra"], "extra"),
        (["--bogus"], "--bogus"),
        (["--workspace"], "--workspace needs a value"),
        (["status", "--output"], "dos status --output json"),
        (["status", "--json=5"], "--json takes no value"),
        (["status", "--pretty=no"], "--pretty takes no value"),
        (["--help=yes"], "--help takes no value"),
        (["help", "status", "extra"], "status extra"),
        (["status", "--output", "xml"], "text, json, plain"),
        (["man"], "required"),
    ],
)
def test_what_cannot_be_understood_exits_2_and_says_what_to_type(words, said, dos):
    answer = dos(*words)
    assert answer.code == 2 and answer.out == ""
    assert answer.err.startswith("error: ") and said in answer.err
    assert "hint: " in answer.err


@pytest.mark.parametrize(
    "words", [["status"], ["init"], ["journal", "seq"], ["--workspace", "..", "lint"]], ids=" ".join
)
def test_a_directory_that_was_removed_under_the_caller_is_said(words, workspace, tmp_path):
    line = " ".join(f"'{word}'" for word in command(*words))
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        ["sh", "-c", f"rmdir ../gone && {line}"],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2 and "no longer exists" in done.stderr and "hint: " in done.stderr


def test_the_global_flags_stand_anywhere(workspace, dos, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    folder = str(workspace)
    paths = [
        dos(*words).json["path"]
        for words in (
            ["--workspace", folder, "config", "path", "--json"],
            ["config", "--workspace", folder, "--json", "path"],
            ["--json", "config", "path", f"--workspace={folder}"],
        )
    ]
    assert paths == [str(workspace / "dos.toml")] * 3


@pytest.fixture
def broken_verb(monkeypatch):
    """A verb with a bug in it."""
    from dos.cli.fleet import status

    module = types.ModuleType("broken")
    module.Args, module.EXITS = status.Args, {"fine": 0}
    module.run = lambda args, context: 1 / 0
    monkeypatch.setitem(sys.modules, "broken", module)
    monkeypatch.setitem(VERBS, "broken", Verb("broken", "help", "broken", "break"))


def test_a_bug_exits_70_and_is_one_line(broken_verb, workspace):
    answer = in_process("broken")
    assert answer.code == 70
    assert answer.err.startswith("error: bug in dos: ZeroDivisionError")
    assert "Traceback" not in answer.err and "DOS_TRACEBACK=1" in answer.err


def test_a_bug_shows_its_traceback_to_those_who_ask(broken_verb, workspace, monkeypatch):
    monkeypatch.setenv("DOS_TRACEBACK", "1")
    assert "Traceback" in in_process("broken").err


def imported(*words, cwd):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dos", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return {
        line.rpartition("|")[2].strip()
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }


@pytest.mark.parametrize("words", [["--version"], ["--help"], [], ["config"]])
def test_the_first_page_of_help_costs_next_to_nothing(words, workspace):
    heavy = {
        "msgspec",
        "argparse",
        "importlib.metadata",
        "typing",
        "re",
        "pathlib",
        "sqlite3",
        "dos.config.schema",
    }
    assert not imported(*words, cwd=workspace) & heavy


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (
            ["arbitrate"],
            {
                "psutil",
                "tomlkit",
                "rich",
                "psycopg",
                "asyncio",
                "dos.fleet.io",
                "dos.landing",
                "dos.agents.io",
                "dos.agents.registry",
            },
        ),
        (
            ["lease-lane", "live"],
            {
                "psutil",
                "tomlkit",
                "rich",
                "psycopg",
                "asyncio",
                "dos.fleet.io",
                "dos.landing",
                "dos.agents.io",
                "dos.agents.registry",
            },
        ),
        (["lease-lane", "live"], {"dos.journal.events.kinds", "dos.journal.events.limits"}),
        (
            ["exit-codes"],
            {
                "psutil",
                "sqlite3",
                "subprocess",
                "dos.config.schema",
                "dos.journal.store",
                "dos.fleet.io",
                "dos.landing",
                "dos.agents.io",
            },
        ),
        (
            ["lease-lane", "acquire", "--owner", "A"],
            {
                "psutil",
                "subprocess",
                "hashlib",
                "difflib",
                "dos.fleet.io",
                "dos.landing",
                "dos.agents.io",
            },
        ),
        (
            ["run-id", "mint", "p"],
            {"psutil", "subprocess", "hashlib", "dos.fleet.io", "dos.landing", "dos.agents.io"},
        ),
        (["version"], {"sqlite3", "dos.config.schema", "dos.journal.store", "psutil"}),
        (
            ["completion", "lanes"],
            {"sqlite3", "psutil", "dos.fleet.io", "dos.landing", "dos.agents.io", "tomlkit"},
        ),
    ],
)
def test_a_verb_imports_what_it_needs_and_no_more(words, unneeded, workspace):
    assert not imported(*words, cwd=workspace) & unneeded
