"""Names as people write them: each form that names a unit, and mentions that name nobody."""

import pytest
from amounts import EXAMPLES
from growth import grows_less_than
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import Repository

from dos.git import message_index
from dos.verify import mentions
from dos.verify.message import Message
from dos.verify.names.direct import ANY_FOLDER, DirectName
from dos.verify.names.forms import Form
from dos.verify.naming import Rung, UnitName
from dos.verify.policy import Stamp
from dos.verify.shipped import Answer

KEY = UnitName("PROJ", "PROJ-12")
ISSUE = UnitName("GH", "GH-12")
WORD = UnitName("AUTH", "AUTH1")

PLAIN = {
    "bracketed": [
        "[{id}] log in", "({id}) log in", "[{id}][SQL] log in", "[3.11][{id}] log in",
        "[{id}]: log in", "[{id}] [SQL] log in", "[HOTFIX][{id}] log in", "[{id}] - log in",
        "\u2728 [{id}] log in",
        "[{plan} {id}] log in", "[{plan}/{id}] log in",
    ],
    "punctuated": [
        "{id}. log in", "{id} - log in", "{id} -- log in", "{id} – log in", "{id} — log in",
        "{id}—log in", "{id} | log in", "{id}; log in", "{id} > log in", "{id} => log in",
        "[3.11] {id}: log in", "{id} : log in", ":bug: {id}: log in", "\U0001f41b {id}. Log in",
    ],
    "scope": [
        "feat({id}): log in", "fix({id})!: log in", "docs({id}): log in", "feat(api,{id}): log in",
        "feat(api/{id}): log in", "feat({plan}/{id}): log in",
    ],
    "closing-keyword": [
        "Closes {id}", "Closed {id}.", "Fixes {id}: log in", "Resolves {id} - log in",
        "Implements {id}", "Completes {id}, and more", "Finishes {id}", "Delivers {id}",
        "Log in, fixes {id}", "Log in. Closes {id}.", "Log in; resolves {id}",
        "Log in (fixes {id})", "Log in [closes {id}]", "Log in - closes {id}",
        "Log in and close {id}", "This fixes {id}", "Closes: {id}", "Fixes issue {id}",
        "Closes {plan}/{id}", "Closes {plan} {id}", "Log in\n\nCloses {id}",
        "Log in\n\nWhy not.\n\nImplements: {id}\nSigned-off-by: A <a@example.org>",
        "Log in\n\nThis commit resolves {id}.", "Log in\n\nProps to B. Fixes {id}.",
        "Log in\n\nCloses-Bug: {id}", "[Fixed {id}] Log in", "feat(api): log in, closes {id} (#7)",
    ],
}  # fmt: skip
# Where only a space or a bracket sets an id apart, it has to look like a key, or be declared.
UNMARKED = {
    "leading": [
        "{id} log in", "{id}", "{id} #done log in", "{id} Log in (#42)", "[3.11] {id} log in",
        "#{id} log in", "{id} Cannot log in", "{id} is done", "{id} has been implemented",
    ],
    "ending": [
        "Log in ({id})", "Log in [{id}]", "Log in ({id}) (#42)", "Log in [{id}] (#42)",
        "Log in ({id}).", "feat: log in ({id})",
    ],
    "punctuated": ["{id}/log in", "{id}/login: the form"],
}  # fmt: skip
TYPED = [
    "feat: {id} log in", "feat(api): {id} log in", "fix: [{id}] log in", "perf!: {id}: log in",
    "api: {id}. Log in", "chore({plan}): {id} log in",
]  # fmt: skip
FAINT = {
    "list": [
        "{id}, ZED-9: log in", "ZED-9 + {id}: log in", "[{id}, ZED-9] log in",
        "[ZED-9][{id}] log in", "Log in ({id}, ZED-9)", "feat({id},ZED-9): log in",
    ],
    "closing-keyword": [
        "Closes ZED-9, {id}", "Fixes ZED-9 and {id}", "Log in\n\nFixes ZED-9, ZED-8 and {id}",
        "A branch (#7)\n\n* closes {id}",
    ],
    "squash-bullet": [
        "A branch (#7)\n\n* [{id}] log in", "A branch (#7)\n\n- {id}. Log in",
        "A branch (#7)\n\n* {id}: log in",
    ],
}  # fmt: skip
# A mention in passing names nobody.
PASSING = [
    "Refs: {id}", "Refs {id}", "Part of {id}", "See {id}", "Towards {id}", "Prepare for {id}",
    "Follow-up to {id}", "Revert {id}", "Unlike {id}, log in", "Blocked by {id}",
    "Relates to {id}", "After {id}", "Like {id}", "Needed by {id}", "Updates {id}",
    "Addresses a review of {id}", "Tests for {id}", "Merge branch {id}",
    "[{id}][FOLLOWUP] Log in", "[{id}] [Follow-up] Log in", "{id} cannot log in",
    "Merge pull request #5 from someone/{id}-login", "Say {id} and more", "Log in as {id} asks",
    "Log in, see {id}", "Log in, refs {id}", "Log in (see {id})", "Log in (part of {id})",
    "Log in (like {id})", "Log in (after {id}) again", "see: {id} log in", "refs: {id} log in",
    "{id} needs a lock", "{id} follow-up", "{id} broke the parser", "{id} was wrong",
    "{id} and ZED-9 need a lock", "{id}'s tests", "{id}: ".rstrip(": ") + " depends on this",
    "Does not fix {id}", "Doesn't close {id}", "Partly fixes {id}", "Partially closes {id}",
    "Should fix {id}", "Will close {id}", "Tries to fix {id}", "May resolve {id}",
    "Half of what closes {id}", "A step to close {id}", "Fixes {id} regression",
    "Fixes {id}'s tests", "Fixes other/{id}", 'Revert "{id} log in"', 'Revert "Log in ({id})"',
    'Revert "Log in, fixes {id}"', "fixup! {id} log in", "squash! Log in ({id})",
    "Log in\n\nSee {id}", "Log in\n\nRefs: {id}", "Log in\n\nPart of {id}",
    "Log in\n\n{id} log in", "Log in\n\nx\n> Closes {id}", "Log in\n\nx\n    Closes {id}",
    "Log in\n\n```\nCloses {id}\n```", "Log in\n\nThis does not close {id}",
    "Log in\n\nIt partly fixes {id}", "Log in\n\nThe next commit closes {id}",
]  # fmt: skip
NEARLY = ["{id}0", "{id}.1", "{id}-port", "{id}a", "X{id}", "{id}é", "X-{id}", "{id}\u0301"]


