"""What agents, acceptance, tests and setup see of the environment of the fleet."""

import pytest
from sample_repository import Repository
from test_attendant import work

from dos.config.fleet import Store, Workers
from dos.config.tables import Config
from dos.runtime.ground.surroundings import handed_on

URL = "postgresql://dos@db/fleet"


@pytest.mark.parametrize(
    ("name", "url", "is_handed_on"),
    [
        ("PATH", "", True),
        ("HTTPS_PROXY", "", True),
        ("ANTHROPIC_API_KEY", "", True),
        ("OPENAI_API_KEY", "", True),
        ("GIT_AUTHOR_NAME", "", True),
        ("GIT_DIR", "", False),
        ("GIT_SSH_COMMAND", "", False),
        ("GIT_ASKPASS", "", False),
        ("SSH_AUTH_SOCK", "", False),
        ("GITHUB_TOKEN", "", False),
        ("DOS_RECEIPT_KEY", "", False),
        ("DISPATCH_HOST_ID", "", False),
        ("PGPASSWORD", "", True),  # somebody else's database
        ("PGPASSWORD", URL, False),
        ("PGSERVICEFILE", URL, False),
    ],
)
def test_what_is_ours_or_opens_a_remote_is_not_handed_on_unless_it_is_named(name, url, is_handed_on):
    config = Config(store=Store(url=url))
    assert (handed_on({name: "x"}, config) == {name: "x"}) == is_handed_on
    allowed = Config(store=Store(url=url), workers=Workers(pass_environment=(f"{name[:-1]}*",)))
    assert handed_on({name: "x"}, allowed) == {name: "x"}


def test_the_address_of_the_journal_is_not_handed_on_under_any_name():
    given = {"DATABASE_URL": URL, "CACHE_URL": "redis://cache"}
    assert handed_on(given, Config(store=Store(url=URL))) == {"CACHE_URL": "redis://cache"}


def test_an_agent_and_its_acceptance_command_see_no_keys_of_the_fleet(repository: Repository, monkeypatch):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("OPENAI_API_KEY", "its-own")
    seen = repository.home / "seen"
    look = f"env >> {seen}"
    (repository.root / "docs" / "demo-plan.md").write_text(f"## DEMO A1: first\n- lane: one\n- acceptance: `{look}`\n")
    repository.commit_all("Look around")
    steps = [{"run": look}, {"write": "one/a.txt", "text": "x"}, {"commit": "Write a"}]
    repository.play({"DEMO/A1": [steps]})
    work(repository)
    lines = seen.read_text().splitlines()
    assert lines.count("OPENAI_API_KEY=its-own") >= 2
    assert not [line for line in lines if line.startswith("SSH_AUTH_SOCK")]
    assert {line.partition("=")[0] for line in lines if line.startswith("DOS_")} == {
        "DOS_FENCE", "DOS_LANE", "DOS_PORT_BASE", "DOS_PORT_COUNT", "DOS_RUN_ID", "DOS_UNIT", "DOS_WORKSPACE",
    }  # fmt: skip
