"""Which plans are due for another class, and how a document says its class."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.units import lifecycle
from dos.units.lifecycle import TRIGGERS, Outcome, PlanState
from dos.units.markdown import blocks, document
from dos.units.markdown.classification import classification, with_classification
from dos.units.policy import Lifecycle, Transition

NOW = 1_800_000_000_000
HOUR = 3_600_000
CLASSES = ("draft", "active", "done", "frozen")
MOVES = (
    Transition(from_class="draft", to_class="active", trigger="any_phase_shipped"),
    Transition(from_class="active", to_class="done", trigger="all_phases_shipped", auto=True),
    Transition(from_class="done", to_class="active", trigger="any_phase_open", auto=True),
    Transition(from_class="frozen", to_class="active", trigger="any_phase_open", auto=True),
)
POLICY = Lifecycle(
    classes=CLASSES, transitions=MOVES, veto_class="frozen", max_transitions_per_cycle=2
)


def plan(name="AUTH", plan_class="active", *, landed=0, missing=0, unknown=0):
    return PlanState(
        plan=name,
        document=f"docs/{name}-plan.md",
        plan_class=plan_class,
        landed=tuple(f"{name}/L{n}" for n in range(landed)),
        missing=tuple(f"{name}/M{n}" for n in range(missing)),
        unknown=tuple(f"{name}/U{n}" for n in range(unknown)),
    )


def cycle(*plans, policy=POLICY, moved=None):
    return lifecycle.cycle(plans, policy, moved_ms=moved or {}, now_ms=NOW)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (plan(landed=2), ("done", "due")),
        (plan(landed=2, plan_class="ACTIVE"), ("done", "due")),
        (plan(landed=2, missing=1), None),
        (plan(landed=2, missing=1, unknown=1), None),
        (plan(landed=2, unknown=1), ("done", "unknown")),
        (plan(), None),  # a plan without units has not shipped
        (plan(plan_class="draft", landed=1, missing=1), ("active", "not_auto")),
        (plan(plan_class="draft", missing=1), None),
        (plan(plan_class="", landed=1), ("active", "not_auto")),  # the first class is `draft`
        (plan(plan_class="done", landed=2), None),
        (plan(plan_class="done", landed=2, missing=1), ("active", "due")),
        (plan(plan_class="frozen", missing=1), ("active", "vetoed")),
        (plan(plan_class="docs", landed=1), None),  # no transition leaves it
    ],
    ids=repr,
)
def test_what_is_due(state, expected):
    assert [(move.to_class, move.outcome) for move in cycle(state)] == (
        [expected] if expected else []
    )


def test_a_trigger_of_somebody_else_is_reported_and_never_true():
    own = Lifecycle(transitions=(Transition(from_class="active", to_class="done", trigger="moon"),))
    (move,) = cycle(plan(landed=1), policy=own)
    assert move.outcome == Outcome.UNKNOWN
    assert "all_phases_shipped" in move.reason


def test_no_more_plans_than_the_limit_move_and_by_name():
    found = cycle(*(plan(name, landed=1) for name in "CADB"))
    assert [(move.plan, move.outcome) for move in found] == [
        ("A", "due"), ("B", "due"), ("C", "limit"), ("D", "limit"),
    ]  # fmt: skip


def test_what_rests_takes_no_place_of_the_limit():
    moved = {"docs/A-plan.md": NOW - HOUR, "docs/B-plan.md": NOW - 72 * HOUR}
    found = cycle(*(plan(name, landed=1) for name in "ABC"), moved=moved)
    assert [move.outcome for move in found] == ["cooldown", "due", "due"]
    assert "3.0 days more" in found[0].reason


PLANS = st.lists(
    st.builds(
        plan,
        st.text("ABC", min_size=1, max_size=3),
        st.sampled_from((*CLASSES, "", "docs")),
        landed=st.integers(0, 2),
        missing=st.integers(0, 2),
        unknown=st.integers(0, 1),
    ),
    max_size=12,
    unique_by=lambda each: each.document,
)
POLICIES = st.builds(
    Lifecycle,
    classes=st.just(CLASSES),
    transitions=st.lists(
        st.builds(
            Transition,
            from_class=st.sampled_from(CLASSES),
            to_class=st.sampled_from(CLASSES),
            trigger=st.sampled_from((*TRIGGERS, "moon")),
            auto=st.booleans(),
        )
    ).map(tuple),
    veto_class=st.sampled_from(("", *CLASSES)),
    max_transitions_per_cycle=st.integers(0, 4),
    per_plan_cooldown_hours=st.floats(0, 100),
)


@given(PLANS, POLICIES, st.dictionaries(st.sampled_from("ABC"), st.integers(0, 200)))
def test_only_automatic_proven_transitions_are_due(plans, policy, ages):
    moved = {f"docs/{name}-plan.md": NOW - hours * HOUR for name, hours in ages.items()}
    found = cycle(*plans, policy=policy, moved=moved)
    documents = [move.document for move in found]
    assert len(set(documents)) == len(documents)
    due = [move for move in found if move.outcome == "due"]
    assert len(due) <= policy.max_transitions_per_cycle
    by_document = {each.document: each for each in plans}
    for move in due:
        state = by_document[move.document]
        assert TRIGGERS[move.trigger](state) is True
        assert move.from_class == lifecycle.class_of(state, policy) != policy.veto_class
        assert any(
            (rule.from_class, rule.to_class, rule.trigger, rule.auto)
            == (move.from_class, move.to_class, move.trigger, True)
            for rule in policy.transitions
        )
        age = ages.get(state.plan)
        assert age is None or age >= policy.per_plan_cooldown_hours


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A1: x\n", "---\nclassification: done\n---\n\n## A1: x\n"),
        ("---\nplan: A\n---\n# T\n", "---\nplan: A\nclassification: done\n---\n# T\n"),
        (
            "---\nClassification : 'active'  # now\nplan: A\n---\n",
            "---\nClassification : done\nplan: A\n---\n",
        ),
        (
            "---\nclassification: a\nclassification: b\n...\nx",
            "---\nclassification: done\nclassification: done\n...\nx",
        ),
        (
            "\ufeff---\r\nplan: A\r\n---\r\nx\r\n",
            "\ufeff---\r\nplan: A\r\nclassification: done\r\n---\r\nx\r\n",
        ),
        ("---\n\na rule\n---\n", "---\nclassification: done\n---\n\n---\n\na rule\n---\n"),
        ("", "---\nclassification: done\n---\n\n"),
    ],
    ids=repr,
)
def test_the_class_is_written_and_all_else_stays(before, after):
    assert with_classification(before, "done") == after
    assert classification(after) == "done"


LINES = st.sampled_from(
    ("---", "...", "classification: active", "plan: X", "## A1: one", "- lane: api", "text", "# T",
     "", "- [ ] **A2** two", "```", "class: docs", "\tx: y")
)  # fmt: skip


@given(st.lists(LINES, max_size=14), st.sampled_from(("\n", "\r\n")))
def test_a_written_class_is_read_again_and_changes_no_unit(lines, end):
    text = end.join(lines)
    changed = with_classification(text, "done")
    assert classification(changed) == "done"
    before = document.read(text, plan="P")
    after = document.read(changed, plan="P")
    assert [unit.fingerprint for unit in before.units] == [unit.fingerprint for unit in after.units]
    made = changed.split("\n")
    if not blocks.read_text(text).front:
        made = made[4:]
    stays = [line for line in text.split("\n") if not line.startswith("classification")]
    assert [line for line in made if not line.startswith("classification")] == stays
