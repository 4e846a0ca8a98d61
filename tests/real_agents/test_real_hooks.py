"""Hooks in a person's own sessions of the real programs: what they stop, and what they never do."""

from pathlib import Path

import pytest
from own_sessions import OwnRepository
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program, Step

from dos import workspace

pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs
RELEASED = Path(__file__).parents[1] / "fixtures" / "released_settings"
RELEASED_FILES = {CLAUDE_CODE: "claude_settings.json", CODEX: "codex_config.toml"}
EACH = pytest.mark.parametrize(
    "program", [CLAUDE_CODE, CODEX, GEMINI, OPENCODE], ids=lambda program: program.name
)


def writes(program: Program, *folders: str) -> list[Step]:
    """In each folder one file by the program's tool and one by the shell."""
    steps: list[Step] = []
    for folder in folders:
        steps.append(program.write(f"{folder}/written.md", "text\n"))
        steps.append({"bash": f"echo text > {folder}/redirected.md"})
    return [*steps, {"say": "Done."}]


def files(repository: OwnRepository, folder: str) -> set[str]:
    return {path.name for path in (repository.root / folder).iterdir()} - {"here.md"}


@EACH
def test_a_write_into_a_lane_of_a_worker_is_refused_and_one_elsewhere_goes_through(
    tmp_path, program
):
    repository = OwnRepository(tmp_path, program)
    assert repository.install()["state"] == "WIRED"
    with repository.worker("api"):
        session = repository.play(writes(program, "api", "web"), tmp_path / "model")
    assert files(repository, "api") == set(), session
    assert files(repository, "web") == {"written.md", "redirected.md"}, session
    assert session.told.count("belongs to lane api, which 'worker' holds") == 2, session.told
    denied = repository.events("hook_answered")
    assert [(one["action"], one["reason_class"], one["paths"]) for one in denied] == [
        ("DENY", "REGION_HELD", ["api/written.md"]),
        ("DENY", "REGION_HELD", ["api/redirected.md"]),
    ]


@EACH
@pytest.mark.parametrize("lose", [OwnRepository.uninstall_dos, OwnRepository.remove_dos])
def test_a_session_goes_on_where_the_command_of_the_hooks_is_gone(tmp_path, program, lose):
    repository = OwnRepository(tmp_path, program)
    repository.install()
    with repository.worker("api"):
        lose(repository)
        session = repository.play(writes(program, "api"), tmp_path / "model")
    assert files(repository, "api") == {"written.md", "redirected.md"}, session
    assert session.code == 0, session


@EACH
def test_a_session_goes_on_where_the_journal_cannot_be_read(tmp_path, program):
    repository = OwnRepository(tmp_path, program)
    repository.install()
    with repository.worker("api"):
        for path in workspace.find(repository.root).state.glob("state.db*"):
            path.write_bytes(b"no journal" * 1000)
        session = repository.play(writes(program, "api"), tmp_path / "model")
    assert files(repository, "api") == {"written.md", "redirected.md"}, session
    assert session.code == 0, session


@EACH
def test_a_session_in_the_tree_of_a_lane_that_holds_nothing_may_not_write(
    tmp_path, program, monkeypatch
):
    repository = OwnRepository(tmp_path, program)
    monkeypatch.setenv("XDG_STATE_HOME", repository.environment["XDG_STATE_HOME"])
    tree = workspace.find(repository.root).worktrees / "web"
    repository.git("worktree", "add", "--quiet", "-b", "lane-web", str(tree))
    assert repository.install(cwd=tree, extra=(tree,))["state"] == "WIRED"
    session = repository.play(writes(program, "web", "api"), tmp_path / "model", cwd=tree)
    assert not repository.git("-C", str(tree), "status", "--porcelain", "api", "web"), session
    assert session.told.count("you do not hold the lane") == 4, session.told


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX], ids=lambda program: program.name)
def test_hooks_of_dos_kernel_are_taken_over_and_run_once(tmp_path, program):
    repository = OwnRepository(tmp_path, program)
    repository.settings.parent.mkdir(parents=True)
    repository.settings.write_text((RELEASED / RELEASED_FILES[program]).read_text())
    assert repository.install()["state"] == "WIRED"
    session = repository.play(writes(program, "web"), tmp_path / "model")
    assert files(repository, "web") == {"written.md", "redirected.md"}, session
    called = [event["args_digest"] for event in repository.events("tool_called")]
    # Codex tells no hook of a patch that it took out of a shell command.
    assert len(called) == (1 if program is CODEX else 2) == len(set(called)), "each seen once"
    assert not repository.events("hook_fault") and not repository.events("hook_answered")


@pytest.mark.parametrize("program", [CLAUDE_CODE], ids=lambda program: program.name)
def test_a_session_goes_on_and_is_still_judged_when_the_server_is_killed_under_it(
    tmp_path, program
):
    repository = OwnRepository(tmp_path, program)
    repository.install()
    with repository.worker("api"), repository.server() as server:
        script = [
            {"bash": "echo text > api/redirected.md"},
            {"bash": f"kill -9 {server}; while kill -0 {server}; do sleep 0.05; done"},
            *writes(program, "api", "web"),
        ]
        session = repository.play(script, tmp_path / "model")
    assert files(repository, "api") == set(), session
    assert files(repository, "web") == {"written.md", "redirected.md"}, session
    assert session.told.count("belongs to lane api") == 3 and session.code == 0, session
