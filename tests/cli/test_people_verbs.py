"""The verbs for people: what is asked, what was answered, what it cost."""

import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from commanding import Answer, command, in_its_own_process
from msgspec import json
from patience import PATIENCE

from dos import workspace as places
from dos.agents.adapter import Usage
from dos.fleet.io.observer import FleetObserver
from dos.journal import fold, streams
from dos.journal.backend import Entry
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import (
    AgentEnded,
    AgentStarted,
    IterationCommitted,
    RunBegun,
    RunStopped,
    UnitClaimed,
    UnitLanded,
)
from dos.journal.events.limits import (
    DecisionAnswered,
    HaltRequested,
    LimitHit,
    LimitLifted,
    RunParked,
    RunUnparked,
)
from dos.journal.store import Store
from dos.limits.accounts import RunAccount
from dos.limits.budget import BudgetLine
from dos.limits.state import quota
from dos.limits.state.quota import ProviderLimits
from dos.questions import state as decisions
from dos.questions.catalog import AnyQuestion
from dos.questions.lanes import FailedUnit, LaneFailed, UnitsFailed
from dos.questions.resources import BudgetSpent, limit_question
from dos.questions.runs import Spinning
from dos.questions.units import LandingConflict
from dos.times import format_local_time, utc_datetime
from dos.world import open_journal

Dos = Callable[..., Answer]
RACERS = 8
T = 1_800_000_000_000  # 2027-01-15 08:00 UTC


@pytest.fixture
def journal(workspace: Path) -> Iterator[Store]:
    with open_journal(places.find(workspace), "", actor="fleet") as store:
        yield store


def ask(journal: Store, *questions: AnyQuestion) -> None:
    journal.append_all([decisions.raise_entry(question) for question in questions])


FAILED = LaneFailed.ask("api", "exit 1")
SPINS = Spinning.ask("RID-1", "docs", "nothing landed for an hour", expires_ms=T)


def test_nothing_to_decide_is_said_and_makes_no_journal(dos: Dos, state: Path) -> None:
    assert dos("decisions").out == "No open decisions\n"
    assert dos("decisions", "--json").json == []
    assert dos("decisions", "show", "1").code == 1
    assert dos("decide-for", "x", "y").code == 2
    assert dos("costs").code == 0
    assert not state.exists()


@pytest.mark.parametrize("words", [("decisions",), ("decisions", "show", "lane-failed-api-1")])
def test_the_fleet_is_observed_once(dos: Dos, journal: Store, monkeypatch, words) -> None:
    ask(journal, FAILED)
    observed = []
    observe = FleetObserver.observe

    def counting(observer, **more):
        observed.append(more)
        return observe(observer, **more)

    monkeypatch.setattr(FleetObserver, "observe", counting)
    assert dos(*words).code == 0
    assert len(observed) == 1


def test_the_list_says_what_waits_since_when_and_what_happens_without_an_answer(
    dos: Dos, journal: Store
) -> None:
    ask(journal, FAILED, SPINS)
    output = dos("decisions").out
    assert "2 open decisions" in output
    assert "lane api has waited" in output
    at = format_local_time(utc_datetime(T), datetime.now(UTC))
    assert f"If unanswered at {at}, dos answers leave." in output
    assert "dos decide-for lane-failed-api-1 retry|leave" in output
    first, second = dos("decisions", "--json").json
    assert (first["id"], first["kind"]) == ("spinning-RID-1-1", "LIVENESS"), (
        "who spins costs money all the time"
    )
    assert (second["waits"], second["expires_at"], second["answer"]) == (["lane:api"], None, None)
    assert second["proposed_command"] == "dos decide-for lane-failed-api-1 retry"


def test_rows_keep_the_keys_that_scripts_know(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED)
    (row,) = dos("decisions", "--json").json
    known = (
        "kind resolver_kind lane reason_token reason_text run_id run_ts age_seconds "
        "source_path evidence "
        "proposed_command handle dup_count"
    )
    assert set(known.split()) <= set(row)


