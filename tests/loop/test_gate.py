"""What kind of "nothing to dispatch" a packet is, and what the loop does about it."""

import json
from types import SimpleNamespace

import msgspec
import pytest
from amounts import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.errors import MalformedDisposition, StaleDispositionContract
from dos.loop import gate
from dos.loop.gate import Disposition, Gate, Mode, Packet, classify, gate_policy

LIVE = {"phase": "A1", "live": True}
STALE = {"phase": "A2", "drop_reason": "shipped", "ship_via": "direct", "plan_doc_stamped": False}
CLAIMED = {"phase": "A3", "drop_reason": "soft_claimed"}
NO_QUOTA = {"phase": "A4", "drop_reason": "quota_blocked"}
SHIPPED = {"phase": "A5", "drop_reason": "shipped"}


@pytest.mark.parametrize(
    ("picks", "answer", "shown"),
    [
        ([], Gate.DRAIN, []),
        ([LIVE], Gate.LIVE, ["A1"]),
        ([STALE, CLAIMED, LIVE], Gate.LIVE, ["A1"]),
        ([STALE], Gate.STALE_STAMP, ["A2"]),
        ([CLAIMED, STALE], Gate.STALE_STAMP, ["A2"]),
        ([CLAIMED], Gate.BLOCKED, ["A3"]),
        ([NO_QUOTA, SHIPPED, CLAIMED], Gate.BLOCKED, ["A4", "A3"]),
        ([SHIPPED], Gate.DRAIN, []),
        ([{"phase": "A", "drop_reason": "another"}], Gate.DRAIN, []),
        ([{**STALE, "ship_via": "grep"}], Gate.DRAIN, []),
        ([{**STALE, "ship_via": ""}], Gate.DRAIN, []),
        ([{**STALE, "ship_via": "DIRECT"}], Gate.DRAIN, []),
        ([{**STALE, "plan_doc_stamped": True}], Gate.DRAIN, []),
        ([{**STALE, "plan_doc_stamped": None}], Gate.DRAIN, []),
        ([{**STALE, "drop_reason": "soft_claimed"}], Gate.BLOCKED, ["A2"]),
    ],
)
def test_a_packet_is_classified_by_its_picks(picks, answer, shown):
    verdict = classify(picks)
    assert verdict.answer is answer
    assert [pick.phase for pick in verdict.evidence] == shown
    assert verdict.is_false_drain == (answer in (Gate.STALE_STAMP, Gate.BLOCKED))
    assert verdict.reason


def test_a_race_is_a_race_whatever_the_picks_say():
    verdict = gate.plan(Packet(picks=(Disposition(phase="A1", live=True),), raced=True))
    assert verdict.answer is Gate.RACE and verdict.is_false_drain
    assert gate.plan(Packet(picks=(Disposition(phase="A1", live=True),))).answer is Gate.LIVE


@pytest.mark.parametrize(
    ("pick", "series", "phase"),
    [
        ({"phase": "AUTH12"}, "AUTH", "AUTH12"),
        ({"phase_id": "AUTH1.2"}, "AUTH", "AUTH1.2"),
        ({"phase": "12"}, "12", "12"),
        ({"phase": "A1", "series": "Z"}, "Z", "A1"),
        ({"phase": "A1", "series": None}, "A", "A1"),
        (SimpleNamespace(phase="A1", live=True), "A", "A1"),
        (SimpleNamespace(phase_id="A1"), "A", "A1"),
        (Disposition(phase="A1"), "A", "A1"),
    ],
)
def test_a_pick_is_a_record_an_object_or_a_dict(pick, series, phase):
    found = gate.disposition(pick)
    assert (found.series, found.phase) == (series, phase)


@pytest.mark.parametrize(
    "pick",
    [
        {},
        {"phase": ""},
        {"phase": " "},
        {"phase": 5},
        {"live": True},
        None,
        5,
        "A1",
        ["A1"],
        {"phase": "A1", "live": "false"},
        {"phase": "A1", "live": 1},
        {"phase": "A1", "plan_doc_stamped": "no"},
        {"phase": "A1", "drop_reason": 3},
        SimpleNamespace(live=True),
    ],
)
def test_a_pick_that_says_nothing_clear_is_an_error(pick):
    with pytest.raises(MalformedDisposition, match="pick 2"):
        classify([LIVE, pick])


@pytest.mark.parametrize(
    ("pick", "said"),
    [
        ({"x": None}, """pick 1 has no phase: '{"x": null}'"""),
        (True, "pick 1 has no phase: 'true'"),
        ("A1", "pick 1 has no phase: 'A1'"),
        ({"phase": "A1", "drop_reason": True}, "pick 1 ('A1'): drop_reason is 'true'"),
        ({"phase": "A1", "live": "yes"}, "pick 1 ('A1'): live is 'yes'"),
    ],
)
def test_a_pick_that_is_an_error_is_shown_as_it_was_written(pick, said):
    with pytest.raises(MalformedDisposition) as error:
        classify([pick])
    assert str(error.value) == said


