"""One table of reasons: complete, without doubles, and of one mind with those who decide."""

import re
from pathlib import Path

import pytest

import dos
from dos.agenthooks.tool_stream import State as StreamState
from dos.backlog import pickable
from dos.claims import result
from dos.config.schema import MORPHOLOGY
from dos.lease import RefusalReason
from dos.loop.decide import needs
from dos.loop.types import StopReason, WorkerStop
from dos.packets.sidecar import ReasonCode
from dos.reasons import policy, table
from dos.reasons.policy import built_in_tokens
from dos.reasons.rows import CAUSE_KEYS
from dos.reasons.table import Category, ClearsBy, Kind, Reason, Registry
from dos.verbs.listing.table import VERBS

OF_LANES = [
    "LANE_DRAINED",
    "LANE_BLOCKED_ON_SOAK_GATED_PHASES",
    "LANE_LEASE_HELD_BY_LIVE_DISPATCH_LOOP",
    "LANE_ALL_BLOCKED_OR_STALE_STAMP",
    "LANE_BLOCKED_ON_OPERATOR_DECISION",
    "LANE_ALL_INFLIGHT_OR_DEFERRED",
    "LANE_ALL_SHIPPED_INFLIGHT_OR_STALE_STAMP",
    "RENDERER_SIDECAR_DROPPED",
    "SCHEMA_UNREADABLE",
]
SIDECARS = [code for code in ReasonCode if code is not ReasonCode.OK]
RESULTS = [
    "RESULT_EMPTY",
    *(
        f"RESULT_DEAD_{each}"
        for each in result.FailureClass
        if each is not result.FailureClass.NONE
    ),
]
STOPS = [*StopReason, *WorkerStop]
SRC = Path(dos.__file__).parent
_GIVEN = re.compile(r'(?:reason_class=|^[A-Z_]+ = )f?"([A-Z]+_[A-Z_]+)[{"]', re.MULTILINE)


def given_for_calls():
    """The tokens that the modules about tool calls write out; `TOOL_STREAM_` begins two."""
    for folder in ("permission", "agenthooks", "agents", "fleet"):
        for path in (SRC / folder).rglob("*.py"):
            text = path.read_text()
            if "HookAnswered(" in text or re.search(r"\b(?:Deny|Allow)\(", text):
                yield from _GIVEN.findall(text)


REPEATED = [f"TOOL_STREAM_{state}" for state in StreamState if state is not StreamState.ADVANCING]
CALLS = sorted({*given_for_calls()} - {"TOOL_STREAM_"}) + REPEATED


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        *(
            (token, Kind.REFUSAL)
            for token in (*RefusalReason, *sorted(OF_LANES), *sorted(SIDECARS))
        ),
        *((token, Kind.HOLD) for token in pickable.Answer),
        *(
            (token, Kind.CAUSE)
            for token in sorted(CAUSE_KEYS)
            if token != "lane_all_inflight_or_deferred"
        ),
        *((token, Kind.RESULT) for token in sorted(RESULTS)),
        *((token, Kind.STOP) for token in STOPS),
        *((token, Kind.CALL) for token in CALLS),
    ],
)
def test_every_token_that_somebody_uses_has_exactly_one_row(token, kind):
    rows = [row for row in table.TABLE if row.token.upper() == token.upper()]
    assert [row.kind for row in rows] == [kind], f"{token} belongs in reasons/rows.py"
    assert table.find(token) is rows[0]
    assert rows[0].refusal == (kind not in (Kind.STOP, Kind.CALL))


def test_no_row_is_there_for_nothing():
    used = {
        *RefusalReason,
        *OF_LANES,
        *SIDECARS,
        *pickable.Answer,
        *CAUSE_KEYS,
        *RESULTS,
        *STOPS,
        *CALLS,
    }
    assert {row.token.upper() for row in table.TABLE} == {token.upper() for token in used}
    assert {row.token.upper() for row in table.TABLE} == built_in_tokens()


NOBODY = {"iteration-cap", "complete", "drained-twice", "drain-requested", "lease-lost"}
TIME = {"rate-limited", "consecutive-overloaded", "pick-cooldown", "lane-held", "journal-away"}
ENVIRONMENT = {"launch-failed", "consecutive-unclear", "not-ready"}


