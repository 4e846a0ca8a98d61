"""Facts of the version before, which had in a sentence what now is a field, are read as if they had
the field."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from dos.journal.events.envelope import Event, Fact
from dos.journal.events.fleet import WorkSalvaged
from dos.journal.events.limits import FleetFound, LimitHit
from dos.journal.events.reader import decode
from dos.journal.events.runs import HaltProposed

words = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.text("abc-", min_size=1, max_size=8)


def stored(kind: str, body: object, key: str | None = None) -> Event:
    return Event(
        pos=1,
        stream="s",
        ver=1,
        kind=kind,
        at_ms=0,
        actor="",
        fence=None,
        key=key,
        schema=1,
        raw=json.encode(body),
    )


def read(fact: Fact, key: str | None = None) -> Fact | None:
    return decode(stored(fact.kind, fact, key))


def salvaged(why: str, **more: object) -> dict[str, object]:
    return {
        "run_id": "R",
        "lane": "api",
        "ref": "refs/dos/salvage/R/1",
        "commit": "c",
        "why": why,
        **more,
    }


@given(words)
def test_whose_work_was_saved_was_said_at_the_beginning_of_why(rest: str):
    old = decode(stored(WorkSalvaged.kind, salvaged(f"left by an earlier run{rest}")))
    assert isinstance(old, WorkSalvaged) and old.earlier
    assert decode(
        stored(WorkSalvaged.kind, salvaged(f"its run was stopped{rest}"))
    ) == WorkSalvaged(**salvaged(f"its run was stopped{rest}"))


@given(st.lists(st.tuples(names, names)))
def test_the_lanes_that_were_adopted_stood_before_their_holders(adopted: list[tuple[str, str]]):
    lines = [f"{lane}: {holder}:12" for lane, holder in adopted]
    old = decode(stored(FleetFound.kind, {"host": "h", "adopted": lines}))
    assert old == FleetFound(host="h", adopted=lines, adopted_lanes=[lane for lane, _ in adopted])


@given(names, st.text("0123456789abcdef", min_size=16, max_size=16))
def test_the_host_of_a_login_stood_before_its_digest(host: str, digest: str):
    known = {"vendor": "acme", "account": "work", "ending": "auth"}
    old = decode(stored(LimitHit.kind, {**known, "login": f"{host}/{digest}"}))
    assert old == LimitHit(**known, login=digest, login_host=host)


@given(st.integers(0, 2**50), st.integers(0, 9))
def test_when_a_run_had_moved_last_stood_in_the_key_of_a_proposal(moved_ms: int, count: int):
    old = decode(
        stored(
            HaltProposed.kind, {"handle": "1", "owner": "watchdog"}, f"watchdog/{moved_ms}/{count}"
        )
    )
    assert isinstance(old, HaltProposed) and old.moved_ms == moved_ms
    by_hand = decode(stored(HaltProposed.kind, {"handle": "1"}, f"watchdog/{moved_ms}/{count}"))
    assert isinstance(by_hand, HaltProposed) and by_hand.moved_ms is None


def test_facts_with_the_fields_are_taken_as_they_are():
    for fact in (
        WorkSalvaged(**salvaged("nobody knows whose"), earlier=True),
        FleetFound(host="h", adopted=["a: b: h:1"], adopted_lanes=["a: b"]),
        LimitHit(vendor="v", account="a", ending="auth", login="0/1", login_host="h"),
        HaltProposed(handle="1", owner="watchdog", moved_ms=5),
    ):
        assert read(fact, "watchdog/7/0") == fact
