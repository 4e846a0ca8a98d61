"""Which folders a program on the path may read besides the system."""

from pathlib import Path

from dos.sandbox.io.programs import command_folders, program_folders


def test_a_toolchain_below_the_home_is_whole_and_the_home_is_not(tmp_path):
    home = tmp_path / "home"
    for folder in (".cargo/bin", ".nvm/versions/node/v22/bin", "bin", ".local/bin"):
        (home / folder).mkdir(parents=True)
    agent = home / ".local/share/agent/versions/1.2/agent"
    agent.parent.mkdir(parents=True)
    agent.touch()
    (home / ".local/bin/agent").symlink_to(agent)
    (home / ".local/bin/broken").symlink_to(home / "nowhere")
    path = [
        f"{home}/.cargo/bin", f"{home}/.nvm/versions/node/v22/bin", f"{home}/bin",
        f"{home}/.local/bin", "/usr/bin", "relative",
    ]  # fmt: skip
    given = {"PATH": ":".join(path), "RUSTUP_HOME": f"{home}/.rustup", "HOME": str(home)}
    found = program_folders(given, home)
    assert {f"{home}/.cargo", f"{home}/.nvm/versions/node/v22", f"{home}/bin"} <= set(found)
    assert f"{home}/.rustup" in found and f"{home}/.local/lib" in found
    assert f"{home}/.local/share/agent/versions" in found, "what the link leads to"
    closed = {str(home), f"{home}/.local", f"{home}/.local/share", "/", str(tmp_path)}
    assert closed.isdisjoint(found)


def test_without_a_path_there_is_nothing(tmp_path):
    assert program_folders({}, tmp_path) == ()


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return str(path)


def test_a_program_of_npm_reads_all_packages_that_it_is_installed_with(tmp_path):
    packages = tmp_path / "agents" / "node_modules"
    executable(packages / "agent" / "bin" / "agent.js")
    link = packages / ".bin" / "agent"
    link.parent.mkdir()
    link.symlink_to("../agent/bin/agent.js")
    assert command_folders((str(link),), tmp_path / "home") == (str(packages),)


def test_a_link_on_the_path_leads_to_the_folder_of_its_program(tmp_path, monkeypatch):
    program = executable(tmp_path / "home" / "work" / "agent" / "bin" / "agent")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "agent").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    folders = command_folders(("agent",), tmp_path / "home")
    assert str(tmp_path / "home" / "work" / "agent") in folders
    assert str(tmp_path / "home" / "work") not in folders


def test_a_program_in_the_home_is_read_alone_and_so_is_the_script_of_an_interpreter(tmp_path):
    program, script = executable(tmp_path / "agent"), executable(tmp_path / "agent.py")
    assert command_folders((program, "--quiet"), tmp_path) == (program,)
    assert command_folders((program, script, "/no/such/file"), tmp_path) == (program, script)


def test_a_program_that_is_nowhere_has_no_folder(tmp_path):
    assert command_folders(("no-such-program",), tmp_path) == ()


def test_the_script_of_the_scripted_agent_is_its_program(tmp_path):
    (tmp_path / "tool").mkdir()
    script = tmp_path / "tool" / "script.json"
    script.touch()
    assert str(script.parent) in command_folders([str(script)], tmp_path / "home")
    assert command_folders([str(tmp_path / "nothing")], tmp_path / "home") == ()
