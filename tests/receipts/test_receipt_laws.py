"""A signed receipt holds as it is, and in no other form; and only where it belongs."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("cryptography")

from dos import workspace
from dos.receipts.check import Evidence, RepositoryState, judge
from dos.receipts.io import keys
from dos.receipts.io.find import gather_evidence
from dos.receipts.io.signatures import Signer, load_signer
from dos.receipts.receipt import (
    NotAReceipt,
    Receipt,
    canonical_bytes,
    parse_receipt,
    unsigned_receipt,
)
from dos.unknown import Unknown

TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12)
FIELDS = Receipt.__struct_fields__
TEXTS = [name for name in FIELDS if Receipt.__annotations__[name] is str]
OTHER = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.floats(allow_nan=False),
    TEXT,
    st.lists(TEXT, max_size=2),
    st.sampled_from(["true", "false", "1", "0", "null", "", "ED25519", "none"]),
)


@pytest.fixture(scope="module")
def runner(tmp_path_factory) -> Signer:
    path = tmp_path_factory.mktemp("keys") / "key"
    keys.make_key(path)
    return load_signer(path, workspace.find(tmp_path_factory.mktemp("elsewhere")))


def signed(runner: Signer, **known) -> dict[str, object]:
    fixed = {
        "commit": "a" * 40,
        "tree": "b" * 40,
        "base": "c" * 40,
        "timestamp": "2031-01-31T09:30:00Z",
    }
    receipt = runner.sign(
        unsigned_receipt(
            **(fixed | {"verdict": "REFUTED", "exit_code": 1, "refuted": True} | known)
        )
    )
    return json.loads(canonical_bytes(receipt))


def holds(found: dict[str, object], runner: Signer) -> bool:
    receipt = parse_receipt(json.dumps(found).encode())
    if isinstance(receipt, NotAReceipt):
        return False
    return judge(gather_evidence(receipt, [runner.key], None)).valid


@given(claim=TEXT, narrated=TEXT, unit=TEXT, bound=st.booleans())
def test_it_holds_as_it_was_signed(runner, claim, narrated, unit, bound):
    assert holds(signed(runner, claim=claim, narrated=narrated, unit=unit, bound=bound), runner)


@settings(max_examples=400)
@given(narrated=TEXT, name=st.sampled_from(FIELDS), value=OTHER)
def test_any_other_value_in_any_field_breaks_it(runner, narrated, name, value):
    whole = signed(runner, narrated=narrated)
    assume((type(value), value) != (type(whole[name]), whole[name]))
    assert not holds(whole | {name: value}, runner)


@settings(max_examples=300)
@given(
    one=st.sampled_from(TEXTS),
    other=st.sampled_from(TEXTS),
    count=st.integers(1, 6),
    claim=TEXT,
    narrated=TEXT,
)
def test_bytes_that_wander_between_fields_break_it(runner, one, other, count, claim, narrated):
    whole = signed(runner, claim=claim, narrated=narrated)
    giver, taker = str(whole[one]), str(whole[other])
    moved = whole | {one: giver[:-count], other: giver[-count:] + taker}
    assume(moved != whole)
    assert not holds(moved, runner)


@given(pair=st.lists(st.sampled_from(FIELDS), min_size=2, max_size=2, unique=True))
def test_two_fields_that_change_places_break_it(runner, pair):
    whole = signed(runner, claim="x", narrated="y")
    one, other = pair
    assume(json.dumps(whole[one]) != json.dumps(whole[other]))
    assert not holds(whole | {one: whole[other], other: whole[one]}, runner)


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_that_is_left_out_breaks_it(runner, name):
    whole = signed(runner)
    del whole[name]
    assert not holds(whole, runner)


@given(name=TEXT, value=OTHER)
def test_a_field_that_is_added_breaks_it(runner, name, value):
    whole = signed(runner)
    assume(name not in whole)
    assert not holds(whole | {name: value}, runner)


@given(at=st.integers(0, 127), digit=st.sampled_from("0123456789abcdefABCDEF \u0660"))
def test_any_other_signature_breaks_it(runner, at, digit):
    whole = signed(runner)
    signature = str(whole["signature"])
    assume(signature[at] != digit)
    assert not holds(whole | {"signature": signature[:at] + digit + signature[at + 1 :]}, runner)
    assert not holds(whole | {"signature": signature.upper()}, runner)


HERE = RepositoryState(repo="r", tree="b" * 40, on_target=True, base_holds=True)
NOW = datetime(2031, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("known", "seen", "why"),
    [
        ({}, {}, ""),
        ({"algorithm": "none"}, {}, "without a signature"),
        ({"algorithm": "HMAC-SHA256"}, {}, "HMAC-SHA256"),
        ({"signature": ""}, {}, "no signature"),
        ({}, {"key_trusted": False}, "is not trusted"),
        ({}, {"signed": False}, "the signature does not match"),
        ({"expires": "2031-01-31T00:00:00Z"}, {}, "expired"),
        ({"expires": "2031-02-01T00:00:01Z"}, {}, ""),
        ({"expires": "2031-02-01T02:00:01+02:00"}, {}, ""),
        ({}, {"wanted_commit": "d" * 40}, "commit"),
        ({}, {"wanted_unit": "A/B"}, "unit"),
        (
            {},
            {"repository": RepositoryState(repo="", tree=None, on_target=False, base_holds=False)},
            "not in this repository",
        ),
        (
            {},
            {
                "repository": RepositoryState(
                    repo="other", tree="b" * 40, on_target=True, base_holds=True
                )
            },
            "another repository",
        ),
        (
            {},
            {
                "repository": RepositoryState(
                    repo=Unknown("shallow"), tree="b" * 40, on_target=True, base_holds=True
                )
            },
            "cannot tell whether",
        ),
        (
            {},
            {
                "repository": RepositoryState(
                    repo="r", tree="e" * 40, on_target=True, base_holds=True
                )
            },
            "tree",
        ),
        (
            {},
            {
                "repository": RepositoryState(
                    repo="r", tree="b" * 40, on_target=True, base_holds=False
                )
            },
            "base",
        ),
        (
            {},
            {
                "repository": RepositoryState(
                    repo="r", tree="b" * 40, on_target=False, base_holds=True
                )
            },
            "does not hold",
        ),
        (
            {},
            {
                "repository": RepositoryState(
                    repo="r", tree="b" * 40, on_target=Unknown("gone"), base_holds=True
                )
            },
            "cannot tell whether",
        ),
        (
            {"paths_in_region": True},
            {
                "repository": RepositoryState(
                    repo="r", tree="b" * 40, on_target=True, base_holds=True, strays=("x",)
                )
            },
            "outside",
        ),
    ],
)
def test_where_it_is_believed(known, seen, why):
    receipt = unsigned_receipt(
        **(
            {
                "commit": "a" * 40,
                "tree": "b" * 40,
                "base": "c" * 40,
                "repo": "r",
                "target": "refs/heads/main",
                "algorithm": "ED25519",
                "signature": "s",
                "verdict": "CONFIRMED",
                "bound": True,
            }
            | known
        )
    )
    answer = judge(
        Evidence(
            **(
                {
                    "receipt": receipt,
                    "now": NOW,
                    "key_trusted": True,
                    "signed": True,
                    "repository": HERE,
                }
                | seen
            )
        )
    )
    assert answer.valid == (not why)
    assert why in answer.reason
    assert answer.bound == answer.valid


def test_without_a_repository_it_says_that_only_the_signature_was_checked():
    receipt = unsigned_receipt(algorithm="ED25519", signature="s", verdict="REFUTED")
    answer = judge(Evidence(receipt=receipt, now=NOW, key_trusted=True, signed=True))
    assert (answer.valid, answer.adverse, answer.checked) == (True, True, ("signature",))
    assert "only the signature" in answer.reason