@pytest.mark.parametrize("token", STOPS)
def test_a_stop_says_who_is_needed(token):
    groups = {"nobody": NOBODY, "time": TIME, "environment": ENVIRONMENT}
    assert needs(token) == next(
        (who for who, tokens in groups.items() if token in tokens), "operator"
    )


@pytest.mark.parametrize("row", table.TABLE, ids=lambda row: row.token)
def test_a_reason_says_what_it_means_and_names_only_verbs_that_exist(row):
    assert row.message.endswith(".")
    assert row.fix or row.token == "complete"
    for words in re.findall(r"`dos ([^`]*)`", row.fix):
        assert any(words == name or words.startswith(f"{name} ") for name in VERBS), words


@pytest.mark.parametrize("row", table.TABLE, ids=lambda row: row.token)
def test_what_a_person_has_to_clear_does_not_succeed_by_trying_again(row):
    if row.kind is not Kind.STOP:
        assert row.retryable == (
            row.clears_by in (ClearsBy.TIME, ClearsBy.OTHER_WORKER, ClearsBy.REPLAN)
        )
    assert not (row.retryable and row.needs == "operator")


@pytest.mark.parametrize("token", ["lane_held", " LANE_HELD ", "Lane_Held"])
def test_tokens_are_found_in_any_case(token):
    assert table.find(token).token == "LANE_HELD"


def test_an_unknown_token_is_not_found_and_refuses():
    assert table.find("NEVER_HEARD_OF") is None
    assert table.BUILT_IN.category_for("NEVER_HEARD_OF") is Category.UNCLASSIFIED
    assert table.BUILT_IN.is_refusal("NEVER_HEARD_OF")
    assert not table.BUILT_IN.is_refusal("drain")
    assert table.BUILT_IN.category_for("lane_drained") is Category.TRUE_DRAIN


def test_a_registry_grows_by_new_tokens_only():
    more = table.BUILT_IN.extend(
        [Reason(token="VENDOR", category=Category.MISROUTE, message="", refusal=False)]
    )
    assert more.find("vendor").needs == "operator" and not more.is_refusal("VENDOR")
    assert table.find("VENDOR") is None
    with pytest.raises(ValueError, match="twice"):
        more.extend([Reason(token="vendor", category=Category.MISROUTE, message="")])
    with pytest.raises(ValueError, match="twice"):
        Registry([*table.TABLE, table.TABLE[0]])


@pytest.mark.parametrize(
    ("token", "category"), [("", "MISROUTE"), (" ", "MISROUTE"), ("X", "NOSUCH"), ("X", "")]
)
def test_a_reason_without_a_token_or_of_no_category_is_an_error(token, category):
    with pytest.raises(ValueError, match="reason"):
        Reason(token=token, category=category, message="")


def test_what_a_workspace_declares_is_in_its_table():
    declared = {
        "VENDOR": policy.Reason(category="OPERATOR_GATE", fix="Call them.", see_also=("x",))
    }
    workspace = policy.registry(declared).find("vendor")
    assert (workspace.category, workspace.fix, workspace.see_also) == (
        Category.OPERATOR_GATE,
        "Call them.",
        ("x",),
    )


REMEDIES = {
    "/replan": "lane_soak_gated lane_all_inflight_or_deferred child_parked_pre_step9_no_envelope"
    " data_gated_closeout uncategorized_nonship",
    "": "operator_decision",
    "/unstick": "stale_claim_false_block ship_oracle_false_positive lying_verdict_token"
    " preflight_scratch_race wait_marker_runaway child2_fanout_died_pre_ship packet_incoherence"
    " encoding_mojibake gate_wedge_unspecified body_empty_picks",
}
CAUSES = [(key, remedy) for remedy, keys in REMEDIES.items() for key in keys.split()]


@pytest.mark.parametrize(("key", "remedy"), CAUSES)
def test_a_blocked_cause_has_one_remedy(key, remedy):
    found = table.blocked_cause(f" {key} ")
    assert (found.key, found.self_heals_via, found.operator_action_required) == (
        key,
        remedy,
        not remedy,
    )
    assert found.label and found.fix_sketch
    assert table.recurring_self_heal_for(key, 1) == remedy
    unspecific = key in ("uncategorized_nonship", "gate_wedge_unspecified")
    assert table.recurring_self_heal_for(key, 2) == ("/unstick" if unspecific else remedy)


