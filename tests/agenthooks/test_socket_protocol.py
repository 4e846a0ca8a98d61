"""The line protocol of the hook sockets: what is written is read, and all else is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.agenthooks import socket_protocol as protocol
from dos.errors import BadInput

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(-(2**53), 2**53)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@given(TEXTS, TEXTS, OBJECTS)
def test_a_hook_request_is_read_as_it_was_written(moment, dialect, event):
    line = protocol.hook_request(moment, dialect, event)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    request = protocol.parse_request(line)
    assert (request.ask, request.moment, request.dialect) == ("hook", moment, dialect)
    assert request.event == event


@given(OBJECTS)
def test_a_verb_request_is_read_as_it_was_written(arguments):
    request = protocol.parse_request(protocol.verb_request("verify", arguments))
    assert (request.ask, request.arguments) == ("verify", arguments)


@given(TEXTS, TEXTS)
def test_a_reply_is_one_line_of_json(stdout, stderr):
    line = protocol.hook_reply(stdout, stderr)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"stdout": stdout, "stderr": stderr}


@given(st.binary(max_size=200))
def test_no_line_does_worse_than_be_refused(line):
    try:
        protocol.parse_request(line)
    except BadInput as refusal:
        assert protocol.error_reply(refusal).count(b"\n") == 1


REFUSED = {
    "no JSON": b"hook pretool",
    "no object": b"[1]",
    "no version": b'{"ask":"hook"}',
    "another version": b'{"v":2,"ask":"hook"}',
    "no question": b'{"v":1,"ask":""}',
    "an event that is no object": b'{"v":1,"ask":"hook","event":[]}',
    "who it claims to be": b'{"v":1,"ask":"hook","pid":1}',
    "an environment": b'{"v":1,"ask":"hook","environment":{"DOS_LEASE_KEY":"k"}}',
    "too deep": b'{"v":1,"ask":"hook","event":' + b'{"a":' * 100_000,
    "too long": b'{"v":1,"ask":"hook","moment":"' + b"x" * protocol.LONGEST_REQUEST + b'"}',
}


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED)
def test_a_request_is_refused_for(line):
    with pytest.raises(BadInput):
        protocol.parse_request(line)
