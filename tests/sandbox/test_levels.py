"""What the levels promise where the kernel has all of it, some of it, or none."""

import subprocess
import sys

import old_kernel
import pytest
from walled import Lane, needs_landlock, needs_namespaces, needs_ports

from dos.agents.adapter import LAUNCH_FAILED
from dos.sandbox import build, describe
from dos.sandbox.build import Folders
from dos.sandbox.io.launcher import seccomp
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
from dos.sandbox.support import Support

FOLDERS = Folders(lane="/l", tmp="/t", home="/h", user_home="/home/u", readable=("/opt/agent",))
FULL = Support(landlock_abi=7, seccomp=True, namespaces=True)
NONE = Support(landlock_missing="not there", seccomp=True, namespaces_missing="not allowed")


def walls(support=FULL, folders=FOLDERS, **settings):
    return build.build(Sandbox(**{"level": "auto"} | settings), support, folders)


def test_off_is_no_walls_and_auto_is_all_that_there_is():
    assert walls(level="off") is None
    assert walls().active == "landlock abi 7, seccomp, namespaces"
    assert walls(level="required").active == "landlock abi 7, seccomp, namespaces"
    assert walls(level="landlock").active == "landlock abi 7, seccomp"
    assert walls(NONE).active == "seccomp"
    assert walls(Support(landlock_missing="x", seccomp_missing="y")).active == "none"


def test_a_version_that_lets_files_be_emptied_counts_as_none():
    assert walls(Support(landlock_abi=2, seccomp=True)).landlock_abi == 0
    assert walls(Support(landlock_abi=3, seccomp=True)).landlock_abi == 3


@pytest.mark.parametrize(
    ("abi", "ports", "scoped"), [(3, False, False), (4, True, False), (6, True, True)]
)
def test_each_version_gives_what_it_has(abi, ports, scoped):
    built = walls(Support(landlock_abi=abi, seccomp=True))
    assert (built.connect_ports is not None, built.scoped) == (ports, scoped)


def test_required_walls_that_cannot_be_had_refuse_with_what_to_do():
    refused = walls(NONE, level="required")
    assert "not there" in refused.refusal and "dos config set sandbox.level auto" in refused.refusal
    assert not walls(FULL, level="required").refusal


def test_listed_reads_need_folders_that_are_known():
    unknown = Folders(lane="/l", tmp="/t", home="/h")
    assert walls(folders=unknown).readable is None
    assert walls(reads="all").readable is None
    listed = walls(readable=("~/data",), writable=("~/.cache/x", "/srv")).readable
    assert {"/usr", "/opt/agent", "/home/u/data"} <= set(listed) and "/home/u" not in listed
    assert {"/home/u/.cache/x", "/srv"} <= set(walls(writable=("~/.cache/x", "/srv")).writable)


def test_ports_are_those_of_the_lane_of_the_web_and_of_test_servers_less_our_own():
    folders = Folders(
        lane="/l",
        tmp="/t",
        home="/h",
        ports=range(21_000, 21_010),
        closed=(40_000,),
        connect=(3128,),
    )
    built = walls(folders=folders, ports=(5432,))
    assert built.bind_ports == ((0, 0), (21_000, 21_009), (32_768, 39_999), (40_001, 60_999))
    assert built.connect_ports == (
        (53, 53), (80, 80), (443, 443), (3128, 3128), (5432, 5432), (21_000, 21_009),
        (32_768, 39_999), (40_001, 60_999),
    )  # fmt: skip
    assert walls(folders=folders, network="open").connect_ports is None


def test_a_program_of_the_user_gets_the_folders_in_its_words():
    built = walls(program=("bwrap", "--bind", "{lane}", "{lane}", "--dir={tmp}", "--"))
    assert built.program == ("bwrap", "--bind", "/l", "/l", "--dir=/t", "--")
    assert built.active == "program bwrap" and not built.landlock_abi


@pytest.mark.parametrize(
    ("settings", "support", "words"),
    [
        ({}, NONE, ["No Landlock (not there)", "No namespaces (not allowed)"]),
        ({"reads": "all"}, FULL, ["hold its lock for ever"]),
        ({"network": "open"}, FULL, ["every port"]),
        ({"level": "off", "reads": "all"}, NONE, []),
        ({}, FULL, []),
        ({}, Support(landlock_abi=3, seccomp=True, namespaces=True), ["TCP ports", "stop or kill"]),
    ],
)
def test_what_is_open_is_said(settings, support, words):
    said = describe.gaps(Sandbox(**{"level": "auto"} | settings), support)
    assert len(said) == len(words)
    for word, sentence in zip(words, said, strict=True):
        assert word in sentence