def test_one_question_is_shown_by_its_id_and_by_its_number(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED, SPINS)
    shown = dos("decisions", "show", "lane-failed-api-1")
    assert (shown.code, shown.out) == (0, dos("decisions", "2").out)
    assert "start workers on the lane again" in shown.out
    assert "closes   If unanswered, the next `dos up` answers retry." in shown.out
    ask(journal, UnitsFailed.ask("api", "RID-2", [FailedUnit(unit="A/A1")]))
    output = dos("decisions", "show", "lane-stopped-RID-2-1").out
    assert (
        "If unanswered, the next `dos up` tries its units again, each once its cooldown is over."
        in output
    )
    for wrong in ("4", "0", "lane-failed-web-1"):
        answer = dos("decisions", "show", wrong)
        assert (answer.code, answer.out) == (2, "")
        assert "spinning-RID-1-1" in answer.err


@pytest.mark.parametrize("words", [("decide-for",), ("decisions", "answer")])
def test_the_first_answer_counts_and_the_second_is_told_so(
    dos: Dos, journal: Store, words: tuple[str, ...]
) -> None:
    ask(journal, FAILED)
    first = dos(*words, FAILED.id, "retry", "--by", "ann")
    assert (first.code, first.out) == (0, "Answered: retry. Lane api can start again.\n")
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
        (("lane-failed-web-1", "retry"), "Open decisions: lane-failed-api-1."),
        (("lane-failed-api-1", "maybe"), "Answer with one of: retry, leave."),
        (("1", "retry"), "Number 1 is now: dos decide-for lane-failed-api-1 retry"),
        (("2", "retry"), "Open decisions: lane-failed-api-1."),
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
    assert dos("decide-for", "2", "retry").code == 2, (
        "the list may have changed since it was printed"
    )
    assert dos("decide-for", "api", "retry", "--json").json["id"] == FAILED.id


def test_of_two_questions_about_a_lane_one_must_be_named(dos: Dos, journal: Store) -> None:
    ask(journal, FAILED, LaneFailed.ask("api", "exit 2", ordinal=2))
    assert dos("decide-for", "api", "retry").code == 2


def test_what_follows_from_an_answer_is_written_with_it(dos: Dos, journal: Store) -> None:
    hit = LimitHit(vendor="acme", account="work", ending="auth")
    journal.record(streams.limit(quota.limit_key(hit)), hit)
    (limit,) = fold.current(journal, ProviderLimits)[0].limits.values()
    ask(journal, limit_question(limit))
    assert dos("decide-for", "limit-acme/work-1", "fixed").code == 0
    assert [event.kind for event in journal.tail(2)] == [DecisionAnswered.kind, LimitLifted.kind]