def rows(table):
    return [(rung, text) for rung, texts in table.items() for text in texts]


def named(unit, text, **declared):
    message = Message.parse(text.format(plan=unit.plan, id=unit.phase))
    return unit.find_in(message, **declared)


def plainly(unit, text, **declared):
    naming = named(unit, text, **declared)
    assert naming is not None, text
    assert not naming.faint and not naming.negated, (text, naming)
    return naming.rung


@pytest.mark.parametrize(("rung", "text"), rows(PLAIN))
@pytest.mark.parametrize("unit", [KEY, WORD, UnitName("Ops", "ops_3")], ids=lambda unit: unit.phase)
def test_a_marked_id_names_its_unit(unit, rung, text):
    assert plainly(unit, text) == rung


@pytest.mark.parametrize(("rung", "text"), [*rows(UNMARKED), *(("typed", text) for text in TYPED)])
def test_a_key_names_its_unit_without_a_mark(rung, text):
    assert plainly(KEY, text) == rung


@pytest.mark.parametrize(("rung", "text"), rows(UNMARKED))
def test_an_id_that_could_be_a_word_is_a_name_where_a_plan_declares_it(rung, text):
    assert named(WORD, text) is None
    assert plainly(WORD, text, is_declared=True) == rung


@pytest.mark.parametrize("text", TYPED[:4])
def test_after_a_type_a_word_is_a_faint_name(text):
    assert named(WORD, text) is None
    naming = named(WORD, text, is_declared=True)
    assert naming is not None and naming.faint


@pytest.mark.parametrize(("rung", "text"), rows(FAINT))
@pytest.mark.parametrize("unit", [KEY, WORD], ids=lambda unit: unit.phase)
def test_one_of_several_ids_is_a_faint_name(unit, rung, text):
    naming = named(unit, text, is_declared=True)
    assert naming is not None and naming.faint and naming.rung == rung, text


@pytest.mark.parametrize("text", PASSING)
@pytest.mark.parametrize("unit", [KEY, WORD, ISSUE], ids=lambda unit: unit.phase)
def test_a_mention_in_passing_names_nobody(unit, text):
    assert named(unit, text, is_declared=True) is None


