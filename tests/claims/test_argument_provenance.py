"""Did an agent make up an identifier?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.claims.provenance import Evidence, Policy, Stance, is_mutating, judge

UUID = "550e8400-e29b-41d4-a716-446655440000"


def stance(value, *prior, slot="user_id", **more):
    verdict = judge(Evidence(tool="update_user", arguments={slot: value}, results=prior, **more))
    assert verdict.believe == (verdict.args[0].stance is not Stance.UNSUPPORTED)
    assert verdict.unsupported == ([] if verdict.believe else [slot])
    return verdict.args[0].stance


@pytest.mark.parametrize(
    ("tool", "mutates"),
    [
        ("update_user", True),
        ("updateUser", True),
        ("user-delete", True),
        ("user.set", True),
        ("createticket", True),
        ("mcp__crm__send_mail", True),
        ("get_user", False),
        ("list_users", False),
        ("search", False),
        ("", False),
    ],
)
def test_a_call_that_changes_something_is_known_by_its_verb(tool, mutates):
    assert is_mutating(tool) == mutates


@pytest.mark.parametrize(
    ("value", "prior", "found"),
    [
        ("usr_12345678", "usr_12345678", Stance.SUPPORTED),
        ("usr_12345678", "USR_12345678", Stance.SUPPORTED),
        ("usr_12345678", "number 12345678", Stance.SUPPORTED),
        ("usr_12345678", "1234", Stance.UNSUPPORTED),
        ("usr_12345678", "5678", Stance.UNSUPPORTED),
        ("usr_1234", "usr_12345678", Stance.UNSUPPORTED),
        ("1234", "12345678", Stance.UNSUPPORTED),
        ("12345678", "1234", Stance.UNSUPPORTED),
        ("INC0042", "ticket 42", Stance.SUPPORTED),
        ("INC0042", "ticket 420", Stance.UNSUPPORTED),
        ("INC-2024-77", "2024", Stance.UNSUPPORTED),
        ("INC-2024-77", "2024 and 77", Stance.SUPPORTED),
        ("a1b2c3", "a1b2c3d4", Stance.UNSUPPORTED),
        ("17", "user 17", Stance.SUPPORTED),
        ("17", "user 170", Stance.UNSUPPORTED),
        (4711, "4711", Stance.SUPPORTED),
        (4711, "0004711", Stance.SUPPORTED),
        (4711, "47110", Stance.UNSUPPORTED),
        ("sofia", "asked by Sofia", Stance.SUPPORTED),
        ("sofia", "nobody", Stance.UNSUPPORTED),
        (UUID, UUID.replace("-", ""), Stance.SUPPORTED),
        (UUID, "446655440000 and 550e8400", Stance.UNSUPPORTED),
        ("anna.berg92@example.com", "Anna Berg, example.com", Stance.SUPPORTED),
        ("anna.berg@example.com", "the mail server of example", Stance.UNSUPPORTED),
        ("anna.berg@example.com", "Anna Berg", Stance.UNSUPPORTED),
        (["usr_1111", "usr_2222"], "usr_1111 usr_2222", Stance.SUPPORTED),
        (["usr_1111", "usr_2222"], "usr_1111", Stance.UNSUPPORTED),
        ({"a": [{"ref": "usr_2222"}]}, "usr_1111", Stance.UNSUPPORTED),
        ([], "x", Stance.ABSTAIN),
        (None, "x", Stance.ABSTAIN),
        (True, "x", Stance.ABSTAIN),
    ],
)
def test_a_value_is_known_whole_or_in_every_part_that_carries_data(value, prior, found):
    assert stance(value, prior) is found


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-06",
        "2024-05-06T10:20:30Z",
        "10:20",
        "3.14",
        3.14,
        "1.2.3",
        "v2.0",
        "+4930123456",
        "555-123-4567",
        "1700000000000",
        "true",
        "none",
        "in-progress",
        "a few words 12",
        "high",
        "abc",
    ],
)
def test_what_says_how_much_when_or_what_is_no_identifier(value):
    assert stance(value, "something else", slot="field") is Stance.ABSTAIN


@pytest.mark.parametrize(
    ("slot", "found"),
    [
        ("price", Stance.ABSTAIN),
        ("page_size", Stance.ABSTAIN),
        ("ticket", Stance.UNSUPPORTED),
        ("orderId", Stance.UNSUPPORTED),
    ],
)
def test_a_bare_number_is_one_only_outside_of_quantities(slot, found):
    assert stance(5000, "something else", slot=slot) is found


def test_what_is_to_be_new_points_at_nothing():
    assert stance("usr_9999", "x", new_keys=["user_id"]) is Stance.ABSTAIN


def test_the_task_is_read_too_and_the_origin_is_told():
    evidence = Evidence(
        tool="close_ticket",
        arguments={"id": "T-4711"},
        results=["nothing"],
        task="Close T-4711, please.",
    )
    assert judge(evidence).args[0].matched_in == ["TASK_TEXT"]


@pytest.mark.parametrize(
    "seen",
    [
        Evidence(tool="get_user", arguments={"id": "usr_9999"}, results=["x"]),
        Evidence(tool="update_user", arguments={"id": "usr_9999"}, results=["x"], reads_only=True),
        Evidence(tool="update_user", arguments={"id": "usr_9999"}),
        Evidence(tool="update_user", arguments={"id": "usr_9999"}, results=["  "]),
    ],
)
def test_a_call_that_only_reads_or_has_nothing_behind_it_is_believed(seen):
    verdict = judge(seen)
    assert verdict.believe and all(arg.stance is Stance.ABSTAIN for arg in verdict.args)


def test_case_can_be_made_to_count():
    evidence = Evidence(tool="set_x", arguments={"id": "abc123"}, results=["ABC123 abc"])
    assert judge(evidence).believe
    assert judge(evidence, Policy(case_blind=False)).args[0].components_checked == ["123"]


digits = st.text("123456789", min_size=5, max_size=12)


@given(number=digits, start=st.integers(0, 12), length=st.integers(4, 12))
def test_a_piece_of_an_identifier_never_supports_the_whole(number, start, length):
    piece = number[start : start + length]
    if piece and piece != number:
        assert stance(f"usr_{number}", f"seen: {piece}") is Stance.UNSUPPORTED
        assert (
            stance(f"usr_{piece}" if len(piece) > 1 else f"usr_0{piece}x", f"seen: usr_{number}")
            is Stance.UNSUPPORTED
        )


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


@given(value=values, prior=st.text())
def test_any_arguments_are_judged(value, prior):
    verdict = judge(Evidence(tool="set_x", arguments={"a": value}, results=[prior]))
    assert verdict.reason and len(verdict.args) == 1