TRY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from walled import Lane
from dos.sandbox import describe
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox
lane = Lane(Path(sys.argv[2]))
settings = Sandbox(level=sys.argv[3])
print(probe().landlock_abi, describe.describe_system(settings, probe()), sep="|")
ran = lane.shell("echo started", lane.walls(sys.argv[3]))
print(ran.exit_code, *ran.lines, sep="|")
"""


@pytest.mark.skipif(not seccomp.is_known(), reason="the test's filter is for machines we know")
@pytest.mark.parametrize("number", [1, 38, 95], ids=["EPERM", "ENOSYS", "EOPNOTSUPP"])
@pytest.mark.parametrize("level", ["auto", "required"])
def test_without_landlock_auto_says_so_and_goes_on_and_required_refuses(tmp_path, level, number):
    words = [sys.executable, "-c", TRY, __file__.rpartition("/")[0], str(tmp_path / "x"), level]
    done = subprocess.run(
        old_kernel.command(number, "landlock", *words), capture_output=True, text=True
    )
    probed, ran = done.stdout.splitlines()
    assert probed.startswith("0|") and "not protected by Landlock" in probed, done.stderr
    if level == "auto":
        assert ran == "0|started"
    else:
        assert ran.startswith(f"{LAUNCH_FAILED}|[sandbox] level is") and "sandbox.level auto" in ran


@pytest.mark.skipif(sys.platform != "linux", reason="walls are Linux's")
@pytest.mark.parametrize("folder", ["/dev/shm", "/run", "/tmp", "/"])
def test_what_the_system_supports_does_not_depend_on_where_it_is_asked(folder):
    """In namespaces the first three are others than outside."""
    code = "from dos.sandbox.io.probe import probe; print(probe())"
    asked = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert asked.stdout == f"{probe()}\n", asked.stderr


# A process that puts up so many layers around itself and then starts a program with walls.
LAYERS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from walled import Lane
from dos.sandbox.io.launcher import kernel, landlock
walls = {"landlock_abi": 3, "writable": ("/",), "readable": None, "bind_ports": None,
         "connect_ports": None, "scoped": False}
lane = Lane(Path(sys.argv[2]))
inner = lane.walls("landlock", network=sys.argv[4])
kernel.forbid_new_privileges()
for layer in range(int(sys.argv[3])):
    landlock.restrict(walls)
ran = lane.shell("echo inside", inner)
print(ran.exit_code, *ran.lines)
"""


@needs_landlock
@pytest.mark.parametrize(
    ("network", "layers", "fits"),
    [
        ("open", 15, True),
        ("open", 16, False),
        pytest.param("ports", 14, True, marks=needs_ports),
        pytest.param("ports", 15, False, marks=needs_ports),
    ],
)
def test_sixteen_layers_work_and_the_next_one_has_a_clear_answer(tmp_path, network, layers, fits):
    """A program gets one layer of files, and one of ports."""
    words = [__file__.rpartition("/")[0], str(tmp_path / "x"), str(layers), network]
    done = subprocess.run([sys.executable, "-c", LAYERS, *words], capture_output=True, text=True)
    if fits:
        assert done.stdout == "0 inside\n", done.stderr
    else:
        assert done.stdout.startswith(f"{LAUNCH_FAILED} no walls around it"), done.stderr
        assert "inside 16 layers of Landlock already" in done.stdout


@needs_namespaces
def test_all_ends_with_the_program_in_namespaces(lane: Lane):
    script = "(setsid env -i sleep 300 >/dev/null 2>&1 &) ; sleep 0.2; exit 5"
    ran = lane.shell(script, lane.walls("auto"))
    assert ran.exit_code == 5 and ran.seconds < 30
    by_signal = lane.shell("kill -SEGV $$", lane.walls("auto"))
    assert by_signal.exit_code == -11


@needs_namespaces
def test_a_program_in_namespaces_is_asked_to_end_first(lane: Lane):
    script = "trap 'echo cleaned up; exit 7' TERM; echo up; sleep 60 & wait"
    ran = lane.shell(script, lane.walls("auto"), wall=1)
    assert (ran.exit_code, ran.lines) == (7, ["up", "cleaned up"])


@needs_namespaces
@pytest.mark.parametrize("reads", ["listed", "all"])
def test_programs_below_a_covered_folder_stay_where_they_are(lane, tmp_path, reads):
    program = tmp_path / "tool" / "bin" / "greet"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho greeted\n")
    program.chmod(0o755)
    (tmp_path / "other").write_text("secret\n")
    folders = Folders(
        lane=str(lane.lane),
        tmp=str(lane.tmp),
        home=str(lane.home),
        readable=(str(program.parents[1]),) if reads == "listed" else None,
        programs=(str(program.parents[1]),),
    )
    built = build.build(Sandbox(reads=reads), probe(), folders)
    assert lane.shell(str(program), built).lines == ["greeted"]
    assert lane.shell(f"cat {tmp_path}/other", built).exit_code != 0
