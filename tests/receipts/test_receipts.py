"""What a receipt is as bytes: one way to write it, and no other thing that reads as one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.errors import BadInput
from dos.receipts import receipt as receipts
from dos.receipts.receipt import NotAReceipt, Receipt

COMMIT, TREE = "a" * 40, "b" * 40
TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)


def made(**known) -> Receipt:
    return receipts.unsigned_receipt(
        **({"commit": COMMIT, "tree": TREE, "timestamp": "2031-01-31T09:30:00Z"} | known)
    )


def written(**changed) -> bytes:
    return json.dumps(json.loads(receipts.canonical_bytes(made(exit_code=1))) | changed).encode()


@given(
    claim=TEXT,
    narrated=TEXT,
    command=st.lists(TEXT, max_size=3),
    code=st.none() | st.integers(-255, 255),
)
def test_what_is_written_is_read_back_and_written_the_same_way(claim, narrated, command, code):
    receipt = made(claim=claim, narrated=narrated, command=tuple(command), exit_code=code)
    data = receipts.canonical_bytes(receipts.validated(receipt))
    assert receipts.parse_receipt(data) == receipt
    assert receipts.parse_receipt(json.dumps(json.loads(data), indent=4).encode()) == receipt, (
        "however it is laid out"
    )
    assert receipts.canonical_bytes(receipts.parse_receipt(data)) == data


@given(one=TEXT, other=TEXT, cut=st.integers(0, 20))
def test_what_is_signed_tells_where_a_field_ends(one, other, cut):
    whole = one + other
    before, after = made(claim=one, narrated=other), made(claim=whole[:cut], narrated=whole[cut:])
    assert (before == after) == (receipts.signed_payload(before) == receipts.signed_payload(after))


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
        assert (receipts.signed_payload(other) == receipts.signed_payload(receipt)) == (
            name == "signature"
        ), name


@pytest.mark.parametrize("character", ["\n", "\0", "\x1b", "\x7f", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize(
    "field", ["claim", "narrated", "unit", "witness_surface", "target", "runner"]
)
def test_control_characters_are_refused_where_it_is_made_and_where_it_is_read(character, field):
    with pytest.raises(BadInput):
        receipts.validated(made(**{field: f"a{character}b"}))
    found = receipts.parse_receipt(written(**{field: f"a{character}b"}))
    assert isinstance(found, NotAReceipt) and not found.malformed


def test_the_words_of_a_command_are_texts_too():
    with pytest.raises(BadInput):
        receipts.validated(made(command=("sh", "-c", "a\nb")))


@pytest.mark.parametrize(
    "data",
    [
        written(exit_code=True), written(exit_code="1"), written(exit_code=1.0), written(exit_code=10**30),
        written(bound=0), written(bound="false"), written(bound=None), written(commits=""), written(commits=[1]),
        written(claim=None), written(claim=["x"]), written(added="x"), written(commit="A" * 40), written(tree="HEAD"),
        written(expires="soon"), written(started="2031-01-31"), written(ended="2031-01-31T09:30:00"),
        written(exit_code=7).replace(b'"exit_code": 7', b'"exit_code": -0'),
        written(exit_code=7).replace(b'"exit_code": 7', b'"exit_code": 7e0'),
        written(claim="x").replace(b'"claim": "x"', b'"claim": "\\ud800"'),
        json.dumps({"schema": receipts.SCHEMA}).encode(),
        json.dumps({"schema": receipts.RELEASED_SCHEMA, "signature": "00"}).encode(),
    ],
)  # fmt: skip
def test_what_was_a_receipt_and_was_changed_is_none(data):
    found = receipts.parse_receipt(data)
    assert isinstance(found, NotAReceipt) and not found.malformed


@pytest.mark.parametrize(
    "data",
    [
        b"", b"x", b"[]", b"1", b"1.5", b"-0", b'"x"', b"null", b"NaN", b"{}", b"\xff", b"\xef\xbb\xbf{}",
        b'{"schema":"other"}', b'{"schema":["dos.receipt@2"]}', b'{"schema":null}', b'{"schema":"\\ud800"}',
        b"[" * 200_000, b'{"a":' * 200_000, b"9" * 100_000, b" " * 2_000_000,
        written().replace(b'"claim": ""', b'"claim": "", "claim": ""'),
    ],
)  # fmt: skip
def test_what_could_not_be_a_receipt_is_malformed(data):
    found = receipts.parse_receipt(data)
    assert isinstance(found, NotAReceipt) and found.malformed


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_get_an_answer(data):
    assert isinstance(receipts.parse_receipt(data), NotAReceipt)


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
    assert isinstance(receipts.parse_receipt(json.dumps(value).encode()), NotAReceipt)
    answer = receipts.parse_receipt(written(**fields))
    assert isinstance(answer, Receipt | NotAReceipt)


def test_two_spellings_of_one_character_are_two_claims():
    composed, apart = "caf\u00e9", "cafe\u0301"
    assert receipts.signed_payload(made(claim=composed)) != receipts.signed_payload(
        made(claim=apart)
    )
    assert receipts.parse_receipt(written(claim=apart)).claim == apart, (
        "nothing is normalised on the way"
    )


def test_the_first_commits_name_a_repository_in_any_order():
    assert receipts.repository_digest(["a", "b"]) == receipts.repository_digest(["b", "a"])
    assert receipts.repository_digest(["a"]) != receipts.repository_digest(["a", "b"])


@pytest.mark.parametrize(
    ("text", "is_moment"),
    [("2031-01-31T09:30:00Z", True), ("2031-01-31T09:30:00+02:00", True), ("2031-01-31 09:30:00Z", False), ("", False),
     ("2031-01-31T09:30:00", False), ("20310131", False), ("9999999999", False)],
)  # fmt: skip
def test_a_moment_has_a_date_a_time_and_a_zone(text, is_moment):
    assert (receipts.parse_timestamp(text) is not None) == is_moment
