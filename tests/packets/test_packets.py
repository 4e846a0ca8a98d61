"""Packets: which units are picked, what the files hold, and whether the prompts are there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs, to_builtins

from dos.loop import gate
from dos.loop.gate import Gate
from dos.packets import packet, sidecar
from dos.packets.io.files import assert_packet_shippable
from dos.packets.packet import UnitCandidate
from dos.packets.sidecar import Pick, ReasonCode, shippable
from dos.units.unit import PlanClaim, Unit

HEADER = packet.PageHeader(
    tag="2026-01-31-1", root="/r", lanes=("api", "docs"), at="2026-01-31T00:00:00Z"
)


def candidate(name, *, claimed=PlanClaim.OPEN, title="a title", **more):
    unit = Unit(
        plan="A",
        id=name,
        title=title,
        claimed=claimed,
        document="docs/a-plan.md",
        paths=("src/a.py",),
    )
    return UnitCandidate(unit=unit, lane="api", prompt=f"do {name}", reserve=("api/**",), **more)


def picked(*candidates, limit=5):
    return [pick.phase_id for pick in packet.plan(candidates, limit).picks]


def test_units_are_picked_in_their_order_up_to_the_limit():
    plan = packet.plan([candidate(f"A{number}") for number in range(1, 8)], 3)
    assert [(pick.n, pick.phase_id) for pick in plan.picks] == [(1, "A1"), (2, "A2"), (3, "A3")]
    assert plan.left == 4
    assert sum(disposition.live for disposition in plan.dispositions) == 7
    assert to_builtins(plan.picks[0]) == {
        "n": 1, "plan_id": "A", "phase_id": "A1", "phase_title": "a title", "phase_chain": ["A1"],
        "doc_path": "docs/a-plan.md", "subagent_type": "general-purpose", "mode": "dispatch",
        "pick_kind": "unit",
        "files": ["src/a.py"], "gates_on": [], "reserve_paths": ["api/**"], "prompt_text": "do A1",
    }  # fmt: skip


def test_what_is_said_to_be_done_and_is_not_goes_last():
    assert picked(candidate("A1", claimed=PlanClaim.SHIPPED), candidate("A2")) == ["A2", "A1"]


def test_a_unit_that_waits_only_for_picks_of_the_packet_goes_with_them():
    plan = packet.plan(
        [
            candidate("A1"),
            candidate("A2", waits_for=("A/A1",)),
            candidate("A3", waits_for=("A/A9",)),
        ],
        5,
    )
    assert [(pick.phase_id, pick.gates_on) for pick in plan.picks] == [("A1", []), ("A2", ["A1"])]
    assert plan.dispositions[2].drop_reason == "dependency_unmet"


def test_a_unit_that_waits_for_one_that_did_not_fit_in_does_not_go():
    assert picked(
        candidate("A1"), candidate("A2"), candidate("A3", waits_for=("A/A2",)), limit=1
    ) == ["A1"]


@pytest.mark.parametrize(
    ("seen", "verdict", "disposition"),
    [
        (candidate("A1"), Gate.LIVE, {"live": True}),
        (
            candidate("A1", commit="abc", claimed=PlanClaim.SHIPPED),
            Gate.DRAIN,
            {"drop_reason": "shipped", "ship_sha": "abc"},
        ),
        (
            candidate("A1", commit="abc"),
            Gate.STALE_STAMP,
            {"drop_reason": "shipped", "ship_via": "direct", "plan_doc_stamped": False},
        ),
        (
            candidate("A1", taken_by="RID-1"),
            Gate.BLOCKED,
            {"drop_reason": "soft_claimed", "claim_tag": "RID-1"},
        ),
        (candidate("A1", held="OPERATOR_GATED"), Gate.DRAIN, {"drop_reason": "operator_gated"}),
        (candidate("A1", waits_for=("A/A0",)), Gate.DRAIN, {"drop_reason": "dependency_unmet"}),
    ],
)
def test_each_unit_has_a_disposition_that_the_gate_understands(seen, verdict, disposition):
    plan = packet.plan([seen], 5)
    assert plan.verdict.answer is verdict
    read = gate.dispositions(packet.encode_dispositions(plan, "t"), "t.json")
    assert read == plan.dispositions
    assert disposition.items() <= to_builtins(read[0]).items()
    assert gate.plan(gate.Packet(picks=read)) == plan.verdict


def test_nothing_in_scope_is_a_drain():
    assert packet.plan([], 5).verdict.answer is Gate.DRAIN


def test_the_page_shows_everything_and_each_pick_can_be_found_on_it_again():
    nasty = "~~~~\n### 9. A A9 — not a pick\n```\n<!--"
    units = [
        structs.replace(candidate("A1", title="with | a bar\nand lines"), prompt=nasty),
        candidate("A2", waits_for=("A/A1",)),
        candidate("A3", commit="0123456789abcdef"),
        candidate("A4", taken_by="RID-1"),
        candidate("A5", held="SOAK_OPEN", held_because="its soak has not ended: until 2027"),
    ]
    text = packet.render_page(packet.plan(units, 5), HEADER)
    assert packet.rendered_picks(text) == [(1, "A", "A1"), (2, "A", "A2")]
    for part in (
        "# Next up 2026-01-31-1", "- root: /r", "- lanes: api, docs", "- verdict: LIVE", nasty,
        "After: A1",
        "| A/A1 | api | live | with \\| a bar and lines |", "taken by RID-1", "until 2027",
        "- A/A3, by its landing: 0123456789abcdef",
    ):  # fmt: skip
        assert part in text


def test_an_empty_packet_says_so():
    assert "Nothing can be dispatched." in packet.render_page(packet.plan([], 5), HEADER)


picks = st.builds(
    Pick,
    n=st.integers(1, 5),
    plan_id=st.text(),
    phase_id=st.text(),
    gates_on=st.lists(st.text()),
    prompt_text=st.text(),
)


@given(st.lists(picks))
def test_prompts_are_read_as_they_were_written(some):
    assert sidecar.decode_prompts(sidecar.encode_prompts(some)) == tuple(some)


def test_a_pick_keeps_what_is_known_and_has_a_number_and_a_prompt():
    (pick,) = sidecar.decode_prompts(
        json.encode({"schema": sidecar.SCHEMA, "picks": [{"phase_id": "A1", "colour": "red"}]})
    )
    assert (pick.n, pick.phase_id, pick.prompt_text) == (1, "A1", "")


def sidecar_with(*bodies):
    return json.encode(
        {"schema": sidecar.SCHEMA, "picks": [{"prompt_text": body} for body in bodies]}
    )


@pytest.mark.parametrize(
    ("found", "count", "code", "empty"),
    [
        (None, 0, ReasonCode.OK, ()),
        (b"junk", -1, ReasonCode.OK, ()),
        (None, 1, ReasonCode.ABSENT, ()),
        (b"", 1, ReasonCode.CORRUPT, ()),
        (b"junk", 1, ReasonCode.CORRUPT, ()),
        (b"\xff", 1, ReasonCode.CORRUPT, ()),
        (b"[" * 100_000, 1, ReasonCode.CORRUPT, ()),
        (b"[]", 1, ReasonCode.CORRUPT, ()),
        (b'{"picks": []}', 1, ReasonCode.CORRUPT, ()),
        (b'{"schema": "next-up-prompts-v1", "picks": {}}', 1, ReasonCode.CORRUPT, ()),
        (b'{"schema": "next-up-prompts-v1", "picks": [3]}', 1, ReasonCode.CORRUPT, ()),
        (sidecar_with("do it"), 1, ReasonCode.OK, ()),
        (sidecar_with("do it", " \n", ""), 3, ReasonCode.EMPTY_BODIES, (2, 3)),
        (sidecar_with("do it", None), 2, ReasonCode.EMPTY_BODIES, (2,)),
        (sidecar_with("do it"), 2, ReasonCode.EMPTY_BODIES, (2,)),
    ],
)
def test_a_packet_ships_only_with_its_prompts(found, count, code, empty, tmp_path):
    answer = shippable(found, count)
    assert (answer.reason_code, answer.empty_body_picks, answer.refuse) == (
        code,
        empty,
        code is not ReasonCode.OK,
    )
    assert to_builtins(answer).keys() == {
        "refuse", "reason_code", "reason", "empty_body_picks", "rendered_pick_count",
    }  # fmt: skip
    if found is not None:
        (tmp_path / "next-up-1.prompts.json").write_bytes(found)
    assert assert_packet_shippable(tmp_path / "next-up-1.md", count) == answer
    assert assert_packet_shippable(str(tmp_path / "next-up-1.prompts.json"), count) == answer
