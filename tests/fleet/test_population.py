"""Every row of the population plan, and what each record refuses."""

import msgspec
import pytest
from ticks import lane, names, tick

from dos.population import (
    Answer,
    Disposition,
    LaneLiveness,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
    overlapping_concurrent_lanes,
    supervise,
)

UNCOUNTED = {"count_spinning_as_alive": False}
UNREAPED = {"reap_stalled": False}
HALT = {"spin_halt_after_ms": 60_000}


@pytest.mark.parametrize(
    ("roster", "target", "policy", "answer", "counts", "spawn", "reap", "flag", "halt"),
    [
        ("", 3, {}, "TARGET_UNREACHABLE", "0/0", "", "", "", ""),
        ("", 0, {}, "AT_TARGET", "0/0", "", "", "", ""),
        ("main - ALL, global - ALL E", 1, {}, "FILLING", "0/1", "main", "", "", ""),
        ("main - ALL, global - ALL E", 3, {}, "TARGET_UNREACHABLE", "0/1", "main", "", "", ""),
        ("global - ALL E", 1, {}, "FILLING", "0/1", "global", "", "", ""),
        ("a -, b -", 2, {}, "FILLING", "0/2", "a b", "", "", ""),
        ("a -, b -", 1, {}, "FILLING", "0/2", "a", "", "", ""),
        ("a A, b -", 2, {}, "FILLING", "1/2", "b", "", "", ""),
        ("a ST", 1, {}, "FILLING", "0/1", "a", "a", "", ""),
        ("a ST", 0, {}, "AT_TARGET", "0/1", "", "a", "", ""),
        ("a ST, b A", 1, {}, "AT_TARGET", "1/2", "", "a", "", ""),
        # Short of the target with nothing to place is not "at target": it is filling, and blocked.
        ("a ST", 1, UNREAPED, "FILLING", "0/1", "", "", "", ""),
        ("a SP", 1, {}, "AT_TARGET", "1/1", "", "", "a", ""),
        ("a SP, b -", 2, {}, "FILLING", "1/2", "b", "", "a", ""),
        ("a SP, b -", 1, UNCOUNTED, "FILLING", "0/2", "b", "", "a", ""),
        # A worker that is not counted is still there: nobody is put on its files.
        ("a SP, a2 - a/x/**", 1, UNCOUNTED, "FILLING", "0/1", "", "", "a", ""),
        ("a SP 60000", 1, HALT, "AT_TARGET", "1/1", "", "", "a", "a"),
        ("a SP 59999", 1, HALT, "AT_TARGET", "1/1", "", "", "a", ""),
        ("a SP", 1, HALT, "AT_TARGET", "1/1", "", "", "a", ""),
        ("a pending, b -", 1, {}, "AT_TARGET", "1/2", "", "", "", ""),
        ("a pending, b -", 2, {}, "FILLING", "1/2", "b", "", "", ""),
        ("a pending+ST", 1, {}, "AT_TARGET", "1/1", "", "", "", ""),
        ("a A, b A", 1, {}, "OVER_TARGET", "2/2", "", "", "b", ""),
        ("a A, b A, c A", 1, {}, "OVER_TARGET", "3/3", "", "", "c b", ""),
        ("a A, b SP", 1, {}, "OVER_TARGET", "2/2", "", "", "b a", ""),
        ("a A, b -", 0, {}, "OVER_TARGET", "1/2", "", "", "a", ""),
        ("X - a/**, Y - a/sub/**, Z - b/**", 2, {}, "FILLING", "0/2", "X Z", "", "", ""),
        ("A A s/**, C - s/x/**, B - b/**", 2, {}, "FILLING", "1/2", "B", "", "", ""),
        ("P - s/**, Q - s/api/**", 2, {}, "TARGET_UNREACHABLE", "0/1", "P", "", "", ""),
        ("s1 - s/a/**, s2 - s/b/**, broad - s/**", 2, {}, "FILLING", "0/2", "s1 s2", "", "", ""),
        # A broad lane that is listed first takes no room from the narrow ones: the order of the
        # roster decides nothing.
        ("broad - s/**, s1 - s/a/**, s2 - s/b/**", 2, {}, "FILLING", "0/2", "s1 s2", "", "", ""),
        # Somebody who runs alone is never joined, whatever their tree is.
        ("a -, b -, rel A rel/** E", 2, {}, "FILLING", "1/2", "", "", "", ""),
        # Blocked, as above: fewer than wanted is never "at target".
        ("a -, b -, rel A ALL E", 2, {}, "FILLING", "1/2", "", "", "", ""),
        # Who runs alone is started only when nobody else is there, counted or not.
        ("a A, b SP, rel - rel/** E", 2, UNCOUNTED, "FILLING", "1/2", "", "", "b", ""),
        ("a - (), b - ()", 2, {}, "TARGET_UNREACHABLE", "0/1", "a", "", "", ""),
        (
            "auto - () R, global - ALL E",
            8,
            {"max_concurrency": 8},
            "FILLING",
            "0/8",
            "auto*8",
            "",
            "",
            "",
        ),
        ("auto A () R", 5, {"max_concurrency": 5}, "FILLING", "1/5", "auto*4", "", "", ""),
        (
            "auto - () R",
            20,
            {"max_concurrency": 5},
            "TARGET_UNREACHABLE",
            "0/5",
            "auto*5",
            "",
            "",
            "",
        ),
        (
            "api - a/**, auto - () R",
            4,
            {"max_concurrency": 4},
            "FILLING",
            "0/4",
            "api auto*3",
            "",
            "",
            "",
        ),
        (
            "global - ALL E",
            8,
            {"max_concurrency": 8},
            "TARGET_UNREACHABLE",
            "0/1",
            "global",
            "",
            "",
            "",
        ),
        # Without a budget no lane is repeatable.
        ("a - R, b - R", 2, {}, "FILLING", "0/2", "a b", "", "", ""),
    ],
)
def test_the_plan(roster, target, policy, answer, counts, spawn, reap, flag, halt):
    verdict = tick(roster, target, **policy)
    assert (verdict.answer, f"{verdict.alive}/{verdict.admissible}") == (answer, counts)
    found = [
        names(rows) for rows in (verdict.spawn, verdict.reap, verdict.flag, verdict.proposed_halt)
    ]
    assert found == [spawn, reap, flag, halt]
    assert verdict.target == verdict.evidence.target == target