@pytest.mark.parametrize("nearly", NEARLY)
@pytest.mark.parametrize("unit", [KEY, WORD], ids=lambda unit: unit.phase)
def test_what_is_nearly_the_id_is_another_id(unit, nearly):
    other = nearly.format(id=unit.phase)
    for _, text in [*rows(PLAIN), *rows(UNMARKED), *rows(FAINT), *(("", text) for text in TYPED)]:
        message = Message.parse(text.format(plan=unit.plan, id=other))
        assert unit.find_in(message, is_declared=True) is None, message


@pytest.mark.parametrize(
    ("text", "rung"),
    [
        ("Fixes #12", "closing-keyword"), ("Log in, closes #12", "closing-keyword"),
        ("Fixed #12 -- log in", "closing-keyword"), ("Fix #12: log in", "closing-keyword"),
        ("Log in\n\nResolves #12.", "closing-keyword"), ("#12 log in", "leading"),
        ("#12: log in", "punctuated"), ("[#12] log in", "bracketed"),
        ("gh-12: log in", "direct"), ("Issue #12: log in", "punctuated"),
        ("[Bug #12] log in", "bracketed"), ("Fixed bug GH-12 (log in)", "closing-keyword"),
        ("Closes https://example.org/me/it/issues/12", "closing-keyword"),
    ],
)  # fmt: skip
def test_an_issue_of_the_host_is_named_by_its_number(text, rung):
    assert plainly(ISSUE, text) == rung
    assert plainly(UnitName("github", "12"), text.replace("gh-12", "#12")) is not None
    assert named(UnitName("AUTH", "12"), text) is None


@pytest.mark.parametrize("text", ["Fixes #123", "Fixes me/it#12", "Refs #12", "Log in, see #12"])
def test_another_number_is_another_issue(text):
    assert named(ISSUE, text) is None


LAST = [
    "Log in, {id}",
    "Log in - {id}",
    "Log in | {id}",
    "feat: log in, {id} (#42)",
    "Log in, {id}.",
]
TRAILED = [
    "Log in\n\nIssue: {id}", "Log in\n\nWhy not.\n\nJIRA: {id}\nReviewed-by: B <b@example.org>",
    "Log in\n\nBug: {id}", "Log in\n\nTicket-Id: ZED-9, {id}",
]  # fmt: skip


@pytest.mark.parametrize(("rung", "text"), rows({"ending": LAST, "git-trailer": TRAILED}))
def test_an_id_behind_everything_else_is_faint_and_needs_a_plan(rung, text):
    assert named(KEY, text) is None
    naming = named(KEY, text, is_declared=True)
    assert naming is not None and naming.faint and naming.rung == rung
    assert not naming.negated
    for nearly in NEARLY:
        message = Message.parse(text.format(id=nearly.format(id=KEY.phase)))
        assert KEY.find_in(message, is_declared=True) is None, message


@pytest.mark.parametrize("text", TRAILED[:3])
def test_a_plainer_name_counts_before_the_issue_that_a_trailer_names(text):
    assert plainly(KEY, f"[{{id}}] {text}", is_declared=True) == "bracketed"
    naming = named(KEY, f"First half of it\n\n{text}", is_declared=True)
    assert naming is not None and naming.negated


@pytest.mark.parametrize(
    "text",
    [
        "Log out, see {id}", "Log out, ZED-9, {id}", "Log out after the login, {id}", "{id}, {id}",
        "Prepare the next one, {id}", "Log out like the login - {id}", "Refs the login, {id}",
        "Log out, not {id}", "Log out\n\nIssue: {id}\n\nThat is what comes next.",
        "Log out\n\nIssue: see {id}", "Log out\n\nIssue: {id} needs this first",
        "Log out\n\nRelated-Issue: {id}", 'Revert "Log in"\n\nIssue: {id}',
    ],
)  # fmt: skip
def test_an_id_behind_everything_else_may_explain_another_thing(text):
    assert named(KEY, text, is_declared=True) is None


@pytest.mark.parametrize("text", LAST)
def test_a_word_behind_everything_else_names_nobody(text):
    assert named(WORD, text, is_declared=True) is None


def test_the_number_of_a_pull_request_is_a_faint_name():
    naming = named(ISSUE, "Log in (#12)")
    assert naming is not None and naming.faint


