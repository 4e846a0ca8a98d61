"""A verb called by name answers as the command line does, and refuses what that refuses."""

import pytest
from commanding import in_process
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from sample_repository import Repository

from dos.errors import BadInput, DosError, NotPermitted
from dos.verbs import lookup
from dos.verbs.context import Context
from dos.verbs.invoke import invoke
from dos.verbs.listing.table import VERBS
from dos.verbs.listing.verb import PERSON


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Repository:
    return Repository(tmp_path_factory.mktemp("invoked"))


@pytest.fixture
def context(repository):
    context = Context(workspace=str(repository.root), as_json=True)
    yield context
    context.close()


@pytest.mark.parametrize(
    ("verb", "arguments", "words"),
    [
        ("verify", {"units": ["DEMO", "A1"]}, ["DEMO", "A1"]),
        ("arbitrate", {"lane": "one"}, ["--lane", "one"]),
        ("account", {}, []),
        ("lint", {}, []),
        ("lease-lane live", {}, []),
        ("decisions", {"all": None}, []),
    ],
)
def test_the_answer_is_that_of_the_command_line(context, repository, verb, arguments, words):
    typed = in_process(*verb.split(), *words, "--workspace", str(repository.root), "--json")
    reply = invoke(verb, arguments, context)
    assert json.decode(json.encode(reply.data)) == typed.json
    assert reply.code == typed.code


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("verfiy", {}, "did you mean"),
        ("lease-lane", {}, "unknown verb"),
        ("", {}, "unknown verb"),
        ("verify", {"unit": ["A", "1"]}, "did you mean units?"),
        ("verify", {"units": "A 1"}, "units must be a list, not 'A 1'"),
        ("verify", {"units": [1]}, "units must be text, not '1'"),
        ("verify", {"all": "yes"}, "all must be true or false"),
        ("verify", {"require": "liv"}, "require cannot be 'liv'; did you mean live?"),
        ("verify", {"ref": " "}, "--ref is empty"),
        ("verify", {"ref": "a\0b"}, "NUL character"),
        ("verify", {"ref": "\udc80"}, "is not UTF-8"),
        ("lease-lane acquire", {"lane": "one"}, "needs owner"),
        ("lease-lane acquire", {"owner": "A", "pid": True}, "pid must be a whole number"),
        ("lease-lane acquire", {"owner": "A", "pid": 2.5}, "pid must be a whole number"),
        ("lease-lane acquire", {"owner": "A", "ttl_minutes": 1e300}, "out of range"),
        ("lease-lane acquire", {"owner": "A", "pid": 10**30}, "out of range"),
        ("lease-lane acquire", {"owner": "A", "ttl_minutes": float("nan")}, "out of range"),
    ],
)
def test_bad_input_is_named(context, verb, arguments, message):
    with pytest.raises(BadInput, match=message.replace("?", r"\?")):
        invoke(verb, arguments, context)


def test_an_argument_may_be_spelled_as_its_flag_or_as_its_field(context):
    for key in ("no-ci", "no_ci"):
        assert invoke("verify", {"units": ["DEMO", "A1"], key: True}, context).code == 1


def test_a_verb_for_people_is_refused_to_an_agent(context, monkeypatch):
    monkeypatch.setenv("DOS_LEASE_KEY", "any")
    for name in ("decisions answer", "down", "pause"):
        assert VERBS[name].allowed == PERSON
        with pytest.raises(NotPermitted, match=f"dos {name} is for people"):
            invoke(name, {"decision": "1", "choice": "x"} if "answer" in name else {}, context)


def test_a_verb_that_is_open_with_one_argument_is_open_with_that_alone(context, monkeypatch):
    monkeypatch.setenv("DOS_LEASE_KEY", "any")
    with pytest.raises(NotPermitted):
        invoke("hooks git", {"action": "status"}, context)


# Verbs that read nothing but their arguments and the workspace, and end at once.
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.text(max_size=3), VALUES)


@pytest.mark.parametrize("verb", ["verify", "arbitrate", "pickable", "cooldown", "limits"])
@given(data=st.data())
def test_any_values_give_an_answer_or_a_clear_error(repository, verb, data):
    known = [field.name for field in lookup.arguments(VERBS[verb])]
    keys = st.sampled_from(known) | st.text(max_size=8)
    arguments = data.draw(st.dictionaries(keys, VALUES, max_size=4))
    context = Context(workspace=str(repository.root))
    try:
        assert invoke(verb, arguments, context).code in lookup.exit_codes(VERBS[verb]).values()
    except DosError as error:
        assert error.message
    finally:
        context.close()
