"""`dos guard`: a person's own session of the real program gets hooks and tools, and no file is
written into the repository."""

import pytest
from msgspec import json
from own_sessions import OwnRepository
from programs import CLAUDE_CODE, CODEX, OPENCODE

from dos.agenthooks.guard import CLAIM_PROMPT

pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the programs


def started(tmp_path, program, *words: str):
    repository = OwnRepository(tmp_path, program)
    repository.settle("http://model.invalid")
    return repository, ("dos", "guard", *words, "--")


def requests(folder):
    return [json.decode(line) for line in (folder / "requests.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("program", [CLAUDE_CODE, OPENCODE], ids=lambda program: program.name)
def test_a_write_into_the_lane_of_a_worker_is_refused(tmp_path, program):
    repository, through = started(tmp_path, program)
    script = [program.write("api/new.md", "x\n"), program.write("web/new.md", "x\n"), {"say": "."}]
    before = repository.git("status", "--porcelain", "--ignored")
    with repository.worker("api"):
        session = repository.play(script, tmp_path / "model", through=through)
    assert not (repository.root / "api" / "new.md").exists(), session
    assert (repository.root / "web" / "new.md").exists(), session
    assert "belongs to lane api, which 'worker' holds" in session.told
    (repository.root / "web" / "new.md").unlink()
    assert repository.git("status", "--porcelain", "--ignored") == before


def test_claude_code_stops_with_a_claim_only_when_git_has_it(tmp_path):
    repository, through = started(tmp_path, CLAUDE_CODE, "--verify-on-stop", "--claim-prompt")
    script = [{"say": "All done.\nDOS-CLAIM: AUTH AUTH1"}, {"say": "It is not done."}]
    session = repository.play(script, tmp_path / "model", through=through)
    assert "AUTH1" in session.told, session  # the refusal, as the next prompt
    log = requests(tmp_path / "model")
    assert CLAIM_PROMPT in (tmp_path / "model" / "requests.jsonl").read_text()
    assert len([request for request in log if request["told"]]) >= 2


def test_codex_gets_the_server_and_the_prompt(tmp_path):
    repository, through = started(tmp_path, CODEX, "--claim-prompt")
    session = repository.play([{"say": "Done."}], tmp_path / "model", through=through)
    assert session.code == 0, session
    assert "Codex runs hooks only from files that it trusts" in session.said
    tools = {name for request in requests(tmp_path / "model") for name in request["tools"]}
    assert any("dos" in name and name.endswith("verify") for name in tools), tools
    assert CLAIM_PROMPT in (tmp_path / "model" / "requests.jsonl").read_text()
