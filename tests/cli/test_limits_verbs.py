"""`dos limits`: what the providers say, who waits for it, and how a person ends it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commanding import Answer

from dos import workspace as places
from dos.journal import fold, streams
from dos.journal.events.limits import LimitHit, LimitProbed
from dos.journal.store import Store
from dos.limits.state import quota
from dos.limits.state.quota import ProviderLimits
from dos.questions import state
from dos.questions.resources import limit_question
from dos.questions.state import Decisions
from dos.world import open_journal

Dos = Callable[..., Answer]
DAY_MS = 86_400_000
PLAN = "# Plan\n\n## API1: first\n\n- lane: api\n"


@pytest.fixture
def journal(workspace: Path) -> Iterator[Store]:
    config = workspace / "dos.toml"
    config.write_text(
        config.read_text() + '\n[workers]\nagent = "claude_code"\nfallback = ["codex"]\n'
    )
    (workspace / "docs" / "one-plan.md").write_text(PLAN)
    with open_journal(places.find(workspace), "", actor="fleet") as store:
        yield store


def hit(
    journal: Store, vendor: str, ending: str = "usage_window", *, days: float = 0, found: str = ""
) -> None:
    resets = journal.now_ms() + int(days * DAY_MS) if days else None
    fact = LimitHit(
        vendor=vendor, account="", ending=ending, resets_at_ms=resets, found=found, agent=vendor
    )
    journal.record(streams.limit(quota.limit_key(fact)), fact)


def test_nobody_is_limited(dos: Dos, journal: Store) -> None:
    assert (dos("limits").code, dos("limits").out) == (0, "No provider is limited.\n")
    assert dos("limits", "--json").json == []
    assert dos("limits", "lift").code == 1
    answer = dos("limits", "lift", "acme")
    assert (answer.code, "there is no limit" in answer.err) == (2, True)


def test_each_says_until_when_with_the_year_who_waits_and_what_clears_it(
    dos: Dos, journal: Store
) -> None:
    hit(journal, "anthropic", days=400 / 365 * 300, found="resets in a year")
    hit(journal, "openai", "auth", found="401")
    hit(journal, "google", "auth")
    claude, codex = dos("limits", "--json").json
    assert (claude["key"], claude["believed"], claude["waits"]) == ("anthropic", False, ["api"])
    assert claude["until"][:4] in dos("limits").out, "a time in another year has its year"
    assert claude["clears_with"] == "dos limits lift anthropic"
    assert claude["next_probe"] < claude["until"]
    assert (codex["what"], codex["clears_with"]) == ("codex is not logged in", "codex login")
    assert (codex["until"], codex["next_probe"]) == (None, None)
    assert [row["in_use"] for row in dos("limits", "--all", "--json").json] == [True, True, False]


def test_a_limit_says_who_tests_it_and_that_its_end_is_past(dos: Dos, journal: Store) -> None:
    hit(journal, "anthropic", days=1)
    assert ", until " in dos("limits").out and "tested again at " in dos("limits").out
    fact = LimitHit(
        vendor="anthropic", account="", ending="usage_window", retry_after_seconds=0.001
    )
    assert dos("limits", "lift").code == 0
    stream = streams.limit(quota.limit_key(fact))
    journal.record(stream, fact)
    time.sleep(0.01)
    output = dos("limits").out
    assert ", until " not in output and "; its end was reported for " in output
    assert "the next agent that starts tests whether it has ended" in output
    journal.record(stream, LimitProbed(vendor="anthropic", account="", run_id="R1", lane="api"))
    assert "lane api tests now whether it has ended" in dos("limits").out


def test_a_plan_that_cannot_be_read_hides_no_limit(
    dos: Dos, journal: Store, workspace: Path
) -> None:
    hit(journal, "anthropic", days=0.5)
    (workspace / "docs" / "two-plan.md").write_bytes(b"\0")
    (row,) = dos("limits", "--json").json
    assert (row["key"], row["waits"]) == ("anthropic", [])
    assert dos("limits", "lift").code == 0


def test_a_lift_names_one_closes_its_question_and_is_written_once(dos: Dos, journal: Store) -> None:
    hit(journal, "anthropic", days=300)
    hit(journal, "openai", "auth")
    (claude, codex) = fold.current(journal, ProviderLimits)[0].limits.values()
    journal.append_all([state.raise_entry(limit_question(each)) for each in (claude, codex)])
    several = dos("limits", "lift")
    assert (several.code, "dos limits lift anthropic" in several.err) == (2, True)
    assert dos("limits", "lift", "anthropic").out.startswith("Lifted the limit of anthropic.")
    assert list(fold.current(journal, Decisions)[0].open) == [limit_question(codex).id]
    lifted = fold.current(journal, ProviderLimits)[0].limits[claude.key.path]
    assert (lifted.ending, lifted.at_once) == ("", True)
    assert dos("limits", "lift", "anthropic").code == 2
    assert dos("limits", "lift").code == 0, "the only one that is left"
    assert fold.current(journal, Decisions)[0].open == {}