@pytest.mark.parametrize(
    ("roster", "target", "policy", "blocked"),
    [
        ("a ST", 1, UNREAPED, {"a": "reap_stalled is off"}),
        ("a SP", 1, UNCOUNTED, {"a": "does not count as alive"}),
        (
            "a SP, a2 - a/x/**",
            1,
            UNCOUNTED,
            {"a": "does not count as alive", "a2": "overlaps lane a"},
        ),
        (
            "a -, b - R, rel A rel/** E",
            3,
            {"max_concurrency": 3},
            {"a": "rel runs alone", "b": "rel runs alone"},
        ),
        (
            "a A, rel - rel/** E, b A, c SP",
            4,
            UNCOUNTED,
            {"rel": "runs alone, and lane a", "c": "does not count as alive"},
        ),
        ("P - s/**, Q - s/api/**", 2, {}, {"Q": "overlaps lane P"}),
        ("a A, t - ()", 2, {}, {"t": "its own region is unknown"}),
        ("a A, b -", 2, {}, {}),
    ],
)
def test_whoever_gets_no_worker_while_one_is_missing_is_listed_with_the_reason(
    roster, target, policy, blocked
):
    verdict = tick(roster, target, **policy)
    assert {row.lane for row in verdict.blocked} == set(blocked)
    for row in verdict.blocked:
        assert blocked[row.lane] in row.reason


@pytest.mark.parametrize("state", ["A", "SP", "ST", "?", "pending"])
def test_a_live_exclusive_lane_blocks_every_start_repeatable_ones_too(state):
    verdict = tick(f"a -, auto - () R, rel {state} rel/** E", 3, max_concurrency=3)
    assert names(verdict.spawn) == ("" if state != "ST" else "a auto*2")


