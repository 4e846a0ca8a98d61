"""What is recorded of answers: refusals each time, warnings once a conversation and lane."""

import pytest
from commanding import git

from dos import workspace
from dos.journal.events.doors import HookAnswered
from dos.journal.events.reader import select
from dos.permission.ask import Allow, Ask, Asker, AskerKind, AskPerson, Deny, Footprint
from dos.permission.io import record
from dos.world import open_journal

WARNING = Allow(note="docs is held.", reason_class="REGION_HELD", about="docs")
DENIAL = Deny(reason="R.", hint="H.", reason_class="OUT_OF_REGION")
QUESTION = AskPerson(question="Q?", reason_class="REGION_HELD")


@pytest.fixture
def store(tmp_path):
    git("init", "--quiet", ".", cwd=tmp_path)
    with open_journal(workspace.find(tmp_path), "") as store:
        yield store


def ask(session="s", paths=("docs/x",), tool="Write"):
    asker = Asker(kind=AskerKind.PERSON, session=session, lane="api", fence=3, run_id="R1")
    return Ask(asker=asker, tool=tool, footprint=Footprint(paths=paths))


def put(store, asked, answer):
    return record.tell(store, asked, answer, via="hook")


def recorded(store, session="s"):
    events = store.load(record.session_stream(session))
    return [fact for _, fact in select(events, HookAnswered)]


def test_a_plain_yes_is_not_recorded(store):
    for plain in (Allow(), Allow(at_once=True)):
        assert put(store, ask(), plain) == plain
    assert recorded(store) == []


def test_each_refusal_and_question_is_recorded(store):
    for answer in (DENIAL, DENIAL, QUESTION, QUESTION):
        assert put(store, ask(), answer) == answer
    facts = recorded(store)
    assert [fact.reason for fact in facts] == ["R. H.", "R. H.", "Q?", "Q?"]
    assert [fact.action for fact in facts] == ["DENY", "DENY", "ASK", "ASK"]
    assert (facts[0].tool, facts[0].paths, facts[0].lane, facts[0].fence, facts[0].run_id) == (
        "Write", ("docs/x",), "api", 3, "R1",
    )  # fmt: skip


def test_a_warning_is_told_and_recorded_once_a_conversation_and_lane(store):
    other = Allow(note="api is held.", reason_class="REGION_HELD", about="api")
    assert [put(store, ask(), WARNING) for _ in range(3)] == [WARNING, Allow(), Allow()]
    assert put(store, ask(), other) == other
    assert put(store, ask(session="t"), WARNING) == WARNING
    assert [fact.reason for fact in recorded(store)] == ["docs is held.", "api is held."]
    assert [fact.action for fact in recorded(store, "t")] == ["WARN"]


def test_no_text_is_too_long_or_too_odd_to_be_recorded(store):
    odd = "\ud800\udcff\x1b\0é" + "x" * 100_000
    asked = ask(session=odd, paths=(odd,) * 5_000, tool=odd)
    put(store, asked, Deny(reason=odd, reason_class="OUT_OF_REGION"))
    (fact,) = recorded(store, odd)
    assert len(fact.reason) <= record.LONGEST_REASON and len(fact.paths) <= record.MOST_PATHS


SESSIONS = ["", "s", "S", "s ", "é", "e\u0301", "x" * 201, "x" * 202, "a/b", "\0", "unnamed "]


def test_each_conversation_has_its_own_stream():
    assert len(set(map(record.session_stream, SESSIONS))) == len(SESSIONS)
    assert len(set(map(record.bound_stream, SESSIONS))) == len(SESSIONS)
