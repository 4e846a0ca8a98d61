"""May this be granted beside what is live?"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos import regions
from dos.lanes import admission
from dos.lanes.admission import AdmissionVerdict
from dos.lease import Lease, RefusalReason, Request
from dos.regions import Mode


def request(lane="api", *globs, **given):
    fields = {
        "holder": "anne",
        "host": "h",
        "ttl_ms": 1000,
        "region": regions.region(globs),
    } | given
    return Request(lane=lane, **fields)


def lease(lane="api", *globs, fence=7, **given):
    fields = {"holder": "ben", "host": "h", "ttl_ms": 1000, "region": regions.region(globs)} | given
    stamps = {"boot": "b", "granted_ms": 0, "beat_ms": 0, "expires_ms": 1, "version": 1}
    return Lease(lane=lane, fence=fence, **fields, **stamps)


@pytest.mark.parametrize(
    ("asked", "live", "reason"),
    [
        pytest.param(request("api", "api/**"), [], None, id="an idle world"),
        pytest.param(
            request("api", "api/**"), [lease("docs", "docs/**")], None, id="disjoint lanes"
        ),
        pytest.param(
            request("api", "api/**"),
            [lease("API", "x/**")],
            RefusalReason.LANE_HELD,
            id="same name, other case",
        ),
        pytest.param(
            request("hot", "api/x"),
            [lease("api", "api/**")],
            RefusalReason.REGION_OVERLAP,
            id="overlap",
        ),
        pytest.param(request("api"), [], RefusalReason.REGION_UNKNOWN, id="an empty request"),
        pytest.param(
            request("api", "api/**"),
            [lease("old")],
            RefusalReason.REGION_OVERLAP,
            id="an empty lease",
        ),
        pytest.param(
            request("api", "api/**"),
            [lease("infra", "infra/**", exclusive=True)],
            RefusalReason.LANE_EXCLUSIVE,
            id="beside an exclusive lease",
        ),
        pytest.param(
            request("infra", "infra/**", exclusive=True),
            [lease("api", "api/**")],
            RefusalReason.LANE_EXCLUSIVE,
            id="an exclusive request beside anything",
        ),
        pytest.param(
            request("review", "api/**", mode=Mode.SHARED),
            [lease("api", "api/**", mode=Mode.SHARED)],
            None,
            id="two readers",
        ),
        pytest.param(
            request("api", "api/**", mode=Mode.SHARED),
            [lease("api", "api/**", mode=Mode.SHARED)],
            None,
            id="readers, one lane",
        ),
        pytest.param(
            request("review", "api/**", mode=Mode.SHARED),
            [lease("api", "api/**")],
            RefusalReason.REGION_OVERLAP,
            id="a reader beside a writer",
        ),
        pytest.param(
            request("api", "api/**"),
            [lease("api", is_lock=True)],
            None,
            id="a lock of the same name",
        ),
        pytest.param(
            request("merge", is_lock=True), [lease("x", "**/*")], None, id="a lock has no region"
        ),
        pytest.param(
            request("Merge", is_lock=True),
            [lease("merge", is_lock=True)],
            RefusalReason.LANE_HELD,
            id="a held lock",
        ),
    ],
)
def test_a_claim_is_admitted_or_refused_for_the_first_cause(asked, live, reason):
    refusal = admission.judge(asked, live)
    assert (refusal and refusal.reason) == reason


def test_a_refusal_names_the_holder_the_fence_and_the_globs_that_meet():
    refusal = admission.judge(request("hot", "api/x.py"), [lease("api", "api/**", fence=41)])
    assert refusal is not None
    assert refusal.blocked_by == 41
    for part in ("cannot share live lane 'api'", "'ben'", "fence 41", "'api/x.py'", "'api/**'"):
        assert part in refusal.detail


def test_a_lease_with_an_empty_tree_says_that_nobody_knows_what_it_touches():
    refusal = admission.judge(request("api", "api/**"), [lease("old")])
    assert refusal is not None
    assert "EMPTY" in refusal.detail


def test_the_store_calls_it_with_a_request_and_leases_only():
    admit = partial(admission.judge, budgets={"cluster": 1})
    refusal = admit(request("api", "api/**"), [lease("docs", "docs/**")])
    assert refusal is not None
    assert refusal.reason is RefusalReason.CLASS_BUDGET_EXHAUSTED
    assert "cluster (1/1)" in refusal.detail


@pytest.mark.parametrize("cap", [0, -1, True, 3])
def test_a_cap_that_is_no_positive_number_or_not_reached_never_refuses(cap):
    live = [lease("docs", "docs/**"), lease("web", "web/**")]
    assert admission.judge(request("api", "api/**"), live, {"cluster": cap, "other": 1}) is None


def test_locks_do_not_count_against_a_budget():
    assert (
        admission.judge(request("api", "api/**"), [lease("x", is_lock=True)], {"cluster": 1})
        is None
    )


@pytest.mark.parametrize(
    ("globs", "ratio", "admitted"),
    [
        pytest.param(
            ("api/x", "b/**", "c/**"), 0.0, False, id="nothing is tolerated unless somebody says so"
        ),
        pytest.param(
            ("api/x", "b/**", "c/**"), 1 / 3, True, id="a third, where a third is allowed"
        ),
        pytest.param(("api/x", "b/**", "c/**"), 0.2, False, id="a third, where a fifth is allowed"),
        pytest.param(
            ("api/x", "b/**"), 0.9, False, id="never more than a third, whatever is configured"
        ),
        pytest.param(
            ("api/**", "b/**", "c/**", "d/**"), 1 / 3, False, id="never the very same glob"
        ),
    ],
)
def test_overlap_is_tolerated_only_by_an_explicit_ratio(globs, ratio, admitted):
    refusal = admission.judge(request("hot", *globs), [lease("api", "api/**")], ratio_max=ratio)
    assert (refusal is None) is admitted


def test_a_tolerated_ratio_does_not_open_an_unknown_region():
    refusal = admission.judge(
        request("hot", "a/**", "b/**", "c/**"), [lease("old")], ratio_max=1 / 3
    )
    assert refusal is not None


@pytest.mark.parametrize(
    ("tree", "protected", "refused"),
    [
        (("**/*",), admission.KERNEL_FILES, True),
        (("src/dos/**",), admission.KERNEL_FILES, True),
        (("src/dos/arbiter.py",), admission.KERNEL_FILES, True),
        (("src/other/**",), admission.KERNEL_FILES, False),
        (("**/*",), (), False),
        (("deploy/x",), ("deploy/**",), True),
    ],
)
def test_a_lane_that_reaches_protected_files_is_refused(tree, protected, refused):
    refusal = admission.judge(request("api", *tree), [], protected=protected)
    assert (refusal is not None) is refused
    assert refusal is None or refusal.reason is RefusalReason.SELF_MODIFY


def test_the_kernel_has_eleven_files():
    assert len(set(admission.KERNEL_FILES)) == 11


def refuse_all(_asked, _lease, _config):
    return AdmissionVerdict.refuse("not on Fridays", "FRIDAY")


def admit_all(_asked, _lease, _config):
    return AdmissionVerdict.admit()


def raising(_asked, _lease, _config):
    raise KeyError("no such team")


def wrong(_asked, _lease, _config):
    return True


@pytest.mark.parametrize(
    ("predicates", "fragments"),
    [
        pytest.param(
            [refuse_all],
            ["FRIDAY", "not on Fridays", "refuse_all"],
            id="a refusal carries its own words",
        ),
        pytest.param(
            [admit_all, refuse_all], ["not on Fridays"], id="an admission overrules nothing"
        ),
        pytest.param([raising], ["no such team", "fail-closed"], id="an exception refuses"),
        pytest.param([wrong], ["not an AdmissionVerdict"], id="a wrong answer refuses"),
    ],
)
@pytest.mark.parametrize("live", [[], [lease("docs", "docs/**", fence=3)]])
def test_a_predicate_can_only_refuse(predicates, fragments, live):
    refusal = admission.judge(request("api", "api/**"), live, predicates=predicates)
    assert refusal is not None
    assert refusal.reason is RefusalReason.PREDICATE
    assert refusal.blocked_by == (3 if live else None)
    for fragment in fragments:
        assert fragment in refusal.detail


def test_a_predicate_sees_the_claim_each_lease_and_the_configuration():
    calls = []

    def watch(asked, row, config):
        calls.append(
            (
                asked.lane,
                asked.kind,
                asked.tree,
                row.get("lane"),
                row.get("lane_kind"),
                row.get("tree"),
                config,
            )
        )
        return AdmissionVerdict.admit()

    live = [lease("docs", "docs/**"), lease("web", "web/**", kind="keyword")]
    assert admission.judge(request("api", "api/**"), live, predicates=[watch], config="c") is None
    assert calls == [
        ("api", "cluster", ("api/**",), "docs", "cluster", ["docs/**"], "c"),
        ("api", "cluster", ("api/**",), "web", "keyword", ["web/**"], "c"),
    ]


def test_every_predicate_is_asked_about_one_lease_before_the_next_lease():
    calls = []

    def named(name):
        def predicate(_asked, row, _config):
            calls.append((row["lane"], name))
            return AdmissionVerdict.admit()

        return predicate

    live = [lease("docs", "docs/**"), lease("web", "web/**")]
    admission.judge(request("api", "api/**"), live, predicates=[named("one"), named("two")])
    assert calls == [("docs", "one"), ("docs", "two"), ("web", "one"), ("web", "two")]


def test_a_verdict_of_a_predicate_cannot_be_changed_afterwards():
    with pytest.raises(AttributeError):
        AdmissionVerdict.refuse("no").admitted = True  # type: ignore[misc]


GLOBS = st.lists(
    st.sampled_from(["a/**", "a/x.py", "a/b/**", "b/**", "c/*.py", "A/B/y", "**/*", "c/d/**"]),
    max_size=3,
    unique=True,
)
MODES = st.sampled_from(list(Mode))


@given(GLOBS, GLOBS, MODES, MODES, st.booleans(), st.booleans())
def test_two_known_claims_exclude_each_other_or_neither(
    mine, theirs, my_mode, their_mode, mine_alone, theirs_alone
):
    if not mine or not theirs:
        mine, theirs = mine or ["a/**"], theirs or ["a/**"]
    one = {"mode": my_mode, "exclusive": mine_alone}
    two = {"mode": their_mode, "exclusive": theirs_alone}
    forwards = admission.judge(request("one", *mine, **one), [lease("two", *theirs, **two)])
    backwards = admission.judge(request("two", *theirs, **two), [lease("one", *mine, **one)])
    assert (forwards is None) == (backwards is None)


@given(GLOBS, st.lists(st.tuples(st.sampled_from("pqrs"), GLOBS), max_size=3), st.booleans())
def test_a_predicate_a_budget_or_a_protected_file_never_admits_more(globs, rows, refuses):
    live = [lease(name, *tree) for name, tree in rows]
    lease_request = request("api", *globs)
    if admission.judge(lease_request, live) is None:
        return
    predicate = refuse_all if refuses else admit_all
    assert (
        admission.judge(lease_request, live, {"cluster": 1}, [predicate], protected=("a/x.py",))
        is not None
    )
