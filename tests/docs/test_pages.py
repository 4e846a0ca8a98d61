"""What the documentation shows is true: settings load, links lead somewhere, generated pages are
current."""

import re
from pathlib import Path
from typing import get_args

import make_api
import make_configuration
import make_conformance
import make_troubleshooting
import pytest

from dos.config.load import parse
from dos.questions.catalog import AnyQuestion, UnknownQuestion
from dos.reasons.table import TABLE

HOUSE = Path(__file__).parents[2]
PAGES = sorted([*(HOUSE / "docs").glob("*.md"), *HOUSE.glob("*.md")])
TOML = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def toml_blocks() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = TOML.findall(page.read_text(encoding="utf-8"))
        found += [(f"{page.name}:{number}", text) for number, text in enumerate(blocks, 1)]
    return found


BLOCKS = toml_blocks()


@pytest.mark.parametrize("text", [text for _, text in BLOCKS], ids=[name for name, _ in BLOCKS])
def test_settings_that_a_page_shows_can_be_used(text):
    loaded = parse(text, Path("dos.toml"))
    assert (loaded.problems, loaded.warnings) == ((), ())


def test_the_pages_show_settings():
    assert len(BLOCKS) >= 7


def test_the_pages_have_links():
    assert sum(len(LINK.findall(page.read_text(encoding="utf-8"))) for page in PAGES) > 50


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_and_headings_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if heading:
            assert heading in anchors(target), link


@pytest.mark.parametrize("name", ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_a_page_names_are_there(name):
    """Below src/dos, below the repository, or the last part of a path that the page has named."""
    named = re.findall(r"`([\w/]+\.py)`", (HOUSE / name).read_text(encoding="utf-8"))
    assert named
    every = {path.name for path in (HOUSE / "src" / "dos").rglob("*.py")}
    for path in named:
        is_there = (HOUSE / "src" / "dos" / path).exists() or (HOUSE / path).exists()
        assert is_there or ("/" not in path and path in every), path


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize(
    ("page", "generator"),
    [
        ("configuration", make_configuration),
        ("troubleshooting", make_troubleshooting),
        ("api", make_api),
        ("agent-conformance", make_conformance),
    ],
)
def test_the_committed_page_is_the_generated_one(page, generator):
    committed = (HOUSE / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert committed == generator.page(), "it is out of date: run make docs"


def test_the_example_of_the_api_runs(repository, monkeypatch, capsys):
    (example,) = PYTHON.findall((HOUSE / "docs" / "api.md").read_text(encoding="utf-8"))
    monkeypatch.chdir(repository.root)
    exec(example, {})
    assert capsys.readouterr().out.startswith("continue ")


def test_there_is_an_entry_for_every_reason_and_every_kind_of_question():
    page = make_troubleshooting.page()
    for reason in TABLE:
        assert f"### `{reason.token}`\n" in page
    shown = {type(question) for question in make_troubleshooting.sample_questions()}
    assert shown == set(get_args(AnyQuestion)) - {UnknownQuestion}
