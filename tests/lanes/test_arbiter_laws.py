"""What holds of every arbitration, whatever is asked for and whatever is live."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dos import regions
from dos.lanes import admission, arbitrate
from dos.lanes.admission import AdmissionVerdict
from dos.lanes.arbitrate import Answer, ArbiterRequest
from dos.lanes.leases import LiveLease
from dos.lanes.roster import Roster
from dos.lease import Lease, Request
from dos.text import comparison_key

NAMES = ["api", "API", "docs", "worker", "infra", "global", "svc", "hot"]
GLOBS = ["api/**", "API/x", "docs/**", "docs/a/*.md", "worker/**", "infra/**", "lib/**", "**/*"]
KINDS = ["", "cluster", "keyword", "global", "infra", "priority"]

trees = st.lists(st.sampled_from(GLOBS), max_size=2, unique=True).map(tuple)
lanes = st.lists(st.sampled_from(["api", "docs", "worker"]), max_size=3, unique=True).map(tuple)
budgets = st.dictionaries(
    st.sampled_from(["cluster", "keyword", "priority"]), st.integers(0, 2), max_size=2
)


@st.composite
def rosters(draw):
    return Roster(
        concurrent=draw(lanes),
        exclusive=draw(st.sampled_from([(), ("global",), ("infra", "global")])),
        autopick=draw(st.permutations(["api", "docs", "worker", "infra"])),
        trees={name: draw(trees) for name in draw(lanes)}
        | {"infra": ("infra/**",), "global": ("**/*",)},
        aliases=draw(st.sampled_from([{}, {"svc": "api"}, {"svc": "gone"}])),
        protected=draw(st.sampled_from([(), ("docs/a/x.md",)])),
        budgets=draw(budgets),
    )


asks = st.builds(
    ArbiterRequest,
    lane=st.sampled_from(["", *NAMES]),
    kind=st.sampled_from(KINDS),
    tree=trees,
    mode=st.sampled_from(list(regions.Mode)),
    exact=st.booleans(),
    force=st.just(False),
)
leases = st.builds(
    LiveLease,
    lane=st.sampled_from(NAMES),
    lane_kind=st.sampled_from(KINDS),
    tree=trees,
    mode=st.sampled_from(list(regions.Mode)),
    exclusive=st.sampled_from([False, False, False, True]),
)
worlds = st.lists(leases, max_size=3)


def no_docs(asked, lease, _config):
    hit = "docs" in (asked.lane, lease.get("lane"))
    return AdmissionVerdict.refuse("frozen") if hit else AdmissionVerdict.admit()


@given(asks, worlds, rosters())
def test_what_is_granted_never_overlaps_what_is_live(asked, live, rules):
    decision = arbitrate.judge(asked, live, rules)
    if decision.outcome is Answer.ACQUIRE:
        mine = regions.region(decision.tree)
        assert mine.is_known
        for lease in live:
            assert not regions.conflict(mine, asked.mode, regions.region(lease.tree), lease.mode)


@given(asks, worlds, rosters())
def test_what_is_granted_never_reaches_a_protected_file_nor_breaks_a_cap(asked, live, rules):
    decision = arbitrate.judge(asked, live, rules)
    if decision.outcome is Answer.ACQUIRE:
        for glob in rules.protected:
            assert not regions.overlaps(regions.region(decision.tree), regions.region([glob]))
        cap = rules.budgets.get(decision.lane_kind, 0)
        assert (
            cap == 0
            or sum((lease.lane_kind or "cluster") == decision.lane_kind for lease in live) < cap
        )


@given(asks, worlds, rosters(), st.booleans())
def test_nothing_is_granted_beside_an_exclusive_lane_even_by_force(asked, live, rules, force):
    alone = {*map(comparison_key, rules.exclusive), "global"}
    if any(
        lease.exclusive
        or comparison_key(lease.lane) in alone
        or comparison_key(lease.lane_kind) in alone
        for lease in live
    ):
        decision = arbitrate.judge(structs.replace(asked, force=force), live, rules)
        assert decision.outcome is Answer.REFUSE


@given(asks, worlds, rosters())
def test_the_same_input_gets_the_same_answer(asked, live, rules):
    again = structs.replace(rules)
    assert arbitrate.judge(asked, live, rules) == arbitrate.judge(asked, list(live), again)


@given(asks, worlds, rosters())
def test_an_exact_request_gets_the_lane_that_it_names_or_none(asked, live, rules):
    decision = arbitrate.judge(structs.replace(asked, exact=True), live, rules)
    assert not decision.substituted
    if asked.lane and decision.outcome is Answer.ACQUIRE:
        assert decision.lane == (rules.canonical(asked.lane) or asked.lane)
        assert not decision.auto_picked


@given(asks.filter(lambda asked: asked.lane), worlds, leases, rosters())
def test_one_more_live_lease_never_opens_a_lane(asked, live, lease, rules):
    exact = structs.replace(asked, exact=True)
    if arbitrate.judge(exact, live, rules).outcome is Answer.REFUSE:
        assert arbitrate.judge(exact, [*live, lease], rules).outcome is Answer.REFUSE


@given(asks.filter(lambda asked: not asked.lane), worlds, leases, rosters())
def test_one_more_live_lease_never_opens_a_choice(asked, live, lease, rules):
    if arbitrate.judge(asked, live, rules).outcome is Answer.REFUSE:
        assert arbitrate.judge(asked, [*live, lease], rules).outcome is Answer.REFUSE


@given(asks, worlds, rosters())
def test_one_more_predicate_never_admits_more(asked, live, rules):
    if arbitrate.judge(asked, live, rules).outcome is Answer.REFUSE:
        assert arbitrate.judge(asked, live, rules, predicates=[no_docs]).outcome is Answer.REFUSE


@given(asks, worlds, rosters(), budgets)
def test_a_budget_never_admits_more(asked, live, rules, caps):
    capped = structs.replace(rules, budgets=caps)
    if arbitrate.judge(asked, live, structs.replace(rules, budgets={})).outcome is Answer.REFUSE:
        assert arbitrate.judge(asked, live, capped).outcome is Answer.REFUSE


@given(asks, worlds, rosters())
def test_what_the_arbiter_grants_the_journal_admits(asked, live, rules):
    decision = arbitrate.judge(asked, live, rules)
    if decision.outcome is Answer.REFUSE:
        return
    common = {"holder": "anne", "host": "h", "ttl_ms": 1}
    stamps = {"boot": "b", "granted_ms": 0, "beat_ms": 0, "expires_ms": 1, "version": 1}
    request = Request(
        lane=decision.lane,
        kind=decision.lane_kind,
        region=regions.region(decision.tree),
        mode=asked.mode,
        exclusive=rules.runs_alone(decision.lane) or decision.lane_kind == "global",
        **common,
    )
    held = [
        Lease(
            lane=lease.lane,
            kind=lease.lane_kind or "cluster",
            region=regions.region(lease.tree),
            mode=lease.mode,
            fence=number,
            **common,
            **stamps,
        )
        for number, lease in enumerate(live)
    ]
    assert admission.judge(request, held, rules.budgets, protected=rules.protected) is None


@given(asks, worlds, rosters())
def test_a_refusal_names_no_lane_and_a_grant_lists_none_as_free(asked, live, rules):
    decision = arbitrate.judge(asked, live, rules)
    if decision.outcome is Answer.REFUSE:
        assert (decision.lane, decision.tree, decision.auto_picked) == ("", (), False)
        assert decision.reason_class
        assert decision.reason
    else:
        assert decision.free_clusters == ()
        assert bool(decision.reason_class) == (decision.auto_picked and bool(asked.lane))


@given(trees, trees)
def test_overlap_is_the_same_seen_from_either_side(mine, theirs):
    one = LiveLease(lane="one", tree=mine)
    two = LiveLease(lane="two", tree=theirs)
    rules = Roster()
    if mine and theirs:
        forwards = arbitrate.judge(ArbiterRequest(lane="one", tree=mine, exact=True), [two], rules)
        backwards = arbitrate.judge(
            ArbiterRequest(lane="two", tree=theirs, exact=True), [one], rules
        )
        assert forwards.outcome == backwards.outcome