@pytest.mark.parametrize("text", ["PROJ-12: x", "PROJ-12 x", "[PROJ-12] x", "Closes PROJ-12"])
def test_a_key_names_the_number_of_a_plan(text):
    assert plainly(UnitName("PROJ", "12"), text)
    assert named(UnitName("PROJ", "1"), text) is None
    assert named(UnitName("OTHER", "12"), text) is None


@pytest.mark.parametrize(
    "text", ["Fix AUTH1", "Fix AUTH1: a typo", "Fixes AUTH1 crash", "Implement AUTH1 parser"]
)
def test_to_repair_what_a_unit_delivered_is_not_to_close_it(text):
    assert named(WORD, text, is_declared=True) is None


@pytest.mark.parametrize("text", ["Fix PROJ-12", "Fix PROJ-12: a typo", "Fixes PROJ-12 on start"])
def test_to_fix_an_issue_is_to_close_it(text):
    assert plainly(KEY, text) == "closing-keyword"


@pytest.mark.parametrize(
    "text", ["Phase 1 of it", "[Phase 1] x", "Closes Phase 1", "x (Phase 1)", "feat(Phase 1): x"]
)
def test_an_ordinal_stays_with_its_plan(text):
    assert named(WORD, text, is_declared=True) is None
    assert named(UnitName("AUTH", "Phase 1"), text, is_declared=True) is None


@pytest.mark.parametrize("text", ["Closes AUTH Phase 1", "[AUTH Phase 1] x", "[AUTH/Phase 1] x"])
def test_an_ordinal_is_named_beside_its_plan(text):
    assert plainly(UnitName("AUTH", "Phase 1"), text)


@pytest.mark.parametrize("text", ["[AUTH1] x", "AUTH1 - x", "feat(AUTH1): x", "x (AUTH1)"])
def test_where_subjects_begin_with_a_folder_the_forms_do_not_count(text):
    unit = UnitName("AUTH", "AUTH1", Stamp(subject_dirs=("src",)))
    assert named(unit, text, is_declared=True) is None
    assert plainly(unit, "Log in\n\nCloses AUTH1") == "closing-keyword"


@pytest.mark.parametrize("text", ["PROJ-12 audit of x", "feat: PROJ-12 audit of x"])
def test_a_progress_marker_after_the_id_is_a_step_on_the_way(text):
    assert named(UnitName("PROJ", "PROJ-12", Stamp(progress_markers=("audit",))), text) is None


def test_every_form_is_a_rung():
    assert {form.value for form in Form} <= {rung.value for rung in Rung}


# Case is folded for A to Z alone.

LOOKALIKES = [
    ("TASK", "TASK1", "TA\u017fK1"), ("TASK", "TASK1", "TAS\u212a1"),
    ("KIT", "KIT-1", "\u212aIT-1"),
    ("INFRA", "INFRA-2", "\u0131nfra-2"), ("INFRA", "INFRA-2", "\u0130NFRA-2"),
    ("ÜBER", "ÜBER1", "über1"), ("ŠKODA", "ŠKODA-1", "škoda-1"), ("SS", "SS1", "ß1"),
]  # fmt: skip
FORMS = [
    "{id}: x", "{plan}: {id} x", "[{id}] x", "{id} - x", "feat({id}): x", "x ({id})", "Closes {id}",
    "v1.2.3: {id} x", "x\n\nUnit: {plan}/{id}", "x\n\nUnit: {id}", "{id}, ZED-9: x",
    "x\n\n* {id}: x", "{id} x",
]  # fmt: skip


@pytest.mark.parametrize(("plan", "phase", "written"), LOOKALIKES)
@pytest.mark.parametrize("form", FORMS)
def test_a_letter_that_unicode_folds_to_another_makes_another_id(plan, phase, written, form):
    unit = UnitName(plan, phase)
    message = Message.parse(form.format(plan=written[: len(plan)], id=written))
    assert unit.find_in(message, is_declared=True) is None
    assert not unit.is_declared_as(plan, written)
    assert not unit.is_declared_as(written[: len(plan)], phase) or unit.contains_plan(phase)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("plan", "phase"), [("ÜBER", "ÜBER1"), ("КОД", "КОД-7"), ("日本", "日本-3")]
)
def test_letters_outside_of_ascii_match_themselves(plan, phase, form):
    message = Message.parse(form.format(plan=plan, id=phase))
    assert UnitName(plan, phase).find_in(message, is_declared=True) is not None