@pytest.mark.parametrize(
    "key", ["", " ", "zzz", "SHIPPED", "LANE_HELD", "drain", "OPERATOR_DECISION"]
)
def test_what_is_no_blocked_cause_has_no_remedy(key):
    assert table.blocked_cause(key) is None
    assert table.recurring_self_heal_for(key, 5) == ""


def test_there_are_no_other_blocked_causes():
    assert {key for key, _ in CAUSES} == CAUSE_KEYS


@pytest.mark.parametrize(
    ("token", "found"),
    [
        ("UNIT_FALSE_SHIPPED", ("STALE_CLAIM", "FALSE_SHIPPED")),
        ("LANE_STALE_STAMP_OPERATOR", ("STALE_CLAIM", "STALE_STAMP")),
        ("waits-for-operator", ("OPERATOR_GATE", "OPERATOR")),
        ("SOAK_GATED", ("OPERATOR_GATE", "SOAK")),
        ("REVIEW_GATE", ("OPERATOR_GATE", "GATE")),
        ("ALL_IN_FLIGHT", ("STALE_CLAIM", "IN_FLIGHT")),
        ("LANE_DRAINED_TODAY", ("TRUE_DRAIN", "DRAINED")),
        ("MIS_ROUTED_FINDING", ("MISROUTE", "MIS_ROUTED")),
        ("PROPAGATE_FIX", None),
        ("GATEWAY_TIMEOUT", None),
        ("BRAINDRAIN", None),
        ("", None),
        ("___", None),
    ],
)
def test_an_undeclared_token_is_known_by_its_whole_words(token, found):
    rules = [(rule.substring, rule.category) for rule in MORPHOLOGY]
    assert table.category_by_words(token, rules) == found
    assert table.category_by_words(token, []) is None
    assert table.category_by_words(token, [("_", "MISROUTE")]) is None


@pytest.mark.parametrize(
    ("envelope", "tag"),
    [
        (None, None),
        ({}, None),
        ({"verdict": "LIVE"}, None),
        ({"verdict": " accept "}, None),
        ({"verdict": ""}, None),
        ({"verdict": None}, None),
        ({"all_clear": True, "verdict": "LIVE"}, None),
        ({"do_not_render": True, "all_clear": True}, "verdict_envelope:do_not_render"),
        ({"blocked": True}, "verdict_envelope:blocked"),
        ({"blocked": True, "all_clear": True}, None),
        (
            {"blocked": True, "all_clear": True, "verdict": "WEDGE"},
            "verdict_envelope:verdict=WEDGE",
        ),
        ({"verdict": "drain"}, "verdict_envelope:verdict=DRAIN"),
        (
            {"verdict": "LIVE", "reason_class": "LANE_DRAINED"},
            "verdict_envelope:reason_class=LANE_DRAINED",
        ),
        ({"reason_class": "NEVER_HEARD_OF"}, "verdict_envelope:reason_class=NEVER_HEARD_OF"),
        ({"reason_class": ""}, "verdict_envelope:reason_class="),
        ({"reason_class": 5}, "verdict_envelope:reason_class=5"),
        ({"reason_class": None}, None),
        ({"reason_class": "iteration-cap"}, None),
    ],
)
def test_an_envelope_refuses_by_its_plainest_word(envelope, tag):
    assert table.envelope_is_refusal(envelope) == (tag is not None, tag)


def test_an_envelope_may_use_the_workspaces_own_reasons():
    known = table.BUILT_IN.extend(
        [Reason(token="NOTE", category=Category.MISROUTE, message="", refusal=False)]
    )
    assert table.envelope_is_refusal({"reason_class": "note"}, known) == (False, None)


def test_what_a_loop_decides_and_what_ends_a_worker_have_no_word_in_common():
    assert not {str(why) for why in StopReason} & {str(why) for why in WorkerStop}


@pytest.mark.parametrize(("refusal", "kind"), [(True, "refusal"), (False, "stop")])
def test_a_declared_reason_that_refuses_nothing_is_one_that_a_run_stops_for(refusal, kind):
    declared = policy.Reason(category="MISROUTE", refusal=refusal)
    found = policy.registry({"VENDOR": declared}).find("VENDOR")
    assert (found.kind, found.refusal) == (kind, refusal)