@pytest.mark.parametrize("other", ["A", "SP", "?", "pending"])
def test_an_exclusive_lane_is_started_only_when_nobody_else_is_there(other):
    assert names(tick("rel - rel/** E", 2).spawn) == "rel"
    assert tick(f"rel - rel/** E, a {other}", 2, **UNCOUNTED).spawn == ()
    assert tick("rel - rel/** E, a ST", 2, **UNREAPED).spawn == ()
    assert names(tick("rel - rel/** E, a -", 2).spawn) == "a"
    assert names(tick("one - one/** E, two - two/** E", 2).spawn) == "one"


def test_what_is_unknown_is_held_and_counted_and_says_so():
    verdict = tick("a ?, b -, a2 - a/x/**", 2)
    assert (verdict.alive, names(verdict.spawn), verdict.reap, verdict.flag) == (1, "b", (), ())
    [held] = verdict.hold
    assert (held.lane, held.disposition) == ("a", "HOLD") and "unknown" in held.reason
    assert "could not be read" in verdict.reason


def test_the_reason_for_an_unknown_liveness_is_passed_on():
    lane_liveness = LaneLiveness(
        lane="a", tree=("a/**",), liveness="UNKNOWN", why="the journal is locked"
    )
    [held] = supervise(SuperviseEvidence(lanes=(lane_liveness,))).hold
    assert "the journal is locked" in held.reason


def test_every_lease_that_stays_has_a_hold_row():
    verdict = tick("a A, b SP, c ST, d pending, e -", 9)
    assert names(verdict.hold) == "a b d"
    assert names(tick("c ST", 9, **UNREAPED).hold) == "c"


def test_leases_are_counted_and_not_lanes():
    verdict = tick("auto A () R, auto A () R, auto A () R", 3, max_concurrency=3)
    assert (verdict.answer, verdict.alive, verdict.spawn) == ("AT_TARGET", 3, ())
    assert tick("a A, a A, b -", 2).spawn == ()


def test_a_lane_that_one_worker_holds_while_another_is_reaped_is_not_free():
    verdict = tick("a ST, a A, b -", 3)
    assert (names(verdict.reap), names(verdict.spawn)) == ("a", "b")


def test_the_entries_of_one_lane_share_their_region():
    assert names(tick("a - x/**, a - y/**, b - y/**", 2).spawn) == "a"
    assert names(tick("a - x/**, a - (), b - y/**", 2).spawn) == "a"


@pytest.mark.parametrize(
    ("roster", "target", "spawn"),
    [
        ("a - R, b - R", 5, "a b a b a"),
        ("a A R, b - R", 2, "b"),
        ("a A R, b - R", 4, "b a b"),
        ("a A R, b A R, c - R", 5, "c a b"),
        ("a SP R, b - R", 3, "b*2"),
        ("a ? R, b - R", 3, "b*2"),
        ("a ? R, a - R, b - R", 3, "b*2"),
        ("a pending R, b - R", 3, "b*2"),
        ("a - R, c - c/**, b - R", 2, "c a"),
    ],
)
def test_repeatable_lanes_each_get_one_worker_before_any_gets_two(roster, target, spawn):
    verdict = tick(roster, target, max_concurrency=9)
    assert names(verdict.spawn) == spawn


def test_a_live_repeatable_lane_keeps_its_region_from_fixed_ones():
    assert names(tick("a A R, c - a/x/**, d - d/**", 4, max_concurrency=2).spawn) == "d"
    launched = tick("a pending R, c - a/x/**", 3, max_concurrency=3)
    assert names(launched.spawn) == ""
    assert {row.lane for row in launched.blocked} == {"a", "c"}


@pytest.mark.parametrize("worker", ["A", "pending"])
def test_a_shared_name_without_a_region_keeps_none(worker):
    assert names(tick(f"auto {worker} () R, api -", 2, max_concurrency=4).spawn) == "api"


