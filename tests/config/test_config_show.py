"""What is set, to what, and by which line."""

from pathlib import Path

import pytest

from dos.config.load import load, parse
from dos.config.show import Setting, as_json, list_settings

FILE = Path("/somewhere/dos.toml")
TEXT = """\
# a comment
[supervise]
target = 3 # three

max_concurrency = 4

[lanes]
concurrent = [
  "api",
]
trees.api = ["src/**"]

[lanes.aliases]
"sp ace" = "api"

[[concurrency_class]]
name = "a"
max_concurrent = 1

[reasons.VENDOR]
category = "MISROUTE"
[[reasons.morphology]]
substring = "A"
category = "MISROUTE"

[ci]
repo = "a/b"
[precursor.requires]
x = ["y"]
"""


def shown(text: str) -> dict[str, Setting]:
    return {row.key: row for row in list_settings(parse(text, FILE))}


@pytest.mark.parametrize(
    ("key", "text", "origin"),
    [
        ("supervise.target", "3", "dos.toml:3"),
        ("supervise.max_concurrency", "4", "dos.toml:5"),
        ("supervise.reap_stalled", "true", "default"),
        ("supervise.spin_halt_after_ms", "", "default"),
        ("lanes.concurrent", '["api"]', "dos.toml:8"),
        ("lanes.trees.api", '["src/**"]', "dos.toml:11"),
        ('lanes.aliases."sp ace"', '"api"', "dos.toml:14"),
        ("lanes.exclusive", "[]", "dos.toml:7"),  # empty because the table is there
        ("concurrency_class", '[{ name = "a", max_concurrent = 1 }]', "dos.toml:16"),
        ("reasons.VENDOR.category", '"MISROUTE"', "dos.toml:21"),
        ("reasons.VENDOR.refusal", "true", "default"),
        ("morphology", '[{ substring = "A", category = "MISROUTE" }]', "dos.toml:22"),
        ("ci.repo", '"a/b"', "dos.toml:27"),
        ("precursor.requires.x", '["y"]', "dos.toml:29"),
        ("cooldown.window_hours", "6", "default"),
        ("workers.wall_seconds", "3600", "default"),
    ],
)
def test_a_row_says_the_value_and_the_line_it_comes_from(key: str, text: str, origin: str) -> None:
    row = shown(TEXT)[key]
    assert (row.text, row.origin) == (text, origin)


def test_every_key_is_there_once() -> None:
    keys = [row.key for row in list_settings(parse(TEXT, FILE))]
    assert len(keys) == len(set(keys))
    assert {"store.url", "leases.ttl_seconds", "protect.globs", "enforcement.posture"} <= set(keys)


def test_without_a_file_everything_is_default(tmp_path: Path) -> None:
    assert {row.origin for row in list_settings(load(tmp_path))} == {"default"}


def test_an_empty_lanes_table_changes_nothing() -> None:
    assert shown("[lanes]\n")["lanes.concurrent"].origin == "default"


def test_the_json_form_has_the_same_rows() -> None:
    assert {"key": "supervise.target", "value": 3, "origin": "dos.toml:3"} in as_json(
        list_settings(parse(TEXT, FILE))
    )
