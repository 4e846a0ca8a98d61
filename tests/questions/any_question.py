"""Questions of every class, generated."""

from hypothesis import strategies as st

from dos.agents.conversation import Asks
from dos.limits.accounts import Day, Iteration, LaneDay, Measure, RunAccount
from dos.limits.budget import BudgetHistory, BudgetLine
from dos.limits.quota import LONGEST_WEEKLY_WAIT_MS, Key, Limit
from dos.questions.agent_requests import ToolRequested
from dos.questions.catalog import Added, UnknownQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.documents import REMOVED, PlanChanged, SettingsChanged
from dos.questions.lanes import FailedUnit, LaneFailed, LaneStopped, UnitsFailed
from dos.questions.question import Record
from dos.questions.resources import BaselineFailed, BudgetSpent, LimitDoubted, LimitReached
from dos.questions.runs import HaltProposed, RunStopped, Spinning
from dos.questions.units import Incident, LandingBlocked, LandingConflict, UnitHeld, UnitUndone
from dos.units.unit import Landing
from dos.verify.baseline import CheckResult

texts = st.text(max_size=12)
names = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
lanes = st.sampled_from(["api", "docs", "a b", "läne", "x/y"])
units = st.sampled_from(["A/1", "A/2", "B/1", "ü:1", "C"])
runs = st.sampled_from(["RID-1", "RID-2"])
commits = st.sampled_from(["a" * 40, "b" * 40])
ordinals = st.integers(1, 4)
some_texts = st.lists(texts, max_size=3)
maybe_ms = st.none() | st.integers(0, 10**13)
unique_units = st.lists(units, max_size=3, unique=True)
failed_units = st.lists(
    st.builds(FailedUnit, unit=units, tries=st.integers(1, 9), why=texts, text=texts),
    max_size=3,
    unique_by=lambda each: each.unit,
)
keys = st.builds(Key, vendor=st.sampled_from(["claude", "a/b", "50%"]), account=names, model=names)
limits = st.builds(
    Limit,
    key=keys,
    ending=st.sampled_from(["auth", "spend_stop", "usage_window"]),
    found=texts,
    agent=texts,
    times=st.integers(0, 3),
    lifts=st.integers(0, 3),
    resets_at_ms=st.none() | st.just(2 * LONGEST_WEEKLY_WAIT_MS),
)
checks = st.builds(
    CheckResult,
    command=texts,
    passed=st.booleans(),
    sees_tree=st.just(False),
    reason=texts,
    output=some_texts,
    host=st.sampled_from(["h1", "h2"]),
    branch=texts,
    commit=commits,
    tree=texts,
    commands=texts,
    ordinal=ordinals,
)
amounts = st.floats(0.5, 1e6)
days = st.just("2027-01-15")
accounts = st.one_of(
    st.builds(Iteration, run_id=runs, number=ordinals),
    st.builds(RunAccount, run_id=runs),
    st.builds(LaneDay, day=days, lane=lanes),
    st.builds(Day, day=days),
)
budget_rows = st.builds(
    BudgetLine,
    account=accounts,
    measure=st.sampled_from(Measure),
    spent=amounts,
    limit=amounts,
    history=st.builds(BudgetHistory, asked=st.integers(0, 2)),
)
changed_texts = {
    "document": texts,
    "digest": st.sampled_from([REMOVED, "d" * 64]),
    "approved": texts,
    "where": texts,
    "ordinal": ordinals,
}

BY_CLASS = {
    LaneFailed: st.builds(LaneFailed.ask, lanes, texts, ordinal=ordinals),
    LaneStopped: st.builds(LaneStopped.ask, lanes, runs, texts, failed_units),
    UnitsFailed: st.builds(UnitsFailed.ask, lanes, runs, failed_units.filter(bool)),
    LandingConflict: st.builds(
        LandingConflict.ask, units, some_texts, lane=lanes, ordinal=ordinals
    ),
    ToolRequested: st.builds(
        ToolRequested.ask,
        runs,
        ordinals.map(str),
        st.builds(Asks, id=texts, tool=texts, command=texts, paths=some_texts.map(tuple)),
        lane=lanes,
        unit=units,
        agent=texts,
        expires_ms=st.integers(0, 10**13),
        ordinal=ordinals,
    ),
    LandingBlocked: st.builds(
        LandingBlocked.ask, units, texts, commit=commits, lane=lanes, ordinal=ordinals
    ),
    TestsChanged: st.builds(
        TestsChanged.ask,
        st.builds(Landing, unit=units, branch=texts, base=commits, commit=commits),
        texts,
        refused=ordinals,
        lane=lanes,
        ordinal=ordinals,
    ),
    UnitUndone: st.builds(UnitUndone.ask, units, commit=commits, why=texts, lane=lanes),
    UnitHeld: st.builds(
        UnitHeld.ask,
        units,
        st.sampled_from(["DRAFT_CLASS", "OPERATOR_GATED", "SOAK_OPEN"]),
        texts,
        behind=unique_units,
        lane=lanes,
        document=st.sampled_from(["", "docs/PLAN.md", "a:3"]),
        line=st.integers(1, 99),
        retries=st.booleans(),
        ordinal=ordinals,
    ),
    Incident: st.builds(
        Incident.ask,
        texts,
        what=texts,
        units=unique_units,
        commits=st.lists(commits, max_size=2),
        run_id=runs,
        lane=lanes,
    ),
    Spinning: st.builds(Spinning.ask, runs, lanes, texts, ordinal=ordinals, expires_ms=maybe_ms),
    HaltProposed: st.builds(
        HaltProposed.ask,
        st.sampled_from(["RID-1", "4711"]),
        position=ordinals,
        lane=st.just("") | lanes,
        run_id=st.just("") | runs,
        host=texts,
        command=texts,
        reason=texts,
    ),
    RunStopped: st.builds(RunStopped.ask, run_id=runs, lane=lanes, stop_reason=texts, reason=texts),
    PlanChanged: st.builds(PlanChanged.ask, **changed_texts),
    SettingsChanged: st.builds(SettingsChanged.ask, **changed_texts),
    BaselineFailed: st.builds(BaselineFailed.ask, checks),
    LimitReached: st.builds(LimitReached.ask, limits),
    LimitDoubted: st.builds(LimitDoubted.ask, limits),
    BudgetSpent: st.builds(BudgetSpent.ask, budget_rows),
    Added: st.builds(
        Added.ask, st.sampled_from(["FLAG", "note"]), lanes, texts, texts, answered=st.just(())
    ),
    UnknownQuestion: st.builds(
        Record,
        id=st.just("odd-1"),
        about=st.just("odd"),
        question=texts,
        choices=st.dictionaries(texts.filter(bool), texts, max_size=3),
        otherwise=texts,
        detail=st.dictionaries(texts, texts, max_size=2),
    ).map(lambda record: UnknownQuestion(id=record.id, text=record.question, record=record)),
}
questions = st.one_of(BY_CLASS.values())
