"""The first configuration of a repository."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.config.layout.lanes import infer_lanes_from_directory
from dos.config.lint import Severity, lint
from dos.config.load import parse
from dos.config.scaffold import scaffold_text
from dos.lanes.policy import Lanes


def made(root: Path, *folders: str) -> Path:
    for folder in folders:
        (root / folder).mkdir()
    return root


def test_every_folder_at_the_top_is_a_lane_and_the_whole_tree_is_an_exclusive_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "README.md").write_text("")
    lanes = infer_lanes_from_directory(
        made(tmp_path, "src", "docs", ".github", "node_modules", "venv", "build")
    )
    assert lanes == Lanes(
        concurrent=("docs", "src"),
        exclusive=("global",),
        autopick=("docs", "src"),
        trees={"docs": ("docs/**",), "src": ("src/**",), "global": ("**/*",)},
    )


@pytest.mark.parametrize("folders", [(), (".git",), ("dist", "target")])
def test_without_a_folder_there_is_one_exclusive_lane(
    tmp_path: Path, folders: tuple[str, ...]
) -> None:
    only = Lanes(exclusive=("main",), trees={"main": ("**/*",)})
    assert infer_lanes_from_directory(made(tmp_path, *folders)) == only


def test_a_root_that_cannot_be_listed_is_like_an_empty_one(tmp_path: Path) -> None:
    assert infer_lanes_from_directory(tmp_path / "missing").exclusive == ("main",)


def test_at_most_so_many_lanes_are_made(tmp_path: Path) -> None:
    made(tmp_path, *(f"d{n:02}" for n in range(20)))
    assert len(infer_lanes_from_directory(tmp_path).concurrent) == 12
    assert infer_lanes_from_directory(tmp_path, cap=2).concurrent == ("d00", "d01")


def test_two_spellings_of_one_folder_are_one_lane(tmp_path: Path) -> None:
    lanes = infer_lanes_from_directory(made(tmp_path, "Src", "src"))
    assert lanes.trees["Src"] == ("Src/**", "src/**")
    assert lanes.concurrent == ("Src",)


def test_a_folder_called_global_does_not_lose_the_lane_for_everything(tmp_path: Path) -> None:
    lanes = infer_lanes_from_directory(made(tmp_path, "global"))
    assert (lanes.concurrent, lanes.exclusive) == (("global",), ("global-2",))


def test_a_linked_folder_is_no_lane(tmp_path: Path) -> None:
    made(tmp_path, "src")
    (tmp_path / "link").symlink_to("src")
    assert infer_lanes_from_directory(tmp_path).concurrent == ("src",)


@pytest.mark.parametrize(
    "name", ["a*b", "a[b", "a{b", "q?", "new\nline", " padded ", "x" * 150, "back\\slash", "~"]
)
def test_a_name_that_cannot_be_a_lane_or_reads_as_a_pattern_is_left_to_the_lane_for_everything(
    tmp_path: Path, name: str
) -> None:
    lanes = infer_lanes_from_directory(made(tmp_path, "src", name))
    assert lanes.concurrent == ("src",)


ODD = [
    "v1.2",
    "sp ace",
    'say "hi"',
    "it's",
    "ünïcode",
    "日本語",
    "-dash",
    "a=b",
    "#hash",
    "a]b",
    "CamelCase",
    "emoji🚀",
]


@pytest.mark.parametrize("name", ODD)
def test_the_scaffold_of_an_odd_folder_loads_back(tmp_path: Path, name: str) -> None:
    text = scaffold_text(made(tmp_path, name))
    config = parse(text, tmp_path / "dos.toml").config
    assert config.lanes == infer_lanes_from_directory(tmp_path)
    assert config.lanes.concurrent == (name,)
    assert lint(config) == []


def test_what_init_found_is_written_and_what_it_did_not_find_is_a_comment(tmp_path: Path) -> None:
    text = scaffold_text(
        made(tmp_path, "src"),
        target=3,
        agent="command",
        command=["make", 'say "go"'],
        test="make test",
    )
    config = parse(text, tmp_path / "dos.toml").config
    assert config.supervise.target == 3
    assert config.workers.agent == "command"
    assert config.workers.command == ("make", 'say "go"')
    assert config.workers.test == "make test"
    assert "\n# acceptance = " in text
    assert "\n# setup = " in text


def test_given_lanes_are_written_as_given(tmp_path: Path) -> None:
    lanes = Lanes(concurrent=("a",), trees={"a": ("x/**", "y/**")}, aliases={"sp ace": "a"})
    assert parse(scaffold_text(tmp_path, lanes=lanes), tmp_path / "dos.toml").config.lanes == lanes


def test_every_table_of_the_scaffold_is_explained_in_one_line(tmp_path: Path) -> None:
    lines = scaffold_text(made(tmp_path, "src")).splitlines()
    headers = [
        place for place, line in enumerate(lines) if line.startswith("[") and "." not in line
    ]
    assert len(headers) == 5
    assert all(lines[place - 1].startswith("# ") for place in headers)


FOLDER_NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=8
)


@settings(deadline=None, max_examples=60)
@given(st.sets(FOLDER_NAMES.filter(lambda name: name not in (".", "..")), max_size=4))
def test_the_scaffold_of_any_folders_loads_and_has_no_error(
    tmp_path_factory: pytest.TempPathFactory, folders: set[str]
) -> None:
    root = made(tmp_path_factory.mktemp("folders"), *folders)
    config = parse(scaffold_text(root), root / "dos.toml").config
    assert [finding for finding in lint(config) if finding.severity is not Severity.INFO] == []
