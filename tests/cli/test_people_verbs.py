"""The verbs for people: what is asked, what was answered, what it cost."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commanding import Answer, command, in_its_own_process
from msgspec import json
from patience import PATIENCE

from dos.journal import fold
from dos.journal.engine_events import DecisionAnswered, LimitHit, LimitLifted, RunParked, RunUnparked
from dos.journal.events import AgentEnded, AgentStarted, Fact, IterationCommitted, RunBegun, RunStopped, UnitLanded
from dos.journal.states import decisions, quota
from dos.journal.states.quota import Quota
from dos.journal.store import Entry, Store
from dos.plans.limits import deciding
from dos.plans.limits.budget import Row
from dos.records.endings import Usage
from dos.sources import workspace as places
from dos.sources.world import open_journal

Dos = Callable[..., Answer]
RACERS = 8
T = 1_800_000_000_000  # 2027-01-15 08:00 UTC


@pytest.fixture
def journal(workspace: Path) -> Iterator[Store]:
    with open_journal(places.find(workspace), "", actor="fleet") as store:
        yield store


def ask(journal: Store, *questions: deciding.Question) -> None:
    journal.append_all([decisions.raising(question) for question in questions])


FAILED = deciding.lane_failed("api", "exit 1")
SPINS = deciding.spinning("RID-1", "docs", "nothing landed for an hour", expires_ms=T)


def test_nothing_to_decide_is_said_and_makes_no_journal(dos: Dos, state: Path) -> None:
    assert dos("decisions").out == "nothing waits for a person\n"
    assert dos("decisions", "--json").json == []
    assert dos("decisions", "show", "1").code == 1
    assert dos("decide-for", "x", "y").code == 2
    assert dos("costs").code == 0
    assert not state.exists()


def test_the_list_says_what_waits_since_when_and_what_happens_without_an_answer(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED, SPINS)
    said = dos("decisions").out
    assert "2 questions for a person" in said
    assert "lane:api waits since" in said
    assert "expires 2027-01-15T08:00:00Z, then: leave" in said
    assert "dos decide-for lane-failed-api-1 retry|leave" in said
    first, second = dos("decisions", "--json").json
    assert (first["id"], first["kind"]) == ("spinning-RID-1-1", "LIVENESS"), "who spins costs money all the time"
    assert (second["waits"], second["expires_at"], second["answer"]) == (["lane:api"], None, None)
    assert second["proposed_command"] == "dos decide-for lane-failed-api-1 retry"


def test_rows_keep_the_keys_that_scripts_know(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED)
    (row,) = dos("decisions", "--json").json
    known = (
        "kind resolver_kind lane reason_token reason_text run_id run_ts age_seconds source_path evidence "
        "proposed_command handle dup_count"
    )
    assert set(known.split()) <= set(row)


def test_one_question_is_shown_by_its_id_and_by_its_number(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED, SPINS)
    shown = dos("decisions", "show", "lane-failed-api-1")
    assert (shown.code, shown.out) == (0, dos("decisions", "2").out)
    assert "the lane is worked on again" in shown.out
    assert "expires  with the next `dos up`, then: retry" in shown.out
    for wrong in ("3", "0", "lane-failed-web-1"):
        answer = dos("decisions", "show", wrong)
        assert (answer.code, answer.out) == (2, "")
        assert "spinning-RID-1-1" in answer.err


@pytest.mark.parametrize("words", [("decide-for",), ("decisions", "answer")])
def test_the_first_answer_counts_and_the_second_is_told_so(dos: Dos, journal: Store, words: tuple[str, ...]) -> None:
    ask(journal, FAILED)
    first = dos(*words, FAILED.id, "retry", "--by", "ann")
    assert (first.code, first.out) == (0, "lane-failed-api-1: retry; free to go on: lane:api\n")
    written = journal.last()
    second = dos(*words, FAILED.id, "leave", "--by", "bob", "--json")
    assert (second.code, second.json["answered"]) == (1, False)
    assert (second.json["answer"]["choice"], second.json["answer"]["by"]) == ("retry", "ann")
    assert journal.last() == written
    assert dos("decisions", "--json").json == []
    (row,) = dos("decisions", "--all", "--json").json
    assert row["answer"]["by"] == "ann"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("lane-failed-web-1", "retry"), "These wait: lane-failed-api-1."),
        (("lane-failed-api-1", "maybe"), "It can be answered with: retry, leave."),
        (("1", "retry"), "These wait: lane-failed-api-1."),
        (("", "retry"), "hint"),
    ],
)
def test_an_answer_to_nothing_or_that_is_none_changes_nothing(
    dos: Dos, journal: Store, words: tuple[str, str], told: str
) -> None:
    ask(journal, FAILED)
    answer = dos("decide-for", *words)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert journal.last() == 1


def test_the_lane_that_waits_stands_for_the_one_question_about_it(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED, SPINS)
    assert dos("decide-for", "docs", "leave").code == 2, "nothing waits for that one"
    assert dos("decide-for", "2", "retry").code == 2, "the list may have changed since it was printed"
    assert dos("decide-for", "api", "retry", "--json").json["id"] == FAILED.id


def test_of_two_questions_about_a_lane_one_must_be_named(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED, deciding.lane_failed("api", "exit 2", ordinal=2))
    assert dos("decide-for", "api", "retry").code == 2


def test_what_follows_from_an_answer_is_written_with_it(dos: Dos, journal: Store) -> None:
    hit = LimitHit(vendor="acme", account="work", ending="auth")
    journal.record(quota.stream_of(hit), hit)
    (limit,) = fold.current(journal, Quota)[0].limits.values()
    ask(journal, deciding.limit(limit))
    assert dos("decide-for", "limit-acme/work-1", "fixed").code == 0
    assert [event.kind for event in journal.tail(2)] == [DecisionAnswered.kind, LimitLifted.kind]


def test_a_question_is_answered_once_however_many_processes_answer_it(workspace: Path, journal: Store) -> None:
    row = Row(scope="run", subject="RID-1", measure="usd", spent=10, limit=10)
    question = deciding.budget(row)
    ask(journal, question)
    racers = [
        subprocess.Popen(
            command("decide-for", question.id, "raise" if number % 2 else "stop", "--by", f"p{number}", "--json"),
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(RACERS)
    ]
    ended = [(racer.communicate(timeout=PATIENCE), racer.returncode) for racer in racers]
    assert sorted(code for _, code in ended) == [0] + [1] * (RACERS - 1), [errors for (_, errors), _ in ended]
    said = [json.decode(out)["answer"] for (out, _), _ in ended]
    assert all(each == said[0] for each in said), "all are told the same answer"
    winner = next(json.decode(out)["answer"]["by"] for (out, _), code in ended if code == 0)
    assert winner == said[0]["by"]
    assert len(journal.load(decisions.stream(question.id))) == 2


def test_an_answer_is_there_after_everybody_has_gone(workspace: Path, journal: Store) -> None:
    ask(journal, FAILED)
    assert in_its_own_process("decide-for", FAILED.id, "leave", "--by", "ann", cwd=workspace).code == 0
    (row,) = in_its_own_process("decisions", "--all", "--json", cwd=workspace).json
    assert row["answer"] | {"at": ""} == {"choice": "leave", "by": "ann", "at": "", "expired": False}


# What it cost


def write(journal: Store, at_s: int, *facts: Fact) -> None:
    entries = [
        Entry(stream="run/RID-1", kind=fact.kind, body=fact, at_ms=T + 1000 * (at_s + number))
        for number, fact in enumerate(facts)
    ]
    journal.append_all(entries)


def iteration(journal: Store, at_s: int, number: int, unit: str, usd: float | None, *, lands: bool) -> None:
    who = {"run_id": "RID-1", "lane": "api", "unit": unit}
    usage = [] if usd is None else [Usage(model="m", input_tokens=1000)]
    ended = AgentEnded(
        **who, iteration=number, outcome="ok", exit_code=0, claim="", seconds=60.0, usage=usage, cost_usd=usd
    )
    landed = [UnitLanded(**who, branch="main", base="", commit="c")] if lands else []
    write(
        journal,
        at_s,
        AgentStarted(**who, iteration=number, agent="a", base=""),
        ended,
        *landed,
        IterationCommitted(**who, iteration=number, outcome="SHIPPED", action="continue", reason=""),
    )


@pytest.fixture
def paid(journal: Store) -> None:
    write(journal, 0, RunBegun(run_id="RID-1", lane="api", host="h", start_sha=""))
    iteration(journal, 60, 1, "U1", 1.5, lands=False)
    iteration(journal, 120, 2, "U1", 0.5, lands=True)
    write(journal, 130, RunParked(run_id="RID-1", lane="api", why="quota"))
    write(journal, 190, RunUnparked(run_id="RID-1", lane="api"))
    iteration(journal, 86_400, 3, "U2", 4.0, lands=True)
    write(journal, 86_500, RunStopped(run_id="RID-1", lane="api", stop_reason="drained", needs="nobody", reason=""))


@pytest.mark.usefixtures("paid")
def test_costs_are_told_for_each_landed_unit_and_what_came_to_nothing_apart(dos: Dos) -> None:
    told = dos("costs", "--json").json
    first, second = told["rows"]
    assert (first["name"], first["total"]["usd"], first["rejected"]["usd"], first["landed"]["usd"]) == (
        "U1",
        2,
        1.5,
        0.5,
    )
    assert (second["name"], second["landed"]["usd"], second["rejected"]["usd"]) == ("U2", 4, 0)
    assert told["per_landed_unit"] == {"usd": 3.0, "tokens": 1500.0, "wall_seconds": 90.0}
    assert told["total"]["parked_seconds"] == 60
    assert told["total"]["idle_seconds"] == 86_500 - 60 - 3 * 60
    assert "each landed unit: $3.00, 1,500 tokens, 90 s of agents' time" in dos("costs").out


@pytest.mark.usefixtures("paid")
@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("lane", {"api": 6.0}),
        ("day", {"2027-01-15": 2.0, "2027-01-16": 4.0}),
        ("agent", {"a": 6.0}),
        ("unit", {"U1": 2.0, "U2": 4.0}),
    ],
)
def test_costs_by_anything_add_up_to_the_same(dos: Dos, by: str, expected: dict[str, float]) -> None:
    told = dos("costs", "--by", by, "--json").json
    assert {row["name"]: row["total"]["usd"] for row in told["rows"]} == expected
    assert told["total"]["total"]["usd"] == 6.0


@pytest.mark.usefixtures("paid")
def test_since_counts_only_what_was_spent_after_it(dos: Dos) -> None:
    told = dos("costs", "--since", "2027-01-16", "--json").json
    assert [row["name"] for row in told["rows"]] == ["U2"]
    assert (told["total"]["total"]["usd"], told["since"]) == (4.0, "2027-01-16T00:00:00Z")
    assert dos("costs", "--since", "2099-01-01").out == "no agent has been started since 2099-01-01T00:00:00Z\n"
    assert dos("costs", "--since", "yesterday").code == 2
    assert dos("costs", "--by", "moon").code == 2


@pytest.mark.usefixtures("paid")
def test_an_unknown_cost_is_never_nothing(dos: Dos, journal: Store) -> None:
    iteration(journal, 90_000, 4, "U3", None, lands=True)
    told = dos("costs", "--json").json
    third = told["rows"][2]
    assert (third["name"], third["total"]["usd"], third["total"]["tokens"]) == ("U3", None, None)
    assert (told["total"]["total"]["usd"], told["total"]["total"]["known_usd"]) == (None, 6.0)
    assert told["per_landed_unit"]["usd"] is None
    said = dos("costs").out
    assert "$6.00 + unknown" in said
    assert "the cost of 1 of 4 agents is unknown" in said
    assert "each landed unit: unknown" in said
