"""The leases that a caller hands to the arbiter, and the decision that it reads."""

import json

import msgspec
import pytest
from arbiter_workspace import API, ask, roster

from dos import regions
from dos.errors import BadInput
from dos.lanes import arbitrate
from dos.lanes.leases import LiveLease, live_lease, live_leases_from_json, live_leases_from_rows
from dos.lease import Lease
from dos.regions import Mode


@pytest.mark.parametrize(
    "text",
    [
        "notjson",
        "{}",
        "null",
        "[1]",
        '["api"]',
        "[null]",
        "[[]]",
        "[{}]",
        '[{"lane": 1}]',
        '[{"lane": ""}]',
        '[{"lane": "api", "tree": "api/**"}]',
        '[{"lane": "api", "tree": [1]}]',
        '[{"lane": "api", "lane_kind": null}]',
        '[{"lane": "api", "fence": "1"}]',
        '[{"lane": "api", "mode": "LOOSE"}]',
        '["\ud800"]',
        '[{"lane": "api", "x": ' + "[" * 100_000 + "]" * 100_000 + "}]",
    ],
    ids=lambda text: text[:40].encode("unicode_escape").decode(),
)
def test_leases_that_cannot_be_read_are_an_error_and_never_an_empty_world(text):
    with pytest.raises(BadInput) as caught:
        live_leases_from_json(text)
    assert caught.value.exit_code == 2
    assert "array of objects" in caught.value.hint


def test_leases_are_read_from_json_with_what_else_a_caller_keeps_in_them():
    rows = [
        {
            "lane": "api",
            "lane_kind": "cluster",
            "tree": ["api/**"],
            "loop_ts": "t1",
            "pid": 7,
            "host_id": "h",
        }
    ]
    assert live_leases_from_json(json.dumps(rows)) == API
    assert live_leases_from_rows(rows) == API
    assert live_leases_from_json("[]") == []


@pytest.mark.parametrize("rows", [{}, None, [1], [{"tree": []}], "api"])
def test_parsed_leases_of_the_wrong_shape_are_an_error(rows):
    with pytest.raises(BadInput):
        live_leases_from_rows(rows)


def test_a_lease_of_the_journal_is_held_with_all_that_decides():
    lease = Lease(
        lane="api",
        holder="ben",
        host="h",
        ttl_ms=1,
        region=regions.region(["api/**"]),
        mode=Mode.SHARED,
        kind="keyword",
        exclusive=True,
        loop_ts="t9",
        fence=4,
        boot="b",
        granted_ms=0,
        beat_ms=0,
        expires_ms=1,
        version=1,
    )
    assert live_lease(lease) == LiveLease(
        lane="api",
        lane_kind="keyword",
        tree=("api/**",),
        loop_ts="t9",
        holder="ben",
        fence=4,
        mode=Mode.SHARED,
        exclusive=True,
    )


@pytest.mark.parametrize("asked", [ask(), ask("api", "cluster"), ask("nosuch"), ask("global")])
def test_a_decision_is_written_with_the_published_keys_in_order(asked):
    shown = arbitrate.judge(asked, API, roster()).to_json()
    published = {
        "outcome",
        "lane",
        "lane_kind",
        "tree",
        "auto_picked",
        "reason",
        "free_clusters",
        "pick_count",
    }
    assert set(shown) == published | {"requested_lane", "substituted", "reason_class"}
    assert list(shown) == sorted(shown)
    assert json.loads(json.dumps(shown)) == shown
    assert msgspec.json.encode(shown) == msgspec.json.encode(shown, order="sorted")


def test_a_grant_lists_nothing_as_free_and_counts_no_picks():
    shown = arbitrate.judge(ask("api", "cluster"), [], roster()).to_json()
    reason = shown.pop("reason")
    assert reason
    assert shown == {
        "auto_picked": False,
        "free_clusters": [],
        "lane": "api",
        "lane_kind": "cluster",
        "outcome": "acquire",
        "pick_count": None,
        "reason_class": "",
        "requested_lane": "api",
        "substituted": False,
        "tree": ["api/**"],
    }