def test_a_declaration_of_a_lookalike_is_of_another_unit(tmp_path):
    repository = Repository(tmp_path)
    toml = '[units."TA\u017fK1"]\npaths = ["src/other/**"]\n'
    repository.commit("declare", {"dos.toml": toml})
    repository.commit("TASK1: log in")
    assert repository.verify("TASK", "TASK1").answer is Answer.SHIPPED
    row = "recently_completed:\n- {plan: TASK, phase: TA\u017fK2, status: done, commit_sha: ''}\n"
    repository.write("dos.state.yaml", row)
    assert repository.verify("TASK", "TASK2").answer is Answer.NOT_SHIPPED


letters = st.sampled_from("akstAKST\u017f\u212aıİ")


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.text(letters, min_size=2, max_size=5), st.text(letters, min_size=2, max_size=5))
def test_two_ids_are_one_only_if_ascii_says_so(one, other):
    def folded(text):
        return "".join(letter.lower() if letter.isascii() else letter for letter in text)

    found = UnitName(one, f"{one}-1").find_in(Message.parse(f"[{other}-1] x"))
    assert (found is not None) == (folded(one) == folded(other))


# What finds the commits finds every name.

ALL_FORMS = [
    text for table in (PLAIN, UNMARKED, FAINT, {"": TYPED}) for texts in table.values()
    for text in texts
]  # fmt: skip
UNITS = [
    ("PROJ", "PROJ-12"), ("AUTH", "AUTH1"), ("AUTH", "1"), ("PROJ", "12"), ("AUTH", "Phase 1"),
    ("GH", "GH-12"),
    ("gh", "12"), ("#", "#12"), ("Ops", "ops_3"), ("docs/42_wheel-builds", "Phase 3"),
    ("ÜBER", "ÜBER1"),
    ("AUTH", "login"), ("TA\u017fK", "TA\u017fK-1"), ("AX", "AX3'-1"),
]  # fmt: skip


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(UNITS),
    st.sampled_from(["{id}: x", "{id}:", "{id} : x", "{plan}: {id} x", "{id}/x: y", "{id}.1: x"]),
    st.sampled_from([str, str.lower, str.upper]),
)
def test_a_name_that_begins_a_subject_is_the_same_behind_a_folder(unit, form, case):
    plan, phase = unit
    name = DirectName(plan, UnitName(plan, phase).spellings, ANY_FOLDER)
    text = form.format(plan=case(plan), id=case(phase))
    found = name.find(text)
    in_folder = name.find(f"src/{text}")
    assert "/" in plan or in_folder == (found and (found[0] + 4, found[1] + 4))


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
    st.sampled_from([*ALL_FORMS, *FORMS, "Fixes #12", "Log in\n\nFixes #12", "Log in (#12)"]),
    st.sampled_from([str, str.lower, str.upper]),
)
def test_whatever_is_recognised_is_found_by_its_words(unit, other, form, case):
    name = UnitName(*unit)
    text = form.format(plan=case(other[0]), id=case(other[1]))
    if name.find_in(Message.parse(text), is_declared=True) is not None:
        held = message_index.indexed_words(text)
        assert any(needle <= held for needle in name.needles()), text


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.text(st.sampled_from("PROJ-12 #[]().:;,/fixes closes\n"), max_size=60))
def test_any_message_that_is_recognised_is_found_by_its_words(text):
    for unit in (KEY, ISSUE):
        if unit.find_in(Message.parse(text)) is not None:
            held = message_index.indexed_words(text)
            assert any(needle <= held for needle in unit.needles()), text


