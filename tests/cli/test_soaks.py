"""A unit whose work is there, and which the index of soaks still has in progress, has not shipped:
nobody does it again, and nothing that depends on it starts."""

import pytest
from commanding import git

PLAN = """# Auth

## 1. AUTH AUTH1 — login

- paths: api/login.txt

## 2. AUTH AUTH2 — logout

- paths: api/logout.txt
- depends: AUTH/AUTH1
"""
INDEX = "soaks:\n- id: auth1-latency\n  plan: AUTH\n  status: {status}\n"


def commit(workspace, message):
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", message, cwd=workspace)


@pytest.fixture
def soak(workspace):
    """Sets the status of the soak of AUTH/AUTH1, which a person has shipped."""
    (workspace / "docs" / "auth-plan.md").write_text(PLAN)
    commit(workspace, "Plan the login")
    (workspace / "api" / "login.txt").write_text("login\n")
    commit(workspace, "AUTH1: write the login")
    folder = workspace / ".dos" / "soaks"
    folder.mkdir(parents=True)

    def change(status):
        (folder / "index.yaml").write_text(INDEX.format(status=status))
        commit(workspace, f"The soak is {status}")

    return change


def test_it_is_held_until_its_soak_is_over(dos, soak):
    assert dos("pickable", "AUTH/AUTH1").code == 25, "it has shipped"
    assert dos("pickable", "AUTH/AUTH2").code == 0
    soak("in_progress")
    assert dos("verify", "AUTH", "AUTH1").code == 1
    held = dos("pickable", "AUTH/AUTH1", "--json")
    assert (held.code, held.json["reason"]) == (12, "SOAK_OPEN")
    assert "index of soaks" in held.json["evidence"]
    assert dos("pickable", "AUTH/AUTH2").code == 13, "what depends on it waits as well"
    packet = dos("packet", "--json")
    assert (packet.json["verdict"], packet.json["picks"]) == ("DRAIN", [])
    soak("done")
    assert dos("verify", "AUTH", "AUTH1").code == 0
    assert dos("pickable", "AUTH/AUTH1").code == 25
    assert dos("pickable", "AUTH/AUTH2").code == 0
    assert [pick["phase_id"] for pick in dos("packet", "--json").json["picks"]] == ["AUTH2"]


def test_a_person_is_shown_what_soaks_and_what_waits_behind_it(dos, soak):
    soak("in_progress")
    (row,) = dos("decisions", "--json").json
    assert (row["kind"], row["reason_token"]) == ("SOAK_GATE", "SOAK_OPEN")
    assert [wait["subject"] for wait in row["waiting"]] == ["AUTH/AUTH2"]
    account = dos("account", "--json").json
    assert account["verdict"] != "COMPLETE"
    soak("done")
    assert dos("decisions", "--json").json == []


def test_a_soak_of_another_unit_or_an_index_that_is_no_yaml_ships_nothing_and_starts_nothing(
    dos, soak, workspace
):
    soak("in_progress")
    index = workspace / ".dos" / "soaks" / "index.yaml"
    index.write_text(index.read_text().replace("auth1-latency", "auth10-latency"))
    commit(workspace, "Watch another one")
    assert dos("pickable", "AUTH/AUTH1").code == 25
    index.write_text("soaks: [")
    commit(workspace, "Break the index")
    assert dos("verify", "AUTH", "AUTH1").code == 5
    held = dos("pickable", "AUTH/AUTH1", "--json")
    assert (held.code, held.json["reason"]) == (12, "SOAK_OPEN")
    assert "cannot be read" in held.json["evidence"]
    assert dos("packet").code == 7, "nobody does it again"


def test_a_unit_that_may_have_landed_is_held_where_git_cannot_tell(dos, soak, workspace):
    soak("done")
    git("clone", "--quiet", "--depth", "1", f"file://{workspace}", "../cut", cwd=workspace)
    cut = ("--workspace", str(workspace.parent / "cut"))
    assert dos("verify", "AUTH", "AUTH1", *cut).code == 5
    unknown = dos("pickable", "AUTH/AUTH1", "--json", *cut)
    assert (unknown.code, unknown.json["held"], unknown.json["reason"]) == (8, True, "UNKNOWN")
    assert dos("packet", *cut).code == 7, "nor is it offered in a packet"
    assert dos("pickable", "AUTH/AUTH1").code == 25, "the whole history shows that it has"
    assert dos("pickable", "AUTH/AUTH2").code == 0
