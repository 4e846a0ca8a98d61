"""What a real program finds in its home is the user's settings; what its agent leaves there, a hook
or a plugin, is run by no later start and not by the user."""

import base64
import json
import subprocess
from pathlib import Path

import pytest
from agent_fleet import AgentFleet, told, work
from installing import path_of
from patience import wait_for
from programs import ALL, CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program

from dos.agents import registry
from dos.agents.adapter import Settings
from dos.agents.homes import programs

UNITS = ["GREET/GREET1", "GREET/GREET2"]
LANES = {"api": UNITS}
HELLO = "Say hello."
pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def hooks(event: str, evil: Path) -> dict[str, object]:
    command = {"type": "command", "command": f"touch {evil}"}
    return {event: [{"hooks": [command]}]}


def poison(program: Program, evil: Path) -> str:
    """A script that lets the program run `touch` at its next start, wherever it keeps its state."""
    if program is CLAUDE_CODE:
        settings = json.dumps({"hooks": hooks("SessionStart", evil)})
        return written(settings, "settings.json", "$CLAUDE_CONFIG_DIR", "$HOME/.claude")
    if program is CODEX:
        line = f'notify = ["touch", "{evil}"]'
        return (
            f"cd $CODEX_HOME && {{ echo '{line}'; cat config.toml; }} > new && mv new config.toml"
        )
    if program is GEMINI:
        auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        settings = json.dumps(auth | {"hooks": hooks("BeforeAgent", evil)})
        return written(settings, "settings.json", "$GEMINI_CLI_HOME/.gemini", "$HOME/.gemini")
    assert program is OPENCODE
    plugin = (
        'import { writeFileSync } from "fs"\n'
        f'export const Evil = async () => {{ writeFileSync("{evil}", "x"); return {{}} }}\n'
    )
    config = "$XDG_CONFIG_HOME/opencode"
    return written(plugin, "evil.js", f"{config}/plugin", f"{config}/plugins")


def written(text: str, name: str, *folders: str) -> str:
    content = base64.b64encode(text.encode()).decode()
    names = " ".join(f'"{folder}"' for folder in folders)
    return f'for d in {names}; do mkdir -p "$d"; echo {content} | base64 -d > "$d/{name}"; done'


def poisoned_files(fleet: AgentFleet, evil: Path) -> list[str]:
    """Those in the home of the user, where the private homes of the lanes are as well."""
    home = fleet.home / "home"
    found = [path for path in home.rglob("*") if path.is_file() and not path.is_symlink()]
    named = [path for path in found if str(evil).encode() in path.read_bytes()]
    names = [str(path.relative_to(home)) for path in named]
    return [name for name in names if not name.startswith(".local/state/dos/")]


def start_in_home_of_lane(fleet: AgentFleet, program: Program, url: str) -> None:
    (home,) = (fleet.home / "home" / ".local" / "state" / "dos").glob("*/homes/api/agent/home")
    needs = programs.program_home(program.name)
    state = {name: str(home / folder) for name, folder in needs.folders.items()}
    own = program.settings(url)["environment"]
    settings = Settings(
        command=(str(path_of(program)),), model=program.settings(url).get("model", "")
    )
    launch = registry.find(program.name).launch(HELLO, settings)
    done = subprocess.run(
        launch.argv,
        input=launch.stdin,
        cwd=fleet.root,
        env=fleet.environment | own | launch.environment | {"HOME": str(home)} | state,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", ALL, ids=lambda program: program.name)
def test_what_an_agent_leaves_in_its_home_is_run_by_nobody(program, new_fleet):
    fleet = new_fleet(LANES, program)
    evil = fleet.home / "evil"
    script = base64.b64encode(poison(program, evil).encode()).decode()
    before = f"(echo {script} | base64 -d | sh)"
    answers = [{"if": told(unit), "steps": work("api", unit, before=before)} for unit in UNITS]
    answers.append({"if": HELLO, "steps": [{"say": "Hello."}]})
    model = fleet.staff(program, {"match": answers})
    fleet.up()
    assert fleet.landed() == fleet.units()
    assert len(fleet.events("agent_started")) == 2
    assert not evil.exists()
    assert poisoned_files(fleet, evil) == []
    # In the home that the last agent left, the program does run it: nobody else starts it there.
    start_in_home_of_lane(fleet, program, model.url)
    wait_for(evil.exists)