PIECES = [
    "PROJ-12 ", "[PROJ-12", "(PROJ-12)", "[x]", "closes ", "fixes PROJ-1, ", "fixes #", "x, ",
    "feat(", "PROJ-12/", "#12 ", "a and ", "http://a/", "closes http://a/b",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_subject_takes_time_in_step_with_its_length(piece):
    short, long = (Message((piece * 4096)[:length], "") for length in (512, 4096))
    for unit in (KEY, WORD):
        assert grows_less_than(20, unit.find_in, short, long)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("piece", ["fixes PROJ-1,\n", "closes\n", "```\n", "* fixes a1, "])
def test_a_hostile_body_takes_time_in_step_with_its_length(piece):
    short, long = (Message("x", (piece * 60_000)[:length]) for length in (8_000, 64_000))
    assert grows_less_than(20, KEY.find_in, short, long)


# On real repositories.

REAL = [
    ("[PROJ-12] log in", "bracketed"), ("PROJ-12. log in", "punctuated"),
    ("PROJ-12 log in", "leading"),
    ("feat(PROJ-12): log in", "scope"), ("feat: PROJ-12 log in", "typed"),
    ("log in (PROJ-12) (#42)", "ending"), ("log in, fixes PROJ-12", "closing-keyword"),
    ("log in\n\nWhy not.\n\nCloses PROJ-12", "closing-keyword"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "rung"), REAL)
def test_work_under_such_a_name_has_shipped(tmp_path, message, rung):
    repository = Repository(tmp_path)
    repository.commit("begin")
    repository.commit(message)
    for uses_index in (True, False):
        verdict = repository.verify("PROJ", "PROJ-12", uses_index=uses_index)
        assert (verdict.answer, verdict.rung) == (Answer.SHIPPED, rung), verdict.reason
    assert repository.verify("PROJ", "PROJ-1").answer is Answer.NOT_SHIPPED


@pytest.mark.parametrize(("message", "rung"), REAL)
def test_an_empty_commit_of_such_a_name_is_a_claim(tmp_path, message, rung):
    repository = Repository(tmp_path)
    repository.commit(message, empty=True)
    verdict = repository.verify("PROJ", "PROJ-12")
    assert (verdict.answer, verdict.rung) == (Answer.UNPROVEN, rung)


@pytest.mark.parametrize(
    "message", ["Part of PROJ-12", "log in, see PROJ-12", "x\n\nRefs: PROJ-12"]
)
def test_work_that_mentions_a_unit_has_not_shipped_it(tmp_path, message):
    repository = Repository(tmp_path)
    repository.commit(message)
    assert repository.verify("PROJ", "PROJ-12").answer is Answer.NOT_SHIPPED


@pytest.mark.parametrize("message", ["AUTH1 log in", "log in (AUTH1)", "AUTH1"])
def test_a_word_is_a_name_once_a_plan_declares_it(tmp_path, message):
    repository = Repository(tmp_path)
    repository.commit(message)
    assert repository.verify("AUTH", "AUTH1").answer is Answer.NOT_SHIPPED
    repository.commit(
        "declare", {"docs/auth-plan.md": "## AUTH AUTH1: log in\n\n- paths: src/**\n"}
    )
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED


def test_one_of_several_ids_ships_where_its_files_speak_for_it(tmp_path):
    repository = Repository(tmp_path)
    plan = (
        "## AUTH AUTH1: log in\n\n- paths: src/in/**\n\n## AUTH AUTH2: out\n\n- paths: src/out/**\n"
    )
    repository.commit("declare", {"docs/auth-plan.md": plan})
    repository.commit("Log in\n\nCloses AUTH2, AUTH1", {"src/in/a.py": "def a():\n    return 1\n"})
    assert repository.verify("AUTH", "AUTH1").answer is Answer.SHIPPED
    assert repository.verify("AUTH", "AUTH2").answer is Answer.UNPROVEN


@pytest.mark.parametrize(
    "text",
    [
        "[AUTH2] log in",
        "AUTH2 log in",
        "feat(AUTH2): log in",
        "Log in (AUTH2)",
        "Log in, fixes AUTH2",
    ],
)
def test_a_landing_finds_the_second_name_of_a_commit(text):
    units = [UnitName("AUTH", f"AUTH{number}") for number in range(1, 4)]
    message = Message.parse(f"{text}\n\nUnit: AUTH/AUTH1")
    assert mentions.other_units(message, units[0], units).plainly == ("AUTH/AUTH2",)


@pytest.mark.parametrize(
    "message",
    [
        "[PROJ-13] x",
        "PROJ-13 x",
        "x (PROJ-13)",
        "feat(PROJ-13): x",
        "x, fixes PROJ-13",
        "x, fixes #13",
    ],
)
def test_a_registry_cannot_give_away_a_commit_that_names_another_unit(message):
    assert mentions.names_some_unit(message)


@pytest.mark.parametrize(
    "subject", ["UTF-8 names", "x (CVE-2024-1)", "SHA-256 sums", "x (RFC-1234)"]
)
def test_standards_are_no_units(subject):
    assert not mentions.names_some_unit(subject)


@pytest.mark.parametrize(
    "subject", ["PROJ-12. It fails on Windows", "PROJ-12 - typos", "x (PROJ-12)"]
)
def test_the_title_of_an_issue_claims_nothing_about_the_change(subject):
    assert mentions.names_some_unit(subject)
    assert not mentions.is_ship_shaped(subject)