@pytest.mark.soak
def test_a_question_is_answered_once_however_many_processes_answer_it(
    workspace: Path, journal: Store
) -> None:
    row = BudgetLine(account=RunAccount(run_id="RID-1"), measure="usd", spent=10, limit=10)
    question = BudgetSpent.ask(row)
    ask(journal, question)
    racers = [
        subprocess.Popen(
            command(
                "decide-for",
                question.id,
                "raise" if number % 2 else "stop",
                "--by",
                f"p{number}",
                "--json",
            ),
            cwd=workspace,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(RACERS)
    ]
    ended = [(racer.communicate(timeout=PATIENCE), racer.returncode) for racer in racers]
    assert sorted(code for _, code in ended) == [0] + [1] * (RACERS - 1), [
        errors for (_, errors), _ in ended
    ]
    answers = [json.decode(out)["answer"] for (out, _), _ in ended]
    assert all(each == answers[0] for each in answers), "all are told the same answer"
    winner = next(json.decode(out)["answer"]["by"] for (out, _), code in ended if code == 0)
    assert winner == answers[0]["by"]
    assert len(journal.load(streams.decision(question.id))) == 2


def test_an_answer_is_there_after_everybody_has_gone(workspace: Path, journal: Store) -> None:
    ask(journal, FAILED)
    assert (
        in_its_own_process("decide-for", FAILED.id, "leave", "--by", "ann", cwd=workspace).code == 0
    )
    (row,) = in_its_own_process("decisions", "--all", "--json", cwd=workspace).json
    assert row["answer"] | {"at": ""} == {
        "choice": "leave",
        "by": "ann",
        "at": "",
        "expired": False,
        "reason": "",
    }


# What it cost


def write(journal: Store, at_s: int, *facts: Fact) -> None:
    entries = [
        Entry(stream="run/RID-1", kind=fact.kind, body=fact, at_ms=T + 1000 * (at_s + number))
        for number, fact in enumerate(facts)
    ]
    journal.append_all(entries)


def iteration(
    journal: Store, at_s: int, number: int, unit: str, usd: float | None, *, lands: bool
) -> None:
    who = {"run_id": "RID-1", "lane": "api", "unit": unit}
    usage = [] if usd is None else [Usage(model="m", input_tokens=1000)]
    ended = AgentEnded(
        **who,
        iteration=number,
        outcome="ok",
        exit_code=0,
        claim="",
        seconds=60.0,
        usage=usage,
        cost_usd=usd,
    )
    landed = [UnitLanded(**who, branch="main", base="", commit="c")] if lands else []
    write(
        journal,
        at_s,
        AgentStarted(**who, iteration=number, agent="a", base=""),
        ended,
        *landed,
        IterationCommitted(
            **who, iteration=number, outcome="SHIPPED", action="continue", reason=""
        ),
    )


@pytest.fixture
def paid(journal: Store) -> None:
    write(journal, 0, RunBegun(run_id="RID-1", lane="api", host="h", start_sha=""))
    iteration(journal, 60, 1, "U1", 1.5, lands=False)
    iteration(journal, 120, 2, "U1", 0.5, lands=True)
    write(journal, 130, RunParked(run_id="RID-1", lane="api", why="quota"))
    write(journal, 190, RunUnparked(run_id="RID-1", lane="api"))
    iteration(journal, 86_400, 3, "U2", 4.0, lands=True)
    write(
        journal,
        86_500,
        RunStopped(run_id="RID-1", lane="api", stop_reason="drained", needs="nobody", reason=""),
    )


@pytest.mark.usefixtures("paid")
def test_costs_are_told_for_each_landed_unit_and_what_came_to_nothing_apart(dos: Dos) -> None:
    answer = dos("costs", "--json").json
    first, second = answer["rows"]
    assert (
        first["name"],
        first["total"]["usd"],
        first["rejected"]["usd"],
        first["landed"]["usd"],
    ) == (
        "U1",
        2,
        1.5,
        0.5,
    )
    assert (second["name"], second["landed"]["usd"], second["rejected"]["usd"]) == ("U2", 4, 0)
    assert answer["per_landed_unit"] == {"usd": 3.0, "tokens": 1500.0, "wall_seconds": 90.0}
    assert answer["total"]["parked_seconds"] == 60
    assert answer["total"]["idle_seconds"] == 86_500 - 60 - 3 * 60
    assert "Per landed unit: $3.00, 1,500 tokens, 90 s of agent time" in dos("costs").out


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
def test_costs_by_anything_add_up_to_the_same(
    dos: Dos, by: str, expected: dict[str, float]
) -> None:
    answer = dos("costs", "--by", by, "--json").json
    assert {row["name"]: row["total"]["usd"] for row in answer["rows"]} == expected
    assert answer["total"]["total"]["usd"] == 6.0


@pytest.mark.usefixtures("paid")
def test_since_counts_only_what_was_spent_after_it(dos: Dos) -> None:
    answer = dos("costs", "--since", "2027-01-16", "--json").json
    assert [row["name"] for row in answer["rows"]] == ["U2"]
    assert (answer["total"]["total"]["usd"], answer["since"]) == (4.0, "2027-01-16T00:00:00Z")
    assert (
        dos("costs", "--since", "2099-01-01").out
        == "No agent was started since 2099-01-01 00:00 UTC\n"
    )
    assert dos("costs", "--since", "yesterday").code == 2
    assert dos("costs", "--by", "moon").code == 2


@pytest.mark.usefixtures("paid")
def test_an_unknown_cost_is_never_nothing(dos: Dos, journal: Store) -> None:
    iteration(journal, 90_000, 4, "U3", None, lands=True)
    answer = dos("costs", "--json").json
    third = answer["rows"][2]
    assert (third["name"], third["total"]["usd"], third["total"]["tokens"]) == ("U3", None, None)
    assert (answer["total"]["total"]["usd"], answer["total"]["total"]["known_usd"]) == (None, 6.0)
    assert answer["per_landed_unit"]["usd"] is None
    output = dos("costs").out
    assert "$6.00 + unknown" in output
    assert "The cost of 1 of 4 agent runs is unknown and not included" in output
    assert "Per landed unit: unknown" in output


# What waits for a person besides the fleet's questions

HELD_PLAN = """# Auth

## AUTH A1: which vendor
- lane: api
- gated: which vendor

## AUTH A2: sign in
- lane: api
- depends: AUTH/A1

## AUTH A3: sign out
- lane: api
- depends: AUTH/A2

## AUTH A4: rest
- lane: docs
- soak until: 2099-01-01

## AUTH A5: think
- lane: docs
- class: draft
"""


@pytest.fixture
def held(workspace: Path) -> Path:
    plan = workspace / "docs" / "auth-plan.md"
    plan.write_text(HELD_PLAN)
    return plan


def ids(dos: Dos) -> list[str]:
    return [row["id"] for row in dos("decisions", "--json").json]


def test_units_that_wait_for_a_person_are_listed_with_what_waits_behind_them(
    dos: Dos, held: Path
) -> None:
    rows = {row["detail"]["unit"]: row for row in dos("decisions", "--json").json}
    assert list(rows) == ["AUTH/A1", "AUTH/A4", "AUTH/A5"], (
        "what waits for another unit waits for no person"
    )
    gated = rows["AUTH/A1"]
    assert (gated["kind"], gated["reason_token"], gated["lane"]) == (
        "UNIT_HELD",
        "OPERATOR_GATED",
        "api",
    )
    assert (
        gated["waits"] == ["unit:AUTH/A1", "unit:AUTH/A2", "unit:AUTH/A3"]
        and "which vendor" in gated["question"]
    )
    assert (
        gated["source_path"].startswith("docs/auth-plan.md:")
        and "docs/auth-plan.md" in gated["proposed_command"]
    )
    assert (rows["AUTH/A4"]["kind"], rows["AUTH/A4"]["reason_token"]) == ("SOAK_GATE", "SOAK_OPEN")
    assert rows["AUTH/A5"]["reason_token"] == "DRAFT_CLASS"
    shown = dos("decisions", "show", gated["id"])
    first = dos("decisions", "show", "1")
    assert (shown.code, first.out) == (0, shown.out)
    assert "asked" not in shown.out and " ago" not in shown.out, "no event says since when"
    listed = dos("decisions").out
    assert "unit AUTH/A1, unit AUTH/A2, unit AUTH/A3 wait for it." in listed
    assert "waited" not in listed
    assert "2 units wait for it: AUTH/A2, AUTH/A3" in shown.out and "remove `gated`" in shown.out
    refused = dos("decide-for", gated["id"], "retry")
    assert (refused.code, refused.out) == (2, "") and "docs/auth-plan.md" in refused.err
    held.write_text(
        HELD_PLAN.replace("- gated: which vendor\n", "").replace("- class: draft\n", "")
    )
    assert ids(dos) == ["unit-held-AUTH/A4-1"]


def test_dos_top_counts_the_decisions_that_dos_decisions_lists(dos: Dos, held: Path) -> None:
    shown = dos("top", "--json").json["decisions"]
    assert (shown["open"], shown["first_id"]) == (3, ids(dos)[0])
    assert "3 open decisions (`dos decisions`): " in dos("top", "--once").out


def test_a_unit_at_which_runs_died_is_tried_again_on_a_persons_word(
    dos: Dos, held: Path, journal: Store
) -> None:
    claim = {"run_id": "RID-1", "lane": "api", "unit": "AUTH/A1", "iteration": 1, "repeated": True}
    held.write_text(HELD_PLAN.replace("- gated: which vendor\n", ""))
    for _ in range(2):
        journal.record("run/RID-1", UnitClaimed(**claim))
    assert dos("pickable", "A1").code == 11
    assert dos("decide-for", "unit-held-AUTH/A1-1", "retry").code == 0
    assert dos("pickable", "A1").code == 0 and "unit-held-AUTH/A1-1" not in ids(dos)
    assert dos("decide-for", "unit-held-AUTH/A1-1", "retry").code == 1


def test_a_unit_that_a_question_is_about_is_listed_once(
    dos: Dos, held: Path, journal: Store
) -> None:
    ask(journal, LandingConflict.ask("AUTH/A1", ["red"]))
    assert [name for name in ids(dos) if "A1" in name] == ["landing-conflict-AUTH/A1-1"]


def test_a_unit_that_a_person_left_is_not_asked_about_again(
    dos: Dos, workspace: Path, journal: Store
) -> None:
    plan = HELD_PLAN.replace("- gated: which vendor\n", "")
    (workspace / "docs" / "auth-plan.md").write_text(plan)
    before = ids(dos)
    ask(journal, UnitsFailed.ask("api", "RID-1", [FailedUnit(unit="AUTH/A1")]))
    assert dos("decide-for", "lane-stopped-RID-1-1", "leave", "--by", "ann").code == 0
    assert ids(dos) == before, "the answer leaves nothing to decide"
    assert "ann answered `leave` (lane-stopped-RID-1-1)" in dos("status").out
    held = dos("pickable", "A1")
    assert held.code == 11, "it is held all the same"
    assert "a person decides: ann answered `leave` (lane-stopped-RID-1-1)" in held.out


def test_a_proposed_halt_is_on_the_list_until_it_is_answered_or_its_run_has_stopped(
    dos: Dos, journal: Store
) -> None:
    run_id = dos("run-id", "mint", "w").json["run_id"]
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A", "--run-id", run_id)
    for _ in range(2):
        assert (
            dos(
                "halt",
                "--handle",
                "4711",
                "--lane",
                "api",
                "--run-id",
                run_id,
                "--reason",
                "it spins",
            ).code
            == 0
        )
    (row,) = dos("decisions", "--json").json
    assert (row["kind"], row["run_id"], row["lane"]) == ("HALT_PROPOSED", run_id, "api")
    assert "it spins" in row["question"] and [choice["name"] for choice in row["choices"]] == [
        "halt",
        "leave",
    ]
    assert dos("decide-for", row["id"], "halt", "--by", "ann").code == 0
    assert journal.load(streams.run(run_id))[-1].kind == HaltRequested.kind
    assert ids(dos) == [] and dos("decisions", "--all", "--json").json[0]["answer"]["by"] == "ann"
    assert dos("decide-for", row["id"], "leave").code == 1, "the first answer counts"
    dos(
        "halt",
        "--handle",
        "4711",
        "--lane",
        "api",
        "--run-id",
        run_id,
        "--reason",
        "it spins again",
    )
    assert len(ids(dos)) == 1
    stopped = RunStopped(
        run_id=run_id, lane="api", stop_reason="halted", needs="operator", reason="so"
    )
    journal.record(streams.run(run_id), stopped)
    assert ids(dos) == []


def test_a_proposal_about_a_process_says_the_command_and_goes_with_the_process(
    dos: Dos, journal: Store
) -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        dos(
            "halt",
            "--handle",
            str(process.pid),
            "--reason",
            "too loud",
            "--command",
            f"kill {process.pid}",
        )
        (row,) = dos("decisions", "--json").json
        assert row["proposed_command"] == f"kill {process.pid}"
        assert f"proposes the command 'kill {process.pid}'.\n" in dos("decisions").out
        process.kill()
    assert ids(dos) == []


def test_a_run_by_hand_that_needs_a_person_is_listed_until_its_lane_goes_on(
    dos: Dos, journal: Store
) -> None:
    run_id = dos("run-id", "mint", "loop").json["run_id"]
    zero = (
        '{"kind":"SHIPPED","measurement_expected":true,'
        '"packet_judge":"SHIPPED-DIRTY","ship_count":0}'
    )
    for _ in range(3):
        dos("decide", "--run", run_id, "--lane", "api", "--outcome", zero)
    (row,) = dos("decisions", "--json").json
    assert (row["kind"], row["reason_token"], row["run_id"]) == (
        "RUN_STOPPED",
        "consecutive-dirty-zero",
        run_id,
    )
    assert row["proposed_command"] == f"dos why {run_id}"
    journal.record("run/RID-2", RunBegun(run_id="RID-2", lane="docs", host="h", start_sha=""))
    assert len(ids(dos)) == 1
    journal.record("run/RID-3", RunBegun(run_id="RID-3", lane="api", host="h", start_sha=""))
    assert ids(dos) == []


def test_a_loop_can_put_something_on_the_list(dos: Dos, journal: Store) -> None:
    words = (
        "decisions",
        "add",
        "--kind",
        "flag",
        "--lane",
        "api",
        "--text",
        "the vendor's key is over",
    )
    added = dos(*words, "--command", "dos limits", "--json").json
    assert (added["added"], dos(*words, "--json").json) == (True, added | {"added": False})
    (row,) = dos("decisions", "--json").json
    assert (row["kind"], row["lane"], row["proposed_command"]) == ("FLAG", "api", "dos limits")
    assert dos("decide-for", added["id"], "done").code == 0 and ids(dos) == []
    again = dos(*words, "--json").json
    assert again["added"] and again["id"] != added["id"]


@pytest.mark.parametrize(
    "change",
    [
        {"--kind": "two words"},
        {"--kind": "ARBITER_REFUSE"},
        {"--lane": "nosuch"},
        {"--text": " "},
        {"--text": "a\0b"},
    ],
)
def test_what_cannot_be_put_on_the_list_changes_nothing(
    dos: Dos, journal: Store, change: dict[str, str]
) -> None:
    words = {"--kind": "flag", "--lane": "api", "--text": "x"} | change
    answer = dos("decisions", "add", *(word for pair in words.items() for word in pair))
    assert (answer.code, answer.out, journal.last()) == (2, "", 0)
    assert answer.err.startswith("error: ")


def test_a_broken_dos_toml_hides_held_units_and_says_so(
    dos: Dos, held: Path, journal: Store
) -> None:
    ask(journal, FAILED)
    config = held.parent.parent / "dos.toml"
    config.write_text(config.read_text() + "\n[nosuch]\nkey = 1\n")
    answer = dos("decisions")
    assert answer.code == 0 and "lane-failed-api-1" in answer.out and "AUTH/A1" not in answer.out
    assert "not listed" in answer.err


def test_outside_of_git_the_questions_are_listed_shown_and_answered_all_the_same(
    dos: Dos, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plain"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a-plan.md").write_text("# A\n\n- **A1** log in\n")
    (folder / "dos.toml").write_bytes((workspace / "dos.toml").read_bytes())
    monkeypatch.chdir(folder)
    assert (
        dos("decisions", "add", "--kind", "flag", "--lane", "api", "--text", "the key is over").code
        == 0
    )
    listed = dos("decisions", "--json")
    assert listed.code == 0 and "not listed" in listed.err
    [row] = listed.json
    assert dos("decisions", "show", row["id"]).code == 0
    assert dos("decide-for", row["id"], row["choices"][0]["name"]).code == 0
    assert dos("decisions", "--json").json == []
