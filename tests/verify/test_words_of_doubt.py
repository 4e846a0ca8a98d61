"""Words of doubt are grammar: what counts is of what a word is said."""

import re

import pytest
from amounts import EXAMPLES
from growth import grows_less_than
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repository import Repository

from dos.verify.doubt import body, phrases, statement
from dos.verify.doubt.body import MOST_LINES, admission
from dos.verify.doubt.phrase_list import Phrases
from dos.verify.message import Message, unfinished_words
from dos.verify.naming import UnitName
from dos.verify.shipped import Answer

UNIT = UnitName("AUTH", "AUTH1")

# A status stands alone, as a tag or as a whole clause.
STATUSES = [
    "WIP", "wip: the form", "TODO", "todo: write tests", "fixme", "tbd", "draft", "draft: the form",
    "started", "failed", "failing", "removed", "skipped", "not done", "not-done", "not yet",
    "blocked",
    "blocked, not started", "blocked on PAY2", "waiting for review", "stuck", "abandoned",
    "deferred",
    "postponed until May", "pending", "on hold", "in progress", "partial", "partially", "half done",
    "half-finished", "incomplete", "unfinished", "unimplemented", "untested", "broken", "is broken",
    "gave up", "give up", "needs work", "stopgap", "placeholder", "prototype", "spike",
    "almost done",
    "mostly done", "do not merge", "reverted", "undone", "plan", "planned", "undo",
    "the form (WIP)", "the form [draft]", "the form (unfinished)", "the form - wip",
    "the form, untested", "the form (todo)", "the form — incomplete", "the form; broken",
    "#in-progress the form", "the form TODO", "the form wip", "tbc",
    "take 2", "the form but incomplete",
    "the form (work-in-progress)", "work-in-progress", "W.I.P. the form", "save point, form later",
]  # fmt: skip
# An opening says what kind of work it is.
OPENINGS = [
    "half of it", "half the form", "first half", "first half of the form", "only half of the form",
    "first draft of the form", "a first pass at the form", "first steps towards the form",
    "rough cut of the form", "initial attempt at the form", "skeleton of it",
    "skeleton for the form",
    "scaffolding", "scaffolding for the form", "stubs for the form", "stub out the handler",
    "placeholder for the form", "proof of concept for the form", "groundwork for the form",
    "temporary hack", "interim fix", "attempt 1", "another attempt at the form", "try 2",
    "try to log in", "trying to fix the form", "tried to log in", "prepare for the form",
    "working on the form", "towards the form", "start work on the form", "started on the form",
    "starting to write the form", "started the form", "plan to add the form", "planning the form",
    "going to add the form", "will add the form", "to be done", "hope to finish it",
    "revert login", "reverts the form", "undo the form", "back out login", "roll back login",
    "removed it again", "remove it for now", "skip this", "gave up after 3 tries",
    "giving up on the form", "not doing this", "not quite there", "not the form", "never finished",
    "no luck so far", "no tests yet", "no progress", "without the parser", "except the hard part",
    "everything but the logout", "all except the tests", "could not get it to work",
    "couldn't finish the form", "failed to make it work", "unable to finish the form",
    "most of the form", "some of it",
    "incomplete implementation", "initial work on the form", "only the parser so far",
    "returns a constant for now", "last attempt", "the form, TODO: tests", "TODO write tests",
    "incomplete login", "unfinished form", "an untested form", "begin the login",
    "begin with tests",
    "revert the form", "revert a commit", "undo a few changes", "reverted a payment", "plan for it",
    "a placeholder for the login", "a stub for the field", "undo a bad merge",
]  # fmt: skip
# A predicate says of the work that it fails.
PREDICATES = [
    "tests are red", "the tests fail", "two tests fail", "some tests still fail", "CI is red",
    "the build is broken", "login is broken", "login is incomplete", "login is still missing",
    "login does not work yet", "login doesn't compile", "login does not compile",
    "login not working",
    "login isn't done", "login is not implemented", "login, not finished", "this does not work",
    "the form, still failing", "the form; still broken", "login still not working",
    "login broken for now", "login disabled for now", "login cannot get it to compile",
    "the form but the tests fail", "the form, but it crashes", "the form, though it hangs",
    "the form but does not work", "the form, however nothing works", "the form but not tested",
    "the form, but only half of it", "the form, mostly works", "the form, only partly",
    "the form; leaves the tests red", "the form, did not get the redirect to work",
    "the form; could not make it pass", "the form doesn't pass yet", "not tested",
    "the form, won't build", "the form won't compile", "this won't work", "it won't run yet",
    "the form (fails on CI)", "the form, still red in CI", "the form; breaks on main",
    "cannot be done", "this cannot be done", "can't be finished for now", "the form, can't be done",
]  # fmt: skip
# A remainder says what is left; a count says how much there is.
REMAINDERS = [
    "the form, needs work", "the form needs more work", "the form, needs some testing",
    "will finish tomorrow", "the form, will continue tomorrow", "the form, rest to follow",
    "the form, rest tomorrow", "the form, tests later", "the form, tests missing",
    "the form; error handling missing", "the form without tests", "the form except the hard part",
    "the form without error handling", "to be continued", "the form, to be finished",
    "the form, the rest follows", "the form; tests follow later", "the form, docs come later",
]  # fmt: skip
COUNTS = [
    "the form (1/3)", "the form [2/5]", "the form (part 1)", "the form, part 1", "part 1",
    "part one",
    "part 1 of 3", "the form, part 2 of 4", "step 1/4", "step 1 of 4: the form", "1/3: the form",
    "1 of 3: the form", "the form 2/3", "the form, 2/3 done", "50 percent done",
    "the form (60 %)", "the form, 60% done", "90 % complete",
]  # fmt: skip
# The same words as what a unit does, or of what it does it.
HONEST = [
    # An imperative with an object.
    "revert a payment", "undo a deletion", "roll back each migration", "revert any booking",
    "undo every move of a player", "begin the transaction", "begin the session at login",
    "begin a new line after each item", "begin with the newest",
    "skip empty lines", "skip tests that need a network", "remove stale tokens",
    "removed the legacy store", "drop the old login", "start the server lazily",
    "start with an empty list", "never log tokens", "never trust the client's clock",
    "do not retry on 404", "do not merge duplicate rows", "handle not found", "undo/redo support",
    "stub out the network in tests", "make half-open connections close", "prepare statements once",
    "try the cache first", "plan names are validated", "fix broken pipe handling",
    "fix broken links", "fix the failing upload", "add todo list", "work with IPv6",
    # A modifier or a noun.
    "a placeholder for the empty field", "placeholder for missing avatars",
    "plan for each customer", "show a W.I.P. badge",
    "placeholder in the input", "plan for every team", "incomplete data", "incomplete logins",
    "incomplete login warning", "unfinished uploads", "untested paths are listed",
    "in-app save points", "savepoints in transactions", "repair the upload (fails on CI)",
    "skip the upload test, broken on CI", "the rest follows redirects", "tests follow links",
    "blocked users cannot log in", "blocked IPs are listed", "partial updates",
    "draft emails are listed", "drafts can be deleted", "failed logins are counted",
    "failure messages name the file", "incomplete uploads are resumed", "unfinished orders expire",
    "pending invitations expire", "abandoned carts are mailed", "deferred jobs run at night",
    "paused downloads resume", "planned maintenance is shown", "started jobs are shown",
    "starting position is saved", "unimplemented opcodes raise an error",
    "stuck workers are killed",
    "experimental flags page", "red border around errors", "red-black tree",
    "trial period of 14 days",
    "prototype pollution is prevented", "stubs are generated for every proto file", "waiting room",
    "revert button in the editor", "undo stack", "TODO list page", "todo items can be sorted",
    "plan view", "start button", "prepare for AUTH2", "placeholder text in the search field",
    "attempt limit per user",
    "skeleton screens while loading", "show a WIP badge on drafts",
    "WIP merge requests cannot be merged", "half stars in ratings",
    "first step of the wizard", "parts of speech tagger", "not-null constraint on email",
    "no-op on empty input", "almost equal for floats", "on hold music",
    # A negation of what was wrong.
    "expired tokens won't log in", "locked orders cannot be completed", "warn that it won't build",
    "an archived task cannot be done twice",
    "no password in the logs", "no longer crashes", "no more than 3 retries", "not only X but Y",
    "accept spaces but not tabs", "warn but do not fail", "client doesn't send an empty body",
    "log in without a password", "works without the cache", "allow all except the admin",
    "all but the newest logs are deleted",
    "without a token, answer 401", "zero is not a valid port",
    # A condition: it is what a program does.
    "give up after 3 retries", "revert to the default theme on error", "try to reconnect on error",
    "roll back the transaction when the commit fails",
    "remove it from the index when it is deleted",
    "undo the last edit when escape is pressed", "login when not ready to wait",
    "warn if the disk is missing", "retry while the build is red", "show which tests are failing",
    "say why it is not ready", "wait until the server is ready", "mark the upload as incomplete",
    "stop the worker when it is stuck", "report that a test is broken",
    # Numbers that count something else, and counts that have reached their end.
    "progress bar shows 60% done", "scale by 3/4", "the first half of the month is shown",
    "part 3 of 3", "the form (3/3)", "the form, last part (2/2)", "show 1 of 3 pages",
    "50% opacity for disabled rows", "cap memory at 80%", "export 1/4 inch sizes",
    # Words that are quoted.
    "label it 'not done'", "print `TODO:` before it", "print `WIP` before the name",
    'say "could not finish" in red',
]  # fmt: skip


