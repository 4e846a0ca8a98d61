"""Every setting is read by somebody, or is called an error when it is set."""

from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from settings_readers import is_read, leaves

from dos.config.lint import (
    NOT_YET_READ,
    RELEASED_LAYOUT,
    Kind,
    Severity,
    is_unread,
    lint,
    should_fail,
    unread_keys,
)
from dos.config.load import parse


def one_value(table, name):
    """Whether the key has one value only, so that reading the file decides all there is."""
    kind = get_type_hints(table)[name]
    return get_origin(kind) is Literal and len(get_args(kind)) == 1


def test_every_key_is_read_or_is_listed_as_unread():
    nobody = [
        ".".join(path)
        for path, table, name in leaves()
        if not is_unread(path) and not is_read(path, table, name) and not one_value(table, name)
    ]
    assert nobody == [], "nothing reads these: read them, or list them in NOT_YET_READ"


@pytest.mark.parametrize("key", sorted(NOT_YET_READ | RELEASED_LAYOUT), ids=".".join)
def test_what_is_listed_exists_and_is_read_by_nobody(key):
    meant = [leaf for leaf in leaves() if leaf[0][: len(key)] == key]
    assert meant
    read = [".".join(path) for path, table, name in meant if is_read(path, table, name)]
    assert read == [], "somebody reads it: take it out of its list"


def test_a_reader_is_found_by_what_it_takes_a_field_from_and_not_by_its_name():
    read = {".".join(path): is_read(path, table, name) for path, table, name in leaves()}
    assert (
        read["quota.jitter_seconds"]
        and read["cooldown.error_window_minutes"]
        and read["units.kind"]
    )
    assert not read["enumerate.style"], "documents have a style of their own, which somebody reads"
    assert read["noop_streak.max_streak"]


def test_a_setting_that_nobody_reads_is_an_error_with_its_fix(monkeypatch):
    key = ("intervention",)  # nothing is unread in this version
    monkeypatch.setattr("dos.config.lint.NOT_YET_READ", frozenset([key]))
    loaded = parse("[intervention.HOLD]\nrank = 15\n", Path("dos.toml"))
    (found,) = [
        each
        for each in lint(loaded.config, set_keys=loaded.origins)
        if each.kind is Kind.POLICY_UNREAD
    ]
    assert (found.severity, found.subject) == (Severity.ERROR, "intervention.HOLD.rank")
    assert (
        "this version of dos does not read it" in found.detail
        and found.fix == "dos config unset intervention.HOLD.rank"
    )


def test_keys_about_files_of_dos_kernel_are_noted_and_fail_nothing():
    text = 'workspace = "."\n[paths]\nlane_journal = "x"\n[retention]\nprojections_compact = true\n'
    loaded = parse(text, Path("dos.toml"))
    found = lint(loaded.config, set_keys=loaded.origins)
    noted = [each for each in found if each.kind is Kind.LAYOUT_UNUSED]
    assert [each.subject for each in noted] == [
        "paths.lane_journal",
        "retention.projections_compact",
        "workspace",
    ]
    assert {each.severity for each in noted} == {Severity.INFO}
    assert not should_fail(noted)


def test_what_is_read_is_no_error_and_lists_are_named_once():
    text = """
[paths]
plans_glob = "x/*.md"
lane_journal = "x"
[retention]
runs_keep_last = 3
audits_keep_last = 4
[data_class]
trajectory_patterns = ["a", "b"]
[lifecycle]
classes = ["a", "b"]
veto_class = "b"
"""
    assert [
        ".".join(map(str, key)) for key in unread_keys(parse(text, Path("dos.toml")).origins)
    ] == [
        "data_class.trajectory_patterns",
        "paths.lane_journal",
        "retention.audits_keep_last",
    ]
