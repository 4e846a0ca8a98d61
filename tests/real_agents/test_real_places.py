"""Each real program works in its worktree and in the name of the user, whatever the shell around
the fleet says."""

import subprocess
import sys

import pytest
from agent_fleet import IDENTITY, AgentFleet, told, work_with
from programs import ALL, Program

UNIT = "GREET/GREET1"
LANES = {"api": [UNIT]}
SHELLS = ("checkout", "worktree", "unset")
pytestmark = pytest.mark.timeout(1800)  # the first run on a machine installs the programs


def stand_in(fleet: AgentFleet, shell: str) -> None:
    """PWD as the shell of the user leaves it; OLDPWD names the checkout, as after `cd -`."""
    fleet.environment["OLDPWD"] = str(fleet.root)
    if shell == "checkout":
        fleet.environment["PWD"] = str(fleet.root)
    elif shell == "worktree":
        fleet.environment["PWD"] = worktree_of(fleet, "api")


def worktree_of(fleet: AgentFleet, lane: str) -> str:
    look = f"from dos import workspace; print(workspace.find('.').worktrees / {lane!r})"
    words = [sys.executable, "-c", look]
    done = subprocess.run(
        words, cwd=fleet.root, env=fleet.environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def busy_checkout(fleet: AgentFleet) -> dict[str, str]:
    """The user is in the middle of something: an edit, a staged file, an untracked one."""
    files = {"api/keep": "edited\n", "staged.txt": "staged\n", "mine.txt": "mine\n"}
    for name, text in files.items():
        (fleet.root / name).write_text(text)
    fleet.git("add", "staged.txt")
    return files


def check_untouched(fleet: AgentFleet, files: dict[str, str], begun: str) -> None:
    """HEAD, the index and the files are as they were, but for what has landed."""
    assert fleet.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert {name: (fleet.root / name).read_text() for name in files} == files
    # `AgentFleet.git` strips what is around: the first line is the edit, in the work tree alone.
    status = {line.strip() for line in fleet.git("status", "--porcelain").splitlines()}
    assert status == {"M api/keep", "A  staged.txt", "?? mine.txt"}
    landed = {event["body"]["commit"] for event in fleet.events("unit_landed")}
    assert set(fleet.git("rev-list", f"{begun}..main").splitlines()) == landed
    for ref in ("main", "HEAD"):
        assert "dos agent" not in fleet.git("reflog", "show", "--format=%gs", ref)
    assert fleet.events("incident_found") == []


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_a_program_works_in_its_worktree_whatever_its_shell_says(
    new_fleet, program: Program, shell
):
    fleet = new_fleet(LANES, program)
    fleet.staff(program, {"match": [{"if": told(UNIT), "steps": work_with(program, "api", UNIT)}]})
    fleet.begin()
    begun = fleet.git("rev-parse", "main")
    files = busy_checkout(fleet)
    stand_in(fleet, shell)
    fleet.up()
    assert fleet.landed() == [UNIT]
    check_untouched(fleet, files, begun)
    (landed,) = fleet.events("unit_landed")
    by = fleet.git("log", "-1", "--format=%an <%ae>", landed["body"]["commit"])
    assert by == f"{IDENTITY['NAME']} <{IDENTITY['EMAIL']}>"
    assert len(fleet.events("agent_started")) == 1