@pytest.mark.parametrize("worker", ["SP", "?", "pending"])
def test_being_short_is_always_explained(worker):
    verdict = tick(f"r {worker} R", 3, max_concurrency=5)
    assert (names(verdict.spawn), [row.lane for row in verdict.blocked]) == ("", ["r"])


def test_a_lease_that_nobody_reaps_keeps_its_region():
    assert names(tick("a ST, c - a/x/**, d -", 3, **UNREAPED).spawn) == "d"


def test_a_lease_off_the_roster_holds_its_region_and_gets_no_worker_when_it_dies():
    hot = LaneLiveness(lane="hot", tree=("api/x.py",), liveness="ADVANCING", off_roster=True)
    roster = (lane("api"), lane("docs"))
    verdict = supervise(SuperviseEvidence(lanes=(*roster, hot), target=2))
    assert (verdict.alive, names(verdict.spawn)) == (1, "docs")
    dead = msgspec.structs.replace(hot, liveness="STALLED", tree=("hot/**",))
    verdict = supervise(SuperviseEvidence(lanes=(dead, *roster), target=3))
    assert (names(verdict.reap), names(verdict.spawn), verdict.admissible) == ("hot", "api docs", 2)
    alone = LaneLiveness(lane="alone", liveness="STALLED", is_exclusive=True, off_roster=True)
    assert supervise(SuperviseEvidence(lanes=(alone,))).answer == "TARGET_UNREACHABLE"


def test_a_tree_that_cannot_be_read_overlaps_everything():
    assert names(tick("a A, b - ../x", 2).spawn) == ""
    assert names(tick("a - ../x, b -", 2).spawn) == "a"


def test_folders_are_compared_whole():
    assert names(tick("a - src/**, b - srcx/**", 2).spawn) == "a b"


def test_flags_for_the_excess_do_not_wait_for_a_reachable_target():
    verdict = tick("a A s/**, b A s/**, c A s/**", 2)
    assert (verdict.answer, names(verdict.flag)) == ("TARGET_UNREACHABLE", "c")


def test_an_unreachable_target_says_where_lanes_are_declared():
    assert "dos.toml [lanes]" in tick("a -", 2).reason


def test_a_lane_that_overlaps_fifteen_others_gives_way_to_them():
    lanes = "hub - 0/**, " + ", ".join(f"l{n} - 0/{n}/**" for n in range(15))
    verdict = tick(lanes, 15)
    assert (verdict.admissible, len(verdict.spawn), names(verdict.blocked)) == (15, 15, "")


def test_sixteen_lanes_of_which_each_overlaps_the_next_are_weighed_exactly():
    trees = [("p0",), *[(f"p{n}", f"p{n + 1}") for n in range(14)], ("p14",)]
    seen = tuple(LaneLiveness(lane=f"l{n}", tree=tree) for n, tree in enumerate(trees))
    verdict = supervise(SuperviseEvidence(lanes=seen, target=8))
    assert (verdict.admissible, verdict.answer, len(verdict.spawn)) == (8, "FILLING", 8)
    assert names(verdict.spawn) == "l0 l2 l4 l6 l8 l10 l12 l14", "and roster order breaks ties"


def test_of_many_lanes_the_narrow_ones_are_taken_and_listed_as_the_roster_goes():
    lanes = "broad - s/**, " + ", ".join(f"l{n} - s/{n}/**" for n in range(40))
    verdict = tick(lanes, 40)
    assert (verdict.admissible, verdict.answer) == (40, "FILLING")
    assert names(verdict.spawn) == " ".join(f"l{n}" for n in range(40))
    few = tick(lanes, 3)
    assert names(few.spawn) == "l0 l1 l2"


