"""Each event has one sentence, and every surface shows that one."""

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, json, structs

from dos.agents.adapter import Ending, describe_ending
from dos.backlog.cooldown import AttemptOutcome
from dos.journal import streams
from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import RunStopped, UnitAttempted
from dos.journal.events.kinds import KINDS
from dos.journal.events.lanes import LeaseExpired, LeaseReleased
from dos.loop.tokens import iteration_words, words
from dos.loop.types import Action, OutcomeKind, StopReason, WorkerStop
from dos.questions.runs import RunStopped as RunStoppedQuestion
from dos.report import event_lines, event_text, timeline

PLAIN = {
    str: st.text("abc /:.", max_size=9),
    int: st.integers(0, 10**12),
    float: st.floats(0, 1000),
    bool: st.booleans(),
    NoneType: st.none(),
    Any: st.just("x"),
}


def any_value(kind: Any) -> st.SearchStrategy:
    """Whatever a field of a fact can hold, by its type."""
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, Struct):
        return st.builds(
            kind, **{field.name: any_value(field.type) for field in structs.fields(kind)}
        )
    origin, of = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return st.one_of(*map(any_value, of))
    if origin is list:
        return st.lists(any_value(of[0]), max_size=2)
    if origin is tuple:
        return st.lists(any_value(of[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(any_value(of[0]), any_value(of[1]), max_size=2)
    return st.sampled_from(kind)


def written(fact: Fact) -> Event:
    raw = json.encode(fact)
    return Event(
        pos=1, stream="s", ver=1, kind=fact.kind, at_ms=1, actor="", fence=None, key=None, schema=1,
        raw=raw
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(max_examples=5)
@given(data=st.data())
def test_every_surface_shows_the_one_sentence_of_an_event(kind: type[Fact], data):
    fact = data.draw(any_value(kind))
    if getattr(fact, "receipt", None):
        fact = structs.replace(fact, receipt={"signature": "s"})
    event = written(fact)
    (moment,) = timeline.moments([event])
    line = event_lines.event_line(event)
    assert moment.text == event_text.describe(fact, event.at_ms) != ""
    assert line is None or line.text == moment.text


@pytest.mark.parametrize("why", [*StopReason, *WorkerStop])
def test_a_stop_is_told_in_words(why: str):
    fact = RunStopped(run_id="R", lane="api", stop_reason=why, needs="nobody", reason="because")
    assert event_text.describe(fact, 0) == f"stopped: {words(why)} (because); needs no action"
    asked = RunStoppedQuestion.ask(run_id="R", lane="api", stop_reason=why, reason="because")
    assert asked.text == f"Run R on lane api stopped and needs you: {words(why)}, because"
    assert asked.token == why


@pytest.mark.parametrize("kind", OutcomeKind)
@pytest.mark.parametrize("action", Action)
def test_an_iteration_is_told_in_words(kind: OutcomeKind, action: Action):
    told = event_text.describe_decision(kind, action, "because")
    assert told == f"{iteration_words(kind)}; {words(action)}, because"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(max_examples=5)
@given(data=st.data())
def test_no_event_is_told_by_the_bare_name_of_its_kind(kind: type[Fact], data):
    fact = data.draw(any_value(kind))
    if getattr(fact, "receipt", None):
        fact = structs.replace(fact, receipt={"signature": "s"})
    text = event_text.describe(fact, 1)
    says_it_all = ("lease_renewed", "lease_released", "lease_revoked", "pause_ended")
    assert text != event_text.describe_kind(fact.kind) or fact.kind in says_it_all


@pytest.mark.parametrize("why", [*StopReason, *WorkerStop])
def test_a_released_lease_is_told_with_the_words_of_the_stop(why: str):
    assert event_text.describe(LeaseReleased(lease=1, reason=why), 0) == (
        f"lease released: {words(why)}"
    )


@pytest.mark.parametrize("outcome", AttemptOutcome)
def test_an_attempt_that_did_not_land_is_not_said_to_lack_a_commit(outcome: AttemptOutcome):
    fact = UnitAttempted(run_id="R", unit="P/1", outcome=outcome)
    told = event_text.describe(fact, 0)
    assert "commit" not in told
    assert (outcome == "drained") == (told == "attempt on P/1: nothing landed")


def test_a_lapsed_lease_is_shown_at_its_lane():
    event = written(LeaseExpired(lease=3))
    assert event_lines.event_line(event).where == "lease"
    line = event_lines.event_line(structs.replace(event, stream=streams.lease("api")))
    assert line.where == "api"
    assert "taken over" not in line.text


@pytest.mark.parametrize("ending", Ending)
def test_the_end_of_an_agent_is_told_without_a_token(ending: Ending):
    told = describe_ending(ending)
    assert "_" not in told and "ended with" not in told
    assert describe_ending("melted") == "ended with melted"
