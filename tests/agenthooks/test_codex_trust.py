"""Which hooks Codex is told to trust: those that dos has just written, and no other."""

import json
import sys
from pathlib import Path

import pytest
from commanding import git, in_process

from dos.agenthooks import toml_settings
from dos.agenthooks.io.own_command import dos_command, leads_here, own_shim_caller
from dos.agenthooks.io.wire import look
from dos.agenthooks.wiring import HOSTS, commands, is_ours, verb_caller
from dos.workspace import find

CODEX = HOSTS["codex"]
# Lists the hooks of a folder and keeps which of them it was told to trust, as Codex does.
APP_SERVER = """
import json, os, sys, tomllib
home = os.path.join(os.environ["HOME"], ".codex")
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = {}
    if request["method"] == "hooks/list":
        file = os.path.join(request["params"]["cwds"][0], ".codex", "config.toml")
        hooks = []
        with open(file, "rb") as settings:
            for event, groups in tomllib.load(settings)["hooks"].items():
                for at, group in enumerate(groups):
                    for hook in group["hooks"]:
                        key = f"{file}:{event}:{at}:0"
                        hooks.append({"key": key, "command": hook["command"],
                                      "currentHash": "h", "trustStatus": "untrusted"})
        result = {"data": [{"hooks": hooks}]}
    elif request["method"] == "config/batchWrite":
        os.makedirs(home, exist_ok=True)
        lines = ["[hooks.state]"]
        for key, value in request["params"]["edits"][0]["value"].items():
            lines.append(json.dumps(key) + ' = { trusted_hash = 1 }')
        with open(os.path.join(home, "config.toml"), "w") as settings:
            settings.write("\\n".join(lines))
    print(json.dumps({"id": request["id"], "result": result}), flush=True)
"""
LANDED = [
    "dos hook pretool; touch evil",
    "dos hook pretool\ntouch evil",
    "dos hook pretool || touch evil || true",
    "dos hook $(touch evil)",
    "dos hook pretool > evil",
    "dos hook --plugin evil",
    "{tree}/tools/dos hook pretool --dialect codex || true",
    "{python} -I -S {tree}/agenthooks/io/shim.py pretool --dialect codex || true",
]


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git("init", "--quiet", ".", cwd=root)
    for name in ("tools/dos", "agenthooks/io/shim.py"):
        landed = root / name
        landed.parent.mkdir(parents=True)
        landed.write_text("#!/bin/sh\n")
        landed.chmod(0o755)
    programs = tmp_path / "programs"
    programs.mkdir()
    codex = programs / "codex"
    codex.write_text(f"#!{sys.executable} -IS\n{APP_SERVER}")
    codex.chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return root


def put(root, command):
    """A landed hook of Codex beside those of dos."""
    settings = root / CODEX.file
    settings.parent.mkdir(exist_ok=True)
    command = command.format(tree=root, python=sys.executable)
    settings.write_text(
        f'[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\n'
        f"command = {json.dumps(command)}\n"
    )
    return settings


def trusted(root):
    kept = root.parent / "home" / ".codex" / "config.toml"
    return kept.read_text().splitlines()[1:] if kept.exists() else []


def test_the_hooks_of_dos_are_trusted(repository):
    answer = in_process("hooks", "install", "codex")
    assert answer.code == 0 and "Codex trusts these hooks now (4 of them)" in answer.out
    assert len(trusted(repository)) == 4
    assert look(CODEX, find(repository)).state == "WIRED"


def test_the_hooks_of_dos_kernel_are_taken_over_and_trusted_as_dos_writes_them(repository):
    released = Path(__file__).parents[1] / "fixtures" / "released_settings" / "codex_config.toml"
    (repository / ".codex").mkdir()
    (repository / CODEX.file).write_bytes(released.read_bytes())
    assert "trusts these hooks now (4 of them)" in in_process("hooks", "install", "codex").out
    assert "--workspace" not in (repository / CODEX.file).read_text()


@pytest.mark.parametrize("command", LANDED)
def test_a_landed_command_that_looks_like_ours_is_never_trusted(repository, command):
    put(repository, command)
    in_process("hooks", "install", "codex")
    # Where dos leaves the file to its owner nothing is trusted; else the four of dos are.
    hooks = trusted(repository)
    assert len(hooks) in (0, 4)
    assert not [key for key in hooks if ":PreToolUse:0:" in key], "the landed one stands first"


@pytest.mark.parametrize(
    "path", ["{tree}/tools/dos hook", "{python} -I -S {tree}/agenthooks/io/shim.py"]
)
@pytest.mark.parametrize("committed", [True, False])
def test_a_landed_path_in_the_block_of_dos_is_not_used_again(repository, path, committed):
    caller = path.format(tree=repository, python=sys.executable)
    settings = repository / CODEX.file
    settings.parent.mkdir()
    settings.write_text(toml_settings.block(CODEX, caller))
    if committed:
        git("add", "--all", cwd=repository)
        git("commit", "--quiet", "--message", "Share", cwd=repository)
    assert look(CODEX, find(repository)).state == "DRIFTED"
    in_process("hooks", "install", "codex")
    assert str(repository) not in settings.read_text()
    assert len(trusted(repository)) == 4


def test_a_path_to_this_dos_is_used_again(repository):
    own = dos_command()
    assert own.startswith("/") and leads_here(own)
    link = repository.parent / "dos"
    link.symlink_to(own)
    assert leads_here(str(link)), "by whatever link of the user"
    settings = repository / CODEX.file
    settings.parent.mkdir()
    settings.write_text(toml_settings.block(CODEX, verb_caller(own)))
    assert look(CODEX, find(repository)).state == "UNTRUSTED", "not yet"


def test_a_command_of_ours_does_nothing_besides(repository):
    for caller in ("dos hook", own_shim_caller(), verb_caller("/with blank; and more/dos")):
        assert all(map(is_ours, commands(CODEX, caller)))
    for landed in LANDED[:5]:
        assert not is_ours(landed)
    assert is_ours("~/bin/dos hook stop --strict") and not is_ours("dos hook 'stop' `evil`")
