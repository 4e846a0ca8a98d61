"""What a receipt is as bytes: one way to write it, and no other thing that reads as one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.errors import BadInput
from dos.receipts.receipt import (
    RELEASED_SCHEMA,
    SCHEMA,
    SECOND_SCHEMA,
    NotAReceipt,
    Receipt,
    canonical_bytes,
    parse_receipt,
    parse_timestamp,
    repository_digest,
    signed_payload,
    unsigned_receipt,
    validated,
)

COMMIT, TREE = "a" * 40, "b" * 40
TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)


def made(**known) -> Receipt:
    return unsigned_receipt(
        **({"commit": COMMIT, "tree": TREE, "timestamp": "2031-01-31T09:30:00Z"} | known)
    )


def written(**changed) -> bytes:
    return json.dumps(json.loads(canonical_bytes(made(exit_code=1))) | changed).encode()


@given(
    claim=TEXT,
    narrated=TEXT,
    command=st.lists(TEXT, max_size=3),
    code=st.none() | st.integers(-255, 255),
)
def test_what_is_written_is_read_back_and_written_the_same_way(claim, narrated, command, code):
    receipt = made(claim=claim, narrated=narrated, command=tuple(command), exit_code=code)
    data = canonical_bytes(validated(receipt))
    assert parse_receipt(data) == receipt
    assert parse_receipt(json.dumps(json.loads(data), indent=4).encode()) == receipt, (
        "however it is laid out"
    )
    assert canonical_bytes(parse_receipt(data)) == data


@given(one=TEXT, other=TEXT, cut=st.integers(0, 20))
def test_what_is_signed_tells_where_a_field_ends(one, other, cut):
    whole = one + other
    before, after = made(claim=one, narrated=other), made(claim=whole[:cut], narrated=whole[cut:])
    assert (before == after) == (signed_payload(before) == signed_payload(after))


def test_the_signature_is_the_only_field_that_is_not_signed():
    receipt = made()
    for name in Receipt.__struct_fields__:
        value = getattr(receipt, name)
        other = made(
            **{
                name: not value
                if isinstance(value, bool)
                else ("x",)
                if isinstance(value, tuple)
                else "x"
            }
        )
        assert (signed_payload(other) == signed_payload(receipt)) == (name == "signature"), name


@pytest.mark.parametrize("character", ["\n", "\0", "\x1b", "\x7f", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize(
    "field", ["claim", "narrated", "unit", "witness_surface", "target", "runner"]
)
def test_control_characters_are_refused_where_it_is_made_and_where_it_is_read(character, field):
    with pytest.raises(BadInput):
        validated(made(**{field: f"a{character}b"}))
    receipt = parse_receipt(written(**{field: f"a{character}b"}))
    assert isinstance(receipt, NotAReceipt) and not receipt.malformed


def test_the_words_of_a_command_are_texts_too():
    with pytest.raises(BadInput):
        validated(made(command=("sh", "-c", "a\nb")))


@pytest.mark.parametrize(
    "data",
    [
        written(exit_code=True),
        written(exit_code="1"),
        written(exit_code=1.0),
        written(exit_code=10**30),
        written(bound=0),
        written(bound="false"),
        written(bound=None),
        written(commits=""),
        written(commits=[1]),
        written(claim=None),
        written(claim=["x"]),
        written(added="x"),
        written(commit="A" * 40),
        written(tree="HEAD"),
        written(expires="soon"),
        written(started="2031-01-31"),
        written(ended="2031-01-31T09:30:00"),
        written(exit_code=7).replace(b'"exit_code": 7', b'"exit_code": -0'),
        written(exit_code=7).replace(b'"exit_code": 7', b'"exit_code": 7e0'),
        written(claim="x").replace(b'"claim": "x"', b'"claim": "\\ud800"'),
        json.dumps({"schema": SCHEMA}).encode(),
        json.dumps({"schema": RELEASED_SCHEMA, "signature": "00"}).encode(),
    ],
)
def test_what_was_a_receipt_and_was_changed_is_none(data):
    receipt = parse_receipt(data)
    assert isinstance(receipt, NotAReceipt) and not receipt.malformed


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"[]",
        b"1",
        b"1.5",
        b"-0",
        b'"x"',
        b"null",
        b"NaN",
        b"{}",
        b"\xff",
        b"\xef\xbb\xbf{}",
        b'{"schema":"other"}',
        b'{"schema":["dos.receipt@2"]}',
        b'{"schema":null}',
        b'{"schema":"\\ud800"}',
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 100_000,
        b" " * 2_000_000,
        written().replace(b'"claim": ""', b'"claim": "", "claim": ""'),
    ],
)
def test_what_could_not_be_a_receipt_is_malformed(data):
    receipt = parse_receipt(data)
    assert isinstance(receipt, NotAReceipt) and receipt.malformed


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_get_an_answer(data):
    assert isinstance(parse_receipt(data), NotAReceipt)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    ANYTHING,
    st.dictionaries(st.sampled_from(Receipt.__struct_fields__), ANYTHING, min_size=1, max_size=4),
)
def test_any_json_gets_an_answer(value, fields):
    assert isinstance(parse_receipt(json.dumps(value).encode()), NotAReceipt)
    answer = parse_receipt(written(**fields))
    assert isinstance(answer, Receipt | NotAReceipt)


def test_two_spellings_of_one_character_are_two_claims():
    composed, apart = "caf\u00e9", "cafe\u0301"
    assert signed_payload(made(claim=composed)) != signed_payload(made(claim=apart))
    assert parse_receipt(written(claim=apart)).claim == apart, "nothing is normalised on the way"


def test_the_first_commits_name_a_repository_in_any_order():
    assert repository_digest(["a", "b"]) == repository_digest(["b", "a"])
    assert repository_digest(["a"]) != repository_digest(["a", "b"])


@pytest.mark.parametrize(
    ("text", "is_moment"),
    [
        ("2031-01-31T09:30:00Z", True),
        ("2031-01-31T09:30:00+02:00", True),
        ("2031-01-31 09:30:00Z", False),
        ("", False),
        ("2031-01-31T09:30:00", False),
        ("20310131", False),
        ("9999999999", False),
    ],
)
def test_a_moment_has_a_date_a_time_and_a_zone(text, is_moment):
    assert (parse_timestamp(text) is not None) == is_moment


# The schema before

FIELDS_OF_THE_SECOND = {
    "schema", "claim", "unit", "narrated", "repo", "commit", "tree", "base", "commits", "target",
    "ancestor", "survives", "region", "region_root", "paths_in_region", "command", "command_digest",
    "command_source", "bound", "exit_code", "output_digest", "started", "ended", "runner", "nonce",
    "expires", "witness_surface", "witness_author", "accountability_tier", "verdict", "believe",
    "refuted", "timestamp", "algorithm", "key_id", "signature",
}  # fmt: skip


def test_a_receipt_of_the_schema_before_is_read_and_encodes_to_the_bytes_that_were_signed():
    old = made(schema=SECOND_SCHEMA, claim="x", exit_code=0)
    data = canonical_bytes(old)
    assert set(json.loads(data)) == FIELDS_OF_THE_SECOND
    assert parse_receipt(data) == old and canonical_bytes(parse_receipt(data)) == data
    assert b"tells_apart" not in signed_payload(old)


@pytest.mark.parametrize("field", ["tells_apart", "base_tree", "agent"])
def test_no_field_of_the_new_schema_can_be_added_to_it(field):
    new = json.loads(canonical_bytes(made()))
    old = json.loads(canonical_bytes(made(schema=SECOND_SCHEMA)))
    for value in (new[field], True, "x"):
        answer = parse_receipt(json.dumps(old | {field: value}).encode())
        assert isinstance(answer, NotAReceipt)


def test_none_can_be_left_out_of_a_new_one():
    new = json.loads(canonical_bytes(made()))
    for field in set(new) - FIELDS_OF_THE_SECOND:
        shorter = {name: value for name, value in new.items() if name != field}
        assert isinstance(parse_receipt(json.dumps(shorter).encode()), NotAReceipt)
