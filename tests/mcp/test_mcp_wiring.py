"""`dos init --mcp HOST`: what is in the file of a person stays, and a program finds the server."""

import json
import tomllib

import pytest
from commanding import git, in_process

from dos.mcp.hosts import HOSTS

FOREIGN = {
    "claude-code": '{\n    "zeta": 1,\n    "mcpServers": {"other": {"command": "x"}},\n "a": "é"}',
    "codex": '# mine\nmodel = "m"\n\n[mcp_servers.other]\ncommand = "x"  # on',
    "gemini": '{"security": {"auth": 1}, "mcpServers": {"other": {"command": "x"}}}\n',
    "opencode": '{"$schema": "s", "mcp": {"other": {"type": "local", "command": ["x"]}}}\n',
    "cursor": '{"mcpServers": {"other": {"command": "x"}}}\n',
}


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    """A repository with a dos.toml, as a person stands in it."""
    root = tmp_path / "repository"
    root.mkdir()
    git("init", "--quiet", ".", cwd=root)
    (root / "dos.toml").write_text("")
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return root


def put(root, host, text):
    path = root / HOSTS[host].file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def servers(root, host):
    path = root / HOSTS[host].file
    parsed = tomllib.loads if HOSTS[host].is_toml else json.loads
    return parsed(path.read_text())[HOSTS[host].key]


def words(entry):
    command = entry["command"]
    return command if isinstance(command, list) else [command, *entry["args"]]


@pytest.mark.parametrize("host", HOSTS)
def test_the_server_is_added_beside_what_is_there_and_only_once(root, host):
    path = put(root, host, FOREIGN[host])
    path.chmod(0o640)
    done = in_process("init", "--mcp", host)
    assert done.code == 0
    assert "starts `dos mcp` now\n" in done.out and "undo: delete " in done.out
    assert set(servers(root, host)) == {"other", "dos"}
    program, *rest = words(servers(root, host)["dos"])
    assert program.rpartition("/")[2] == "dos" and rest == ["mcp"]
    assert oct(path.stat().st_mode)[-3:] == "640"
    written = path.read_text()
    assert "already" in in_process("init", "--mcp", host).out
    assert path.read_text() == written
    if HOSTS[host].is_toml:
        assert written.startswith(FOREIGN[host])
    else:
        assert list(json.loads(written))[:1] == list(json.loads(FOREIGN[host]))[:1]


@pytest.mark.parametrize("host", HOSTS)
def test_what_undoes_it_is_said_and_a_dry_run_writes_nothing(root, host):
    dry = in_process("init", "--mcp", host, "--dry-run")
    assert dry.code == 0 and "would be" in dry.out and "mcp" in dry.out
    assert {entry.name for entry in root.iterdir()} == {".git", "dos.toml"}
    done = in_process("init", "--mcp", host)
    assert f"  undo: rm {HOSTS[host].file}\n" in done.out
    assert f"git add -- {HOSTS[host].file}" in done.out


def test_all_programs_can_be_wired_with_one_word(root):
    report = json.loads(in_process("init", "--mcp", "all", "--json").out)["mcp"]
    assert set(report) == set(HOSTS)
    assert all(row["changed"] and not row["refused"] for row in report.values())
    for host in HOSTS:
        assert "dos" in servers(root, host)


@pytest.mark.parametrize("host", ["claude-code", "gemini", "cursor"])
def test_the_server_of_dos_kernel_is_replaced_and_keeps_its_environment(root, host):
    entry = {"command": "/old/dos-mcp", "args": [], "env": {"DOS_LANG": "x"}}
    put(root, host, json.dumps({"mcpServers": {"dos": entry}}))
    assert in_process("init", "--mcp", host).code == 0
    found = servers(root, host)["dos"]
    assert words(found)[1:] == ["mcp"] and found["env"] == {"DOS_LANG": "x"}


@pytest.mark.parametrize("host", HOSTS)
def test_switches_that_a_person_chose_stay_unless_forced(root, host):
    more = ["mcp", "--read-only"]
    entry = {"command": ["dos", *more]} if host == "opencode" else {"command": "dos", "args": more}
    if HOSTS[host].is_toml:
        text = f'[mcp_servers.dos]\ncommand = "dos"\nargs = {json.dumps(more)}\n'
    else:
        text = json.dumps({HOSTS[host].key: {"dos": entry}})
    path = put(root, host, text)
    assert in_process("init", "--mcp", host).code == 0
    assert path.read_text() == text
    if not HOSTS[host].is_toml:  # there dos changes nothing outside of its block
        assert in_process("init", "--mcp", host, "--force").code == 0
        assert words(servers(root, host)["dos"])[1:] == ["mcp"]