def test_the_json_is_the_record():
    verdict = tick("a SP 70000, b -, rel - ALL E", 2, **HALT)
    told = verdict.to_dict()
    assert told.keys() == {
        "verdict",
        "reason",
        "alive",
        "admissible",
        "target",
        "spawn",
        "reap",
        "flag",
        "proposed_halt",
        "hold",
        "blocked",
        "evidence",
    }
    assert told["evidence"].keys() == {"target", "lanes"}
    assert told["evidence"]["lanes"][0] == {
        "lane": "a",
        "liveness": "SPINNING",
        "tree": ["a/**"],
        "is_exclusive": False,
        "pending": False,
        "spinning_age_ms": 70000,
        "repeatable": False,
    }
    assert [row.keys() for row in told["spawn"]] == [{"lane", "disposition", "reason"}]
    assert told["proposed_halt"][0]["disposition"] == "PROPOSE_HALT"
    assert msgspec.json.decode(msgspec.json.encode(verdict), type=SuperviseVerdict) == verdict
    assert verdict.verdict is verdict.answer and verdict.reason


def test_only_the_deciding_key_of_a_verdict_is_required():
    assert (
        msgspec.json.decode(b'{"verdict": "AT_TARGET"}', type=SuperviseVerdict).answer
        is Answer.AT_TARGET
    )


def test_tokens_are_strings():
    assert str(Answer.FILLING) == "FILLING" and Disposition.PROPOSE_HALT == "PROPOSE_HALT"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (LaneLiveness, {"lane": ""}),
        (LaneLiveness, {"lane": " "}),
        (LaneLiveness, {"lane": "a", "is_exclusive": True, "repeatable": True}),
        (LaneLiveness, {"lane": "a", "liveness": "SLEEPY"}),
        (LaneLiveness, {"lane": "a", "tree": "a/**"}),
        (SuperviseEvidence, {"target": -1}),
        (SuperviseEvidence, {"target": True}),
        (SuperviseEvidence, {"lanes": "a"}),
        (SupervisePolicy, {"target": -1}),
        (SupervisePolicy, {"target": True}),
        (SupervisePolicy, {"target": 1.5}),
        (SupervisePolicy, {"count_spinning_as_alive": 1}),
        (SupervisePolicy, {"reap_stalled": "yes"}),
        (SupervisePolicy, {"spin_halt_after_ms": -1}),
        (SupervisePolicy, {"spin_halt_after_ms": True}),
        (SupervisePolicy, {"spin_halt_after_ms": float("nan")}),
        (SupervisePolicy, {"worker_launch_template": "run it"}),
        (SupervisePolicy, {"max_concurrency": 0}),
        (SupervisePolicy, {"max_concurrency": True}),
    ],
)
def test_contradictions_are_refused(kind, fields):
    with pytest.raises(ValueError):
        kind(**fields)


def test_policy_numbers_are_cut_to_whole_milliseconds_and_zero_proposes_at_once():
    assert SupervisePolicy(spin_halt_after_ms=1500.9).spin_halt_after_ms == 1500
    assert names(tick("a SP 0", 1, spin_halt_after_ms=0).proposed_halt) == "a"


def test_lists_are_taken_for_tuples():
    supervise_evidence = SuperviseEvidence(lanes=[LaneLiveness(lane="a", tree=["a/**"])])
    assert names(supervise(supervise_evidence).spawn) == "a"


@pytest.mark.parametrize(
    ("lanes", "pairs"),
    [
        ([], []),
        ([("a", ["a/**"], False), ("b", ["b/**"], False)], []),
        ([("b", ["s/**"], False), ("a", ["s/x/**"], False)], [("a", "b")]),
        ([("b", ["s/**"], False), ("a", ["s/x/**"], True)], []),
        ([("b", [], False), ("a", ["x"], False)], [("a", "b")]),
        ([("b", ["/abs"], False), ("a", ["x"], False)], [("a", "b")]),
        (
            [("c", ["**/*"], False), ("b", ["b"], False), ("a", ["a"], False)],
            [("a", "c"), ("b", "c")],
        ),
        ([("a", ["a"], False), ("a", ["a"], False)], []),
        ([("a", ["x", "y"], False), ("b", ["x", "y"], False)], [("a", "b")]),
    ],
)
def test_lanes_that_never_run_side_by_side(lanes, pairs):
    assert overlapping_concurrent_lanes(lanes) == pairs
