"""Installing hooks: what is in the files of a person stays, and goes back as it was."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commanding import git, in_process

from dos.agenthooks.io.wire import look
from dos.agenthooks.wiring import HOSTS, is_ours, is_tuned
from dos.workspace import find

RELEASED = Path(__file__).parents[1] / "fixtures" / "released_settings"
RELEASED_FILES = {
    "claude-code": "claude_settings.json",
    "codex": "codex_config.toml",
    "gemini": "gemini_settings.json",
    "cursor": "cursor_hooks.json",
}
FOREIGN = {
    "claude-code": (
        '{\n    "zeta": 1,\n    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": '
        '[{"type": "command", "command": "lint.sh"}]}],\n "Notification": []},\n "alpha": "é"}'
    ),
    "gemini": '{"security": {"auth": 1}, "hooks": {"BeforeTool": []}}\n',
    "cursor": '{"version": 1, "hooks": {"stop": [{"command": "bell"}]}}\n',
    "codex": '# mine\nmodel = "m"\n\n[features]\nhooks = true  # on',
    "opencode": None,
    "antigravity": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}\n',
}


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git("init", "--quiet", ".", cwd=root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("GEMINI_CLI_TRUST_WORKSPACE", raising=False)
    return root


def put(root, host, text):
    path = root / HOSTS[host].file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def commands(path):
    text = path.read_text()
    settings = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    for groups in settings["hooks"].values():
        for group in groups:
            for entry in group.get("hooks", [group]):
                yield entry["command"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("foreign", [True, False])
def test_what_was_there_stays_and_comes_back_byte_for_byte(repository, host, foreign):
    path = repository / HOSTS[host].file
    before = FOREIGN[host] if foreign else None
    if before is not None:
        put(repository, host, before)
        path.chmod(0o640)
    assert in_process("hooks", "install", host).code == 0
    if before is not None:
        assert oct(path.stat().st_mode)[-3:] == "640"
    installed = path.read_bytes()
    assert in_process("hooks", "install", host).out.startswith(f"{host}: already installed")
    assert path.read_bytes() == installed
    assert in_process("hooks", "uninstall", host).code == 0
    if before is None:
        assert not path.exists() and [entry.name for entry in repository.iterdir()] == [".git"]
    else:
        assert path.read_text() == before


def test_foreign_keys_and_hooks_keep_their_order(repository):
    path = put(repository, "claude-code", FOREIGN["claude-code"])
    in_process("hooks", "install", "claude-code")
    settings = json.loads(path.read_text())
    assert list(settings) == ["zeta", "hooks", "alpha"] and settings["alpha"] == "é"
    assert list(settings["hooks"])[:2] == ["PreToolUse", "Notification"]
    assert settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "lint.sh"
    assert sum(map(is_ours, commands(path))) == 4
    settings["new"] = True
    path.write_text(json.dumps(settings))
    assert in_process("hooks", "uninstall", "claude-code").code == 0
    left = json.loads(path.read_text())
    assert left.pop("new") and left == json.loads(FOREIGN["claude-code"])


@pytest.mark.parametrize("host", RELEASED_FILES)
def test_entries_of_dos_kernel_are_taken_over_and_not_doubled(repository, host):
    path = put(repository, host, (RELEASED / RELEASED_FILES[host]).read_text())
    assert look(HOSTS[host], find(repository)).state == "DRIFTED"
    assert in_process("hooks", "install", host).code == 0
    ours = list(commands(path))
    assert len(ours) == len(HOSTS[host].events)
    assert not any("--workspace" in line for line in ours)
    state = look(HOSTS[host], find(repository)).state
    assert state == ("UNTRUSTED" if host in ("codex", "gemini") else "WIRED")
    assert in_process("hooks", "uninstall", host).code == 0
    assert not path.exists() or "dos hook" not in path.read_text()


def test_an_entry_with_options_of_a_person_stays_unless_forced(repository):
    tuned = {"type": "command", "command": "dos hook stop --strict"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [tuned]}]}})
    path = put(repository, "claude-code", text)
    in_process("hooks", "install", "claude-code")
    assert [line for line in commands(path) if is_tuned(line)] == ["dos hook stop --strict"]
    assert sum(" stop" in line for line in commands(path)) == 1
    in_process("hooks", "install", "claude-code", "--force")
    assert not any(is_tuned(line) for line in commands(path))


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("claude-code", '{\n  // mine\n  "model": "m"\n}\n'),
        ("gemini", '{"a": 1, "a": 2}'),
        ("gemini", "[]"),
        ("cursor", '{"hooks": {"stop": 7}}'),
        ("codex", "model = \n"),
        ("codex", 'hooks = { Stop = [] }\nmodel = "m"\n'),
        ("codex", "# >>> dos hooks\n"),
        ("opencode", "export const Mine = () => {}\n"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_and_the_patch_is_printed(repository, host, text):
    path = put(repository, host, text)
    answer = in_process("hooks", "install", host)
    assert answer.code == 1 and "Add this by hand" in answer.out and "hook" in answer.out
    assert path.read_text() == text


def test_a_dry_run_prints_the_file_and_writes_nothing(repository):
    answer = in_process("hooks", "install", "all", "--dry-run")
    assert answer.code == 0 and answer.out.count("would be") == len(HOSTS)
    assert [entry.name for entry in repository.iterdir()] == [".git"]


def test_a_link_out_of_the_repository_is_not_followed_silently(repository, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "settings.json").write_text("{}\n")
    (repository / ".claude").symlink_to(shared)
    answer = in_process("hooks", "install", "claude-code")
    assert answer.code == 2 and "outside of this repository" in answer.err
    assert (shared / "settings.json").read_text() == "{}\n"
    assert in_process("hooks", "install", "claude-code", "--force").code == 0
    assert "shim.py pretool" in (shared / "settings.json").read_text()


@pytest.mark.parametrize("host", sorted(set(HOSTS) - {"opencode"}))
def test_a_hook_whose_command_is_gone_refuses_nothing(repository, host, monkeypatch):
    """Gemini CLI takes every exit code above 1 for a refusal, the others take 2."""
    in_process("hooks", "install", host)
    for line in commands(repository / HOSTS[host].file):
        gone = line.replace("dos", "no-such-dos", 1)
        assert subprocess.run(gone, shell=True, stderr=subprocess.DEVNULL).returncode == 0
        assert is_ours(line) and not is_tuned(line)


def test_codex_is_wired_in_the_main_checkout_also_from_a_linked_worktree(
    repository, tmp_path, monkeypatch
):
    git("commit", "--quiet", "--allow-empty", "--message", "First", cwd=repository)
    git("worktree", "add", "--quiet", str(tmp_path / "linked"), cwd=repository)
    monkeypatch.chdir(tmp_path / "linked")
    in_process("hooks", "install", "all")
    assert not (tmp_path / "linked" / HOSTS["codex"].file).exists(), "Codex would not read it"
    assert (repository / HOSTS["codex"].file).exists()
    assert (tmp_path / "linked" / HOSTS["claude-code"].file).exists()
    assert not (repository / HOSTS["claude-code"].file).exists()


def test_an_unknown_program_is_an_error_that_names_those_there_are(repository):
    answer = in_process("hooks", "install", "nonsense")
    assert answer.code == 2 and "claude-code, codex" in answer.err
    assert in_process("hooks", "uninstall", "nonsense").code == 2


def test_an_agent_of_the_fleet_may_not_change_the_hooks(repository, monkeypatch):
    monkeypatch.setenv("DOS_LEASE_KEY", "k")
    for verb in ("install", "uninstall"):
        assert in_process("hooks", verb, "claude-code").code == 77
    assert not os.path.exists(repository / ".claude")


@pytest.mark.parametrize(("host", "unit"), [("claude-code", 10), ("codex", 10), ("gemini", 10_000)])
def test_timeouts_are_in_the_unit_of_the_program(repository, host, unit):
    in_process("hooks", "install", host)
    text = (repository / HOSTS[host].file).read_text()
    assert text.count(str(unit)) >= 4 and ("10000" in text) == (unit == 10_000)


def test_init_has_the_released_names_of_install(repository):
    assert in_process("init").code == 0
    assert in_process("init").code == 1, "dos.toml is there"
    assert in_process("init", "--with-hooks").code == 0
    assert sum(1 for _ in commands(repository / ".claude" / "settings.json")) == 4
    assert in_process("init", "--hooks", "gemini", "--hooks", "cursor").code == 0
    assert (repository / ".cursor" / "hooks.json").exists()
    (repository / ".gemini" / "settings.json").write_text("{ // mine\n}")
    assert in_process("init", "--hooks", "gemini").code == 1
    assert in_process("init", "--hooks", "nonsense").code == 2


def test_the_fast_command_is_written_and_the_older_form_is_taken_over(repository):
    """A file of this machine alone calls the shim by its paths, and each event calls dos once."""
    path = put(repository, "claude-code", json.dumps({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "/old/bin/dos hook stop"}]}]}}))  # fmt: skip
    in_process("hooks", "install", "claude-code")
    lines = list(commands(path))
    assert len(lines) == len(HOSTS["claude-code"].events)
    for line in lines:
        python, *options, shim, _, _, _ = line.split()
        assert (python, options) == (sys.executable, ["-I", "-S"])
        assert Path(shim).is_file() and is_ours(line) and not is_tuned(line)
    assert look(HOSTS["claude-code"], find(repository)).state == "WIRED"
    path.write_text(path.read_text().replace("/agenthooks/", "/removed/agenthooks/"))
    assert look(HOSTS["claude-code"], find(repository)).state == "DRIFTED"
    in_process("hooks", "install", "claude-code")
    assert list(commands(path)) == lines


def test_a_committed_file_names_no_path_of_this_machine(repository):
    path = put(repository, "claude-code", "{}\n")
    git("add", "--all", cwd=repository)
    git("commit", "--quiet", "--message", "Share", cwd=repository)
    in_process("hooks", "install", "claude-code")
    assert all("hook pretool" in line or "shim" not in line for line in commands(path))
    assert look(HOSTS["claude-code"], find(repository)).state == "WIRED"


UNREADABLE = {
    "claude-code": '{ // mine\n "hooks": {"Stop": [{"hooks": [{"command": "dos hook stop"}]}]}}',
    "gemini": "[]",
    "cursor": '{"hooks": {"stop": "dos hook stop"}}',
    "codex": "[hooks\n",
}


@pytest.mark.parametrize("host", UNREADABLE)
def test_settings_that_cannot_be_read_are_a_state_of_their_own_and_doctor_tells_the_file(
    repository, host, monkeypatch
):
    monkeypatch.chdir(repository)
    path = Path(repository, *HOSTS[host].path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(UNREADABLE[host])
    assert look(HOSTS[host], find(repository)).state == "UNREADABLE"
    report = in_process("doctor", "--json").json
    assert report["runtime_hooks"][host]["state"] == "UNREADABLE"
    (finding,) = (each for each in report["findings"] if each["kind"] == "HOOKS_UNREADABLE")
    assert HOSTS[host].file in finding["what"] and "not changed" not in finding["what"]
    assert finding["fix"].endswith(f"cat {path}") and f"install {host}" in finding["why"]
    assert (finding["severity"] == "warn") == ("dos hook" in UNREADABLE[host])
    shown = in_process("hooks", "install", host, "--dry-run", "--json")
    assert shown.code == 1 and shown.json["hosts"][host]["state"] == "UNREADABLE"
    assert path.read_text() == UNREADABLE[host]
    path.unlink()
    assert look(HOSTS[host], find(repository)).state == "NOT_WIRED"