@pytest.mark.parametrize(
    ("host", "text", "why"),
    [
        ("claude-code", "{ // mine\n}", "is not plain JSON"),
        ("claude-code", '{"a": 1, "a": 2}', "has one key twice"),
        ("claude-code", '{"mcpServers": []}', "is no object"),
        ("claude-code", '{"mcpServers": {"dos": {"command": "node"}}}', "starts another program"),
        ("claude-code", '{"mcpServers": {"dos": {"url": "http://x"}}}', "starts another program"),
        ("claude-code", '{"mcpServers": {"dos": "dos mcp"}}', "starts another program"),
        ("claude-code", '{"mcpServers": {"dos": {"command": ["dos", 7]}}}', "another program"),
        ("gemini", "[]", "holds no JSON object"),
        ("opencode", '{"mcp": {"dos": {"command": []}}}', "starts another program"),
        ("codex", "model = ", "is no TOML"),
        ("codex", '[mcp_servers.dos]\ncommand = "node"\n', "starts another program"),
        ("codex", "mcp_servers = 3\n", "is no object"),
        ("codex", "# >>> dos mcp\n", "does not have both marks"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_to_its_owner_with_what_to_add(root, host, text, why):
    path = put(root, host, text)
    done = in_process("init", "--mcp", host)
    assert done.code == 1
    assert why in done.out and "Add this by hand:" in done.out and '"mcp"' in done.out
    assert path.read_text() == text


def test_a_jsonc_file_of_opencode_is_left_to_its_owner(root):
    (root / "opencode.jsonc").write_text("{}")
    done = in_process("init", "--mcp", "opencode")
    assert done.code == 1 and "opencode.jsonc is there" in done.out
    assert not (root / "opencode.json").exists()


def test_a_program_that_moved_is_found_again_and_one_that_works_stays(root, tmp_path):
    working = tmp_path / "venv" / "dos"
    working.parent.mkdir()
    landed = root / "tools" / "dos"
    landed.parent.mkdir()
    for program in (working, landed):
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    for command, stays in ((str(working), True), ("/nowhere/dos", False), (str(landed), False)):
        entry = {"command": command, "args": ["mcp"], "type": "stdio"}
        put(root, "claude-code", json.dumps({"mcpServers": {"dos": entry}}))
        assert in_process("init", "--mcp", "claude-code").code == 0
        assert (servers(root, "claude-code")["dos"]["command"] == command) == stays


def test_nothing_is_written_through_a_link_out_of_the_repository(root, tmp_path):
    shared = tmp_path / "shared.json"
    shared.write_text("{}")
    (root / ".mcp.json").symlink_to(shared)
    done = in_process("init", "--mcp", "claude-code")
    assert done.code == 2 and "outside of this repository" in done.err
    assert shared.read_text() == "{}"
    assert in_process("init", "--mcp", "claude-code", "--force").code == 0
    assert "dos" in json.loads(shared.read_text())["mcpServers"]


@pytest.mark.parametrize("name", ["emacs", "claude", "Codex"])
def test_an_unknown_program_is_refused_before_anything_is_written(root, name):
    done = in_process("init", "--mcp", "gemini", "--mcp", name)
    assert done.code == 2 and "claude-code, codex, gemini, opencode, cursor" in done.err
    assert not (root / ".gemini").exists()


def test_a_folder_in_the_place_of_the_file_is_an_error(root):
    (root / ".mcp.json").mkdir()
    done = in_process("init", "--mcp", "claude-code")
    assert done.code == 2 and "is not a file" in done.err


def test_the_undo_of_init_removes_only_files_that_it_made(root):
    (root / "dos.toml").unlink()
    put(root, "claude-code", FOREIGN["claude-code"])
    put(root, "gemini", FOREIGN["gemini"])
    (root / "AGENTS.md").write_text("# Mine\n")
    options = ("--hooks", "gemini", "--hooks", "codex", "--agents-md", "--mcp", "all")
    out = in_process("init", *options).out
    (undo,) = [line for line in out.splitlines() if line.startswith("undo: ")]
    assert set(undo.split()[2:]) == {
        str(root / name)
        for name in ("dos.toml", ".codex/config.toml", "opencode.json", ".cursor/mcp.json")
    }
    assert "mcp_servers" in (root / ".codex/config.toml").read_text()
    assert "[[hooks.Stop]]" in (root / ".codex/config.toml").read_text()