def test_the_json_has_the_published_keys():
    assert json.loads(msgspec.json.encode(classify([CLAIMED]))) == {
        "verdict": "BLOCKED",
        "reason": classify([CLAIMED]).reason,
        "evidence": [{"series": "A", "phase": "A3", "live": False, "drop_reason": "soft_claimed"}],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "schema"),
        ("{}", "schema"),
        ('{"schema": "oc3-dispositions-v2", "dispositions": []}', "schema"),
        ('{"schema": "oc3-dispositions-v1"}', "no list"),
        ('{"schema": "oc3-dispositions-v1", "dispositions": {}}', "no list"),
        ("[" * 5000, "not JSON"),
    ],
)
def test_a_file_of_another_shape_is_an_error_and_never_a_drain(text, said):
    with pytest.raises(StaleDispositionContract, match=said):
        gate.dispositions(text, "x.json")


@pytest.mark.parametrize(
    ("text", "race"),
    [
        ('{"schema": "next-up-race-v1"}', True),
        ('{"schema": "next-up-race-v2"}', False),
        ("[]", False),
        ("", False),
        ("{", False),
        (b"\xff\xfe", False),
    ],
)
def test_only_a_readable_race_file_says_that_there_was_a_race(text, race):
    assert gate.is_race(text) is race


NEXT = [
    # gate, mode, next_mode, reconcile, counts, surface
    (Gate.LIVE, "hard", "dispatch", False, False, False),
    (Gate.DRAIN, "hard", "replan", False, True, False),
    (Gate.STALE_STAMP, "hard", "replan", False, False, False),
    (Gate.BLOCKED, "hard", "replan", False, False, False),
    (Gate.RACE, "hard", "dispatch", False, False, True),
    (Gate.LIVE, "soft", "dispatch", False, False, False),
    (Gate.DRAIN, "soft", "stop", False, True, True),
    (Gate.STALE_STAMP, "soft", "dispatch", True, False, False),
    (Gate.BLOCKED, "soft", "stop", False, False, True),
    (Gate.RACE, "soft", "dispatch", False, False, True),
]


@pytest.mark.parametrize(("found", "mode", "next_mode", "reconcile", "counts", "surface"), NEXT)
def test_what_follows_from_a_gate(found, mode, next_mode, reconcile, counts, surface):
    policy = gate_policy(found, mode)
    assert (policy.next_mode, policy.reconcile) == (next_mode, reconcile)
    assert (policy.counts_toward_drain, policy.surface) == (counts, surface)


@pytest.mark.parametrize("found", Gate)
def test_drive_is_soft_and_hard_is_meant_when_nothing_is_said(found):
    assert gate_policy(found, Mode.DRIVE) == gate_policy(found, Mode.SOFT)
    assert gate_policy(found) == gate_policy(found, Mode.HARD)


@pytest.mark.parametrize("mode", ["", "HARD", "medium"])
def test_a_mode_that_is_none_is_an_error(mode):
    with pytest.raises(ValueError, match="mode"):
        gate_policy(Gate.LIVE, mode)


def test_the_older_name_is_the_same_gate_and_its_text_is_none():
    assert Gate.WEDGE is Gate.BLOCKED
    with pytest.raises(ValueError, match="WEDGE"):
        Gate("WEDGE")


PICKS = st.lists(
    st.builds(
        Disposition,
        phase=st.sampled_from(["A1", "A2", "B1"]),
        live=st.booleans(),
        drop_reason=st.sampled_from(["", "shipped", "soft_claimed", "quota_blocked", "other"]),
        ship_via=st.sampled_from(["", "direct", "grep", "registry", "Direct"]),
        plan_doc_stamped=st.booleans(),
    ),
    max_size=5,
)


def check_weak_evidence(picks, shuffled):
    answer = classify(picks).answer
    proven = any(
        p.drop_reason == "shipped" and p.ship_via == "direct" and not p.plan_doc_stamped
        for p in picks
    )
    assert answer is not Gate.STALE_STAMP or proven
    assert classify(shuffled).answer is answer
    assert answer is not Gate.DRAIN or not any(
        p.live or p.drop_reason.endswith(("claimed", "blocked")) for p in picks
    )


@given(PICKS.flatmap(lambda picks: st.tuples(st.just(picks), st.permutations(picks))))
def test_weak_evidence_of_a_ship_is_never_a_stale_stamp_and_the_order_of_picks_does_not_matter(
    drawn,
):
    check_weak_evidence(*drawn)


@pytest.mark.soak
@settings(max_examples=EXAMPLES)
@given(PICKS.flatmap(lambda picks: st.tuples(st.just(picks), st.permutations(picks))))
def test_weak_evidence_is_never_a_stale_stamp_in_many_packets(drawn):
    check_weak_evidence(*drawn)
