"""Why nobody works on it: which of several reasons is told first, and how it reads."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dos.backlog.waiting import (
    FleetWaits,
    Waiting,
    WaitsOn,
    by_clearing_time,
    clears_first,
    describe_remaining_units,
    describe_waits,
)
from dos.times import format_local_time

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
WAITS = st.builds(
    Waiting,
    on=st.sampled_from(WaitsOn),
    subject=st.sampled_from(["api", "P/A1"]),
    why=st.sampled_from(["", "so"]),
    until=st.none() | st.integers(1, 100).map(lambda hours: NOW + timedelta(hours=hours)),
    clears_with=st.sampled_from(["", "dos up"]),
)


def waits(on: WaitsOn, hours: float | None = None, command: str = "") -> Waiting:
    until = None if hours is None else NOW + timedelta(hours=hours)
    return Waiting(on=on, subject="x", until=until, clears_with=command)


@given(st.lists(WAITS, max_size=6))
def test_the_one_that_clears_last_comes_first_and_none_is_told_twice(found):
    in_order = by_clearing_time(found)
    probed = [each for each in in_order if each.is_probed]
    assert list(in_order[len(in_order) - len(probed) :]) == probed, "they clear first"
    ends = [each.until for each in in_order if not each.is_probed]
    known = [end for end in ends if end is not None]
    assert ends[: len(ends) - len(known)] == [None] * (len(ends) - len(known)), (
        "no known end clears last of all"
    )
    assert known == sorted(known, reverse=True)
    assert sorted(map(str, by_clearing_time(found))) == sorted(map(str, dict.fromkeys(found)))


ANSWER = (waits(WaitsOn.PERSON, command="dos decide-for q retry"),)
TONIGHT = (waits(WaitsOn.COOLDOWN, 6),)
FAR = (waits(WaitsOn.SOAK, 24 * 365),)
NEVER = (waits(WaitsOn.DEPENDENCY),)
PROBED = (waits(WaitsOn.LIMIT),)


@pytest.mark.parametrize(
    ("found", "first"),
    [
        ([], ()),
        ([ANSWER, ()], ()),
        ([ANSWER, TONIGHT, PROBED], PROBED),
        ([ANSWER, TONIGHT], TONIGHT),
        ([FAR, ANSWER], ANSWER),
        ([NEVER, FAR], FAR),
        ([NEVER, ANSWER, FAR, TONIGHT], TONIGHT),
    ],
)
def test_of_units_any_of_which_would_do_the_lane_waits_for_the_likeliest(found, first):
    assert clears_first(found, NOW) == first


def test_what_is_told_names_the_reason_its_end_and_what_to_type():
    cooling = Waiting(
        on=WaitsOn.COOLDOWN, subject="P/A1", why="3 attempts", until=NOW,
        clears_with="dos up --retry P/A1"
    )  # fmt: skip
    until = format_local_time(NOW)
    assert str(cooling) == f"on cooldown until {until}: 3 attempts"
    behind = Waiting(on=WaitsOn.DEPENDENCY, subject="P/A1", why="P/A0 has not landed")
    assert describe_waits([cooling]) == f"{cooling}; dos up --retry P/A1"
    assert describe_waits([behind, cooling]) == (
        f"waits for another unit: P/A0 has not landed; 1 more reason: on cooldown until {until}"
    )
    assert describe_waits([cooling, behind, behind]).endswith(
        "; dos up --retry P/A1; 2 more reasons: waits for another unit, waits for another unit"
    )
    left = {"P/A1": (cooling,), "P/A2": (waits(WaitsOn.DEPENDENCY),), "P/A3": ()}
    assert describe_remaining_units(left) == (
        "3 units left. Waiting for other units: P/A2."
        f" On cooldown: P/A1 (until {until}: 3 attempts; dos up --retry P/A1)."
        " Can be started: P/A3."
    )


def test_what_a_person_left_is_told_without_a_question_and_with_what_starts_it_again():
    halted = Waiting(
        on=WaitsOn.PERSON, subject="api", why="halted: wrong plan", clears_with="dos resume api"
    )
    assert describe_waits([halted]) == "halted: wrong plan; `dos resume api` starts it again"
    asked = structs.replace(halted, why="Retry?", question="q", clears_with="dos decide-for q")
    assert describe_waits([asked]) == "needs an answer: Retry?; dos decide-for q"
    assert describe_remaining_units({"P/A1": (halted,)}) == (
        "1 unit left. Waiting for you: P/A1 (halted: wrong plan; `dos resume api` starts it again)."
    )


@pytest.mark.parametrize(
    ("waiting", "is_for_people"),
    [
        (waits(WaitsOn.PERSON, command="dos up"), True),
        (waits(WaitsOn.LIMIT, 2, command="dos limits lift x"), False),
        (waits(WaitsOn.ENVIRONMENT), False),
        (waits(WaitsOn.GATE, command="vi plan"), False),
        (
            Waiting(
                on=WaitsOn.BUDGET,
                subject="x",
                until=NOW,
                clears_with="dos decide-for b raise",
                question="b",
            ),
            True,
        ),
    ],
)
def test_only_what_nothing_else_clears_needs_a_person(waiting, is_for_people):
    assert waiting.needs_person is is_for_people


def test_what_waits_for_an_answer_may_wait_for_something_else_too():
    waiting = Waiting(
        on=WaitsOn.PERSON, subject="api", question="q", clears_with="dos decide-for q retry"
    )
    paused = Waiting(on=WaitsOn.PAUSE, subject="api", clears_with="dos resume")
    fleet_waits = FleetWaits(lanes={"api": (waiting, paused)}, units={"P/A1": (waiting, paused)})
    assert fleet_waits.waits_besides("q", lanes=["api"], units=["P/A1"]) == (paused,)
    assert fleet_waits.waits_besides("q", lanes=["docs"]) == ()
    assert fleet_waits.all_waits() == [waiting, paused]
