"""Completion scripts, run by the real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from dos.cli.about import completion
from dos.verbs import lookup
from dos.verbs.listing.table import VERBS

DRIVER = """
eval "$(dos completion bash)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_dos
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "bash"
    path.write_text(completion.script("bash"))
    return path


def completed(script, cwd, *words):
    """What bash offers for the last of these words."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    driver = DRIVER.replace('eval "$(dos completion bash)"', f'. "{script}"')
    done = subprocess.run(
        [bash, "--norc", "-c", driver, "bash", *words],
        cwd=cwd, env={"PATH": path}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["dos", "doc"], ["doctor"]),
        (["dos", "config", ""], ["show", "get", "set", "unset", "path"]),
        (["dos", "--workspace", "x", "config", "s"], ["show", "set"]),
        (["dos", "config", "show", "--o"], ["--origin", "--output"]),
        (["dos", "doctor", "--f"], ["--fix"]),
        (["dos", "doctor", "--json", "--ch"], ["--check"]),
        (["dos", "completion", "z"], ["zsh"]),
        (["dos", "status", "--output", "j"], ["json"]),
        (["dos", "worker", "--lane", ""], ["api", "backend", "docs", "global", "worker"]),
        (["dos", "worker", "--lane", "d"], ["docs"]),
        (["dos", "man", "lane", "g"], ["global"]),
        (["dos", "nonsense", ""], []),
    ],
)
def test_bash_offers_what_can_be_typed(words, offered, script, workspace):
    assert completed(script, workspace, *words) == offered


def test_bash_offers_every_first_word_and_every_flag(script, workspace):
    assert completed(script, workspace, "dos", "") == list(
        dict.fromkeys(name.split()[0] for name in VERBS)
    )
    name = "lease-lane acquire"
    flags = {field.flag for field in lookup.arguments(VERBS[name])}
    assert flags <= set(completed(script, workspace, "dos", *name.split(), "--"))


def test_the_script_that_dos_prints_can_be_evaluated(workspace):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", DRIVER, "bash", "dos", "vers"],
        cwd=workspace, env={"PATH": path}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("version\n", "")


def test_a_lane_name_is_never_run_as_a_command(script, workspace):
    (workspace / "dos.toml").write_text(
        '[lanes]\nconcurrent = ["$(touch hit)", "a b", "`touch hit`", "*"]\n'
        '[lanes.trees]\n"$(touch hit)" = ["a/**"]\n"a b" = ["b/**"]\n'
        '"`touch hit`" = ["c/**"]\n"*" = ["d/**"]\n'
    )
    offered = completed(script, workspace, "dos", "worker", "--lane", "")
    assert sorted(offered) == sorted([r"\$\(touch\ hit\)", r"a\ b", r"\`touch\ hit\`", r"\*"])
    assert not (workspace / "hit").exists()


def test_a_broken_configuration_completes_to_nothing_and_says_nothing(script, workspace):
    (workspace / "dos.toml").write_text("[lanes")
    assert completed(script, workspace, "dos", "worker", "--lane", "") == []


@pytest.mark.parametrize(
    ("shell", "flags"), [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])]
)
def test_the_shell_itself_finds_no_mistake_in_the_script(shell, flags, tmp_path):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here to read the script")
    path = tmp_path / "script"
    path.write_text(completion.script(shell))
    done = subprocess.run(
        [program, *flags, str(path)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_lanes_are_printed_one_a_line(dos):
    assert dos("completion", "lanes").out.split() == ["api", "backend", "docs", "global", "worker"]
    assert dos("completion", "tcsh").code == 2