def doubt(text):
    return unfinished_words(f"AUTH1: {text}", 0, len("AUTH1:"))


@pytest.mark.parametrize("text", [*STATUSES, *OPENINGS, *PREDICATES, *REMAINDERS, *COUNTS])
def test_a_subject_says_that_the_work_is_not_done(text):
    found = doubt(text)
    assert found and found in text.lower()


@pytest.mark.parametrize("text", HONEST)
def test_a_subject_says_what_the_work_does(text):
    assert doubt(text) == ""


@pytest.mark.parametrize(
    ("form", "is_around"),
    [
        ("[AUTH1] {}", False), ("AUTH1 - {}", False), ("feat(AUTH1): {}", False),
        ("AUTH: AUTH1 {}", False), ("Closes AUTH1: {}", False), ("feat: {} (AUTH AUTH1)", True),
        ("{}, fixes AUTH1", True), ("{} (fixes AUTH1)", True), ("{}\n\nUnit: AUTH/AUTH1", True),
        ("{}\n\nCloses AUTH1", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["first draft of the form", "try to log in", "form is broken"])
def test_doubt_counts_in_every_form_of_a_name(form, is_around, text):
    naming = UNIT.find_in(Message.parse(form.format(text)))
    assert naming is not None and naming.negated
    honest = UNIT.find_in(Message.parse(form.format("skip empty lines when there is no text")))
    assert honest is not None and not honest.negated


@pytest.mark.parametrize("component", ["plan", "undo", "trial", "pending", "half"])
def test_a_component_before_the_colon_is_no_status(component):
    naming = UNIT.find_in(Message.parse(f"{component}: validate names (AUTH AUTH1)"))
    assert naming is not None and not naming.negated


@pytest.mark.parametrize(
    "text",
    [
        "wip/AUTH1: x", "draft/AUTH1: x", "revert/AUTH1: x", "v1.2.3: all but not AUTH1",
        "v1.2.3: everything except AUTH1", "v1.2.3: prepare for AUTH1", "v1.2.3: without AUTH1",
        "v1.2.3: part of AUTH1", "v1.2.3: follow-up to AUTH1", "wip(AUTH1): x", "draft(AUTH1): x",
        "[WIP] Closes AUTH1", "Revert the form, closes AUTH1", "plan: start (AUTH AUTH1)",
    ],
)  # fmt: skip
def test_doubt_before_the_name_counts(text):
    naming = UNIT.find_in(Message.parse(text))
    assert naming is not None and naming.negated, naming


# What a body admits.

ADMISSIONS = [
    "But the tests fail.", "The tests still fail.", "Tests are red.", "Two tests fail.",
    "CI is red.",
    "It does not work yet.", "The form does not work yet.", "Does not compile yet.",
    "This commit does not compile.", "Login is not working yet", "The form is not finished yet.",
    "The parser is there, but the tests fail.", "Log in works, though two tests fail.",
    "I could not get it to work.", "Could not get the redirect to work.",
    "I didn't finish the logout.",
    "I did not manage to make it pass", "I gave up on the parser.", "Will finish it tomorrow.",
    "The rest follows tomorrow.", "It still needs work.", "Only half of it works.", "Not done yet.",
    "Not tested.", "This is WIP.", "This is only a stub.", "This is incomplete.", "Still broken.",
    "Unfortunately, the build is broken for now.", "Nothing works.", "WIP",
    "The form\ndoes not\nwork yet.", "Adds the form.\n\nIt doesn’t work yet.",
    "Not finished: the check is missing.", "This is not yet complete: no logout.",
    "Still red on CI.", "It still fails in CI.", "It won't build.", "Do not merge.",
    "This is only the first half.", "This is just a first draft.", "TODO: the check itself.",
    "FIXME: the check.", "WIP: more tomorrow", "- not done yet\n- the check is missing",
    "* WIP", "- Untested.", "Work in progress, do not merge.", "WIP, please don't merge",
    "This is a placeholder until the server is ready.", "It is only a stub until May.",
]  # fmt: skip
DESCRIPTIONS = [
    "Before this, the form did not work.", "Previously the tests failed.",
    "Until now it was not possible to log in.", "The parser does not work with tabs.",
    "The tests fail when the clock jumps.", "Without this the tests fail.", "Why not.",
    "The button was broken.", "Login did not work for users with a plus in the address.",
    "Users could not finish the checkout.", "It could not find the file if the name had a space.",
    "The build is broken on main; this fixes it.", "Fixes the bug that login does not work.",
    "Some browsers do not support this yet, so fall back.", "If it does not work yet, retry.",
    "When tests fail, show the log.", "This no longer fails.", "Tests pass.", "It is not needed.",
    "This is not a security issue.", "Do not retry on 404.", "The page did not load. Now it does.",
    "The old code is broken: it never closes the file.", "Half of the time was spent in sort.",
    "The server does not start without a config, so write one.",
    "> It does not work yet.", "x\n    It does not work yet.", "```\nIt does not work yet.\n```",
    "* does not work yet", "- tests fail", "Cc: not done yet", "Reviewed-by: WIP <a@example.org>",
    "Not in this change: the logout.", "Not done: the logout, which is AUTH2.",
    "Not tested: Windows.", "Not done here:\n\n- the logout", "- log in\n- not done yet",
    "Not finished uploads: they are resumed.", "It was still red on CI.", "The tests fail on CI.",
    "This is the first step of the wizard.", "This is only the first page of many.",
    "TODO: lines are listed.", "TODO items can be sorted.", "Sorts items.\nTODO: the logout.",
    "- not done items are listed", "- WIP limits", "Do not merge duplicate rows.",
    "This is a placeholder until the image is loaded.", "It won't run twice.",
    "This is a workaround until upstream answers.", "The button was a stub until now.",
]  # fmt: skip


@pytest.mark.parametrize("body", ADMISSIONS)
def test_a_body_admits_that_the_work_is_not_done(body):
    found = admission(body)
    assert found and found in " ".join(body.lower().replace("’", "'").split())
    naming = UNIT.find_in(Message("AUTH1: log in", body))
    assert naming is not None and naming.negated == found


@pytest.mark.parametrize("body", DESCRIPTIONS)
def test_a_body_describes_the_fault_that_is_repaired(body):
    assert admission(body) == ""


def test_only_the_beginning_of_a_body_is_read():
    assert admission("x.\n" * (MOST_LINES - 1) + "It does not work yet.")
    assert not admission("x.\n" * MOST_LINES + "It does not work yet.")


@pytest.mark.parametrize(
    "message",
    [
        "v1.2.3: AUTH1 and AUTH2\n\nIt does not work yet.",
        "v1.2.3: more\n\nIt does not work yet.\n\n- AUTH1 log in",
        "AUTH1, AUTH2: log in\n\nIt does not work yet.",
        "A branch (#7)\n\n* AUTH1: log in\n\nIt does not work yet.",
    ],
)
def test_a_body_about_several_units_admits_nothing_about_one(message):
    naming = UNIT.find_in(Message.parse(message))
    assert naming is not None and not naming.negated


# Laws.


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_any_line_has_words_of_doubt_or_none(line, begin, end):
    found = unfinished_words(line, begin, end)
    assert found == found.strip()
    assert admission(line) == admission(line).lower()


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from([*STATUSES, *PREDICATES]), st.sampled_from([str, str.upper, str.title]))
def test_doubt_is_the_same_in_any_case(text, case):
    assert doubt(case(text))


PIECES = [
    "not ", "not yet ", "no a ", "half-", "is still ", "(1/", "1 of ", "part ", "but ", "tests ",
    "'",
    '"', "`", "the the ", "wip (", "a.b ", "still now ", "draft of ", "only just ", "x" * 40 + " ",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_line_takes_time_in_step_with_its_length(piece):
    short, long = ((piece * 4096)[:length] for length in (512, 4096))
    assert grows_less_than(20, unfinished_words, short, long)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "piece", [*PIECES, "it is not ", "tests fail. ", "but it ", "I could not "]
)
def test_a_hostile_body_takes_time_in_step_with_its_length(piece):
    short, long = ((piece * 4096)[:length] for length in (2_000, 16_000))
    assert grows_less_than(20, admission, short, long)


# On real repositories.


@pytest.mark.parametrize(
    "message",
    [
        "AUTH1: first draft of the form", "AUTH1: form, but the tests fail", "AUTH1: form (1/3)",
        "AUTH1: could not get it to work", "AUTH1: form\n\nIt does not work yet.",
        "[AUTH1] form, needs work", "Form is not finished\n\nCloses AUTH1",
    ],
)  # fmt: skip
def test_work_that_says_it_is_not_done_is_unproven(tmp_path, message):
    repository = Repository(tmp_path)
    repository.commit(message)
    verdict = repository.verify("AUTH", "AUTH1")
    assert (verdict.answer, verdict.contradictions) == (Answer.UNPROVEN, ("negated_subject",))


@pytest.mark.parametrize(
    "message",
    [
        "AUTH1: skip empty lines", "AUTH1: blocked users cannot log in",
        "AUTH1: give up after 3 retries", "AUTH1: no password in the logs",
        "AUTH1: log in\n\nBefore this, the form did not work.",
    ],
)  # fmt: skip
def test_work_that_says_what_it_does_has_shipped(tmp_path, message):
    repository = Repository(tmp_path)
    repository.commit(message)
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


def test_a_phrase_of_the_plans_title_is_no_doubt(tmp_path):
    repository = Repository(tmp_path)
    plan = "## AUTH AUTH1: The build is broken\n\n- paths: src/**\n"
    repository.commit("declare", {"docs/auth-plan.md": plan})
    repository.commit("AUTH1: the build is broken")
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


@pytest.mark.parametrize(
    "subject",
    [
        "checkpoint before the context runs out", "checkpoint commit", "interim commit",
        "save progress", "save work so far",
    ],
)  # fmt: skip
def test_a_commit_that_only_saves_what_there_is_has_not_shipped(subject):
    assert unfinished_words(f"AUTH1: {subject}", 0, 6)


@pytest.mark.parametrize(
    "subject",
    [
        "checkpoint before each epoch", "write a checkpoint before time-outs",
        "save progress of uploads", "save progress bar state", "save work orders as PDF",
    ],
)  # fmt: skip
def test_a_program_that_saves_something_is_no_doubt(subject):
    assert unfinished_words(f"AUTH1: {subject}", 0, 6) == ""


@pytest.mark.parametrize(
    ("body", "admits"),
    [
        ("Note: the tests are still failing, I ran out of time.", True),
        ("Caveat: it does not work yet.", True), ("We ran out of context.", True),
        ("The check is still to be done.", True),
        ("Unable to verify: could not get the build to pass.", True),
        ("Note: the old parser did not work with tabs.", False),
        ("Note: users who ran out of time see a dialog.", False),
        ("Status: all tests pass.", False), ("Warning: this needs Python 3.11.", False),
    ],
)  # fmt: skip
def test_a_label_before_a_sentence_hides_no_admission(body, admits):
    assert bool(admission(body)) is admits


LISTS = [
    value
    for module in (phrases, statement, body)
    for value in vars(module).values()
    if isinstance(value, Phrases)
]
PHRASES = [phrase for phrase_list in LISTS for phrase in phrase_list.phrases]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("phrase", PHRASES, ids=range(len(PHRASES)))
@given(data=st.data())
@settings(max_examples=10, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_phrase_is_compiled_for_every_text_that_it_matches(phrase, data):
    text = data.draw(st.from_regex(phrase.pattern, alphabet=st.characters(codec="ascii"))).lower()
    match = phrase.pattern.search(text)
    is_inside_word = match and text[max(match.start() - 1, 0) : match.start()].isalpha()
    if match and not is_inside_word:
        assert phrase.may_match(re.findall("[a-z]+", text))
