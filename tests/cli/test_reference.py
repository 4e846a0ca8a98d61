"""The reference page is what the verbs say."""

from pathlib import Path

from dos.cli import reference
from dos.verbs import lookup
from dos.verbs.listing.table import VERBS

COMMITTED = Path(__file__).parents[2] / "docs" / "reference.md"


def test_the_committed_page_is_the_generated_one():
    assert COMMITTED.read_text(encoding="utf-8") == reference.page(), (
        "docs/reference.md is out of date: run make docs"
    )


def test_every_verb_flag_and_exit_code_is_on_the_page():
    page = reference.page()
    for verb in VERBS.values():
        section = page.partition(f"### dos {verb.name}\n")[2].partition("\n### ")[0]
        assert section, verb.name
        assert all(
            field.flag in section for field in lookup.arguments(verb) if not field.option.positional
        )
        assert all(
            f"{code} `{lookup.exit_words(token)}`" in section
            for token, code in lookup.exit_codes(verb).items()
        )
