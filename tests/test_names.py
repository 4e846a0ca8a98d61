"""Names that people type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos import run_ids
from dos.errors import NameInvalid
from dos.text import (
    comparison_key,
    did_you_mean,
    escape_invisible,
    join_some,
    plural,
    quote,
    slug,
    validated_name,
)


@pytest.mark.parametrize("name", ["api", "a b", "quote'\"", "..", "a/b", "é", "日本", "x" * 200])
def test_a_printable_name_is_taken_as_it_is(name):
    assert validated_name(name, "lane") == name


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\0b", "a\u2028b", "\x1b[2J", "x" * 201, "x" * 10_000, "\ud800"]
)
def test_a_name_that_would_break_a_line_is_refused_with_what_was_found(name):
    with pytest.raises(NameInvalid) as refused:
        validated_name(name, "owner")
    assert "owner" in str(refused.value) and refused.value.hint
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 250


@given(st.text(min_size=1), st.text(min_size=1))
def test_slugs_are_safe_as_a_path_and_as_a_ref_and_never_collide(one, other):
    for name in (one, other):
        assert set(slug(name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    assert (slug(one) == slug(other)) == (one == other)


def test_names_compare_without_case_and_unicode_form():
    assert comparison_key("API") == comparison_key("api")
    assert comparison_key("é") == comparison_key("e\u0301")


def test_a_long_name_is_cut_where_it_is_shown():
    assert len(quote("x" * 500)) < 70


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("api", "api"),
        ("é 日本 \N{ZERO WIDTH JOINER}", "é 日本 \N{ZERO WIDTH JOINER}"),
        ("a\n\tb", "a\n\tb"),
        ("\x1b[31m", "\\u001b[31m"),
        ("a\rb", "a\\u000db"),
        ("\x9b2J\x7f", "\\u009b2J\\u007f"),
        ("\u202egpj", "\\u202egpj"),
        ("a\u2028b\ufeff", "a\\u2028b\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\udb40\\udc41"),
    ],
    ids=ascii,
)
def test_what_a_terminal_would_act_on_is_shown_instead(text, seen):
    assert escape_invisible(text) == seen


@given(st.text())
def test_what_is_visible_is_printable_apart_from_lines_columns_and_odd_blanks(text):
    assert not set(escape_invisible(text)) & {
        chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E)
    }
    assert escape_invisible(escape_invisible(text)) == escape_invisible(text)


def test_a_few_names_are_listed_and_of_many_the_first():
    assert join_some(["a", "b"]) == "a, b"
    assert join_some([str(number) for number in range(10_000)], 2) == "0, 1 and 9,998 more"


def test_a_name_that_nobody_knows_is_answered_with_the_nearest():
    assert (
        did_you_mean("apii", ["docs", "API"], "lanes")
        == "did you mean 'API'? known lanes: API, docs"
    )
    assert did_you_mean("zzz", ["docs", "api"], "lanes") == "known lanes: api, docs"
    many = did_you_mean("lane77x", [f"lane{number}" for number in range(10_000)], "lanes")
    assert (
        many.startswith("did you mean 'lane77'? there are 10,000 lanes; the nearest are lane77, ")
        and len(many) < 100
    )
    assert (
        did_you_mean("zzz", [f"lane{number}" for number in range(50)], "lanes")
        == "there are 50 lanes"
    )


@pytest.mark.parametrize(("number", "said"), [(0, "0 leases"), (1, "1 lease"), (2, "2 leases")])
def test_one_of_a_thing_is_not_several(number, said):
    assert plural(number, "lease") == said


def test_a_run_id_carries_its_time_and_sorts_by_it():
    early = run_ids.mint(1_000, 2**30 - 1, "p").run_id
    late = run_ids.mint(1_001, 0, "p").run_id
    assert early < late and len(early) == 19
    assert run_ids.started_ms(late) == 1_001
    assert run_ids.started_ms("RID-000000001000002") == 1


def test_lineage_is_inherited():
    root = run_ids.mint(1, 1, "a")
    child = run_ids.mint(2, 2, "PROC-b", parent=root.run_id)
    grandchild = run_ids.mint(3, 3, "c", parent=child.run_id, root=child.root_id)
    assert root.root_id == root.run_id and root.parent_id is None
    assert (child.parent_id, child.root_id, child.process_id) == (
        root.run_id,
        root.run_id,
        "PROC-b",
    )
    assert grandchild.root_id == root.run_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "RID-",
        "../../x",
        "RID-00000000100000l",
        "rid-000000001000002",
        "RID-0000000010000022",
        "RID-0000/0001000002",
    ],
)
def test_what_is_not_a_run_id_is_refused_before_it_becomes_a_path(text):
    with pytest.raises(NameInvalid):
        run_ids.validated_run_id(text)


def test_one_order_of_variables_says_which_run_an_environment_names():
    named = {"DOS_RUN_ID": "RID-1", "CID_RUN_ID": "RID-2", "DISPATCH_RUN_ID": "RID-3"}
    for name in run_ids.VARIABLES:
        assert run_ids.named_in(named) == named.pop(name)
    assert run_ids.named_in({"HOME": "/"}) == ""


@pytest.mark.parametrize("value", ["", "x" * 201, "RID\n1", "\udcff", "é"])
def test_a_run_that_no_event_can_hold_is_none(value):
    assert run_ids.named_in({"DOS_RUN_ID": value}) == ""
    assert run_ids.named_in({"DOS_RUN_ID": value, "CID_RUN_ID": "run-7"}) == "run-7"
