"""Real agent programs behind walls: each works and commits inside, and changes nothing outside."""

import os
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from agent_fleet import IDENTITY
from installing import FOLDER, Unavailable, path_of
from model_server import ModelServer
from one_agent import OneAgent
from programs import CLAUDE_CODE, CODEX, GEMINI, OPENCODE, Program

from dos.agents.adapter import Clocks, Ending, Settings
from dos.sandbox.build import Folders, build
from dos.sandbox.io.probe import probe
from dos.sandbox.settings import Sandbox

pytestmark = [
    pytest.mark.timeout(900),  # the first run on a machine installs the programs
    pytest.mark.skipif(not probe().has_files, reason=f"no Landlock: {probe().landlock_missing}"),
]
PROMPT = "# Unit DEMO/A1: write a file\n\nCommit it.\n"


@pytest.fixture
def folder():
    """Below the home: /tmp and /dev/shm are special behind walls."""
    parent = Path.home() / ".cache" / "dos-tests"
    parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=parent))
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("level", ["landlock", "auto"])
@pytest.mark.parametrize(
    "program", [CLAUDE_CODE, CODEX, GEMINI, OPENCODE], ids=lambda program: program.name
)
def test_it_commits_inside_and_changes_nothing_outside(folder, program: Program, level):
    try:
        command = (str(path_of(program)),)
    except Unavailable as error:
        pytest.skip(str(error))
    own, secret = folder / "lanes" / "one", folder / "secret"
    tree, tmp, home = (own / name for name in ("tree", "tmp", "home"))
    for path in (tree, tmp, home):
        path.mkdir(parents=True)
    secret.write_text("token\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(tmp)}
    environment |= {
        f"GIT_{who}_{what}": it for who in ("AUTHOR", "COMMITTER") for what, it in IDENTITY.items()
    }
    for words in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=tree, env=environment, check=True)
    script = [
        {"bash": f"cat {secret} > stolen; echo x > {secret}; echo x > {folder}/left; true"},
        {"bash": "echo x > made.txt && git add made.txt && git commit --quiet -m 'Write a file'"},
        {"say": "It is done."},
    ]
    folders = Folders(
        lane=str(tree),
        tmp=str(tmp),
        home=str(home),
        writable=(str(own),),
        readable=(str(FOLDER),),
        hidden=(str(folder / "lanes"),),
    )
    settings = Sandbox(level=level, sockets="none")
    model = ModelServer(folder / "model", script)
    try:
        table = program.settings(model.url)
        for name, text in program.files(model.url).items():
            (home / name).parent.mkdir(parents=True)
            (home / name).write_text(text)
        agent = OneAgent(
            program.name,
            Settings(command=command, model=table.get("model", ""), directory=str(tree)),
        )
        ran = agent.run(
            PROMPT,
            tree,
            environment | table["environment"],
            walls=build(settings, probe(), folders),
        )
    finally:
        model.stop()
    clocks = Clocks(ended_at=datetime.now(UTC))
    outcome = agent.adapter.outcome(agent.state, ran.exit_code, clocks)
    assert outcome.ending is Ending.OK, ran.lines[-30:]
    log = subprocess.run(
        ["git", "log", "--format=%s", "--name-only"], cwd=tree, capture_output=True, text=True
    )
    assert log.stdout.split("\n")[:3] == ["Write a file", "", "made.txt"], ran.lines[-30:]
    assert secret.read_text() == "token\n" and not (folder / "left").exists()
    stolen = tree / "stolen"
    assert not stolen.exists() or stolen.read_text() == ""
