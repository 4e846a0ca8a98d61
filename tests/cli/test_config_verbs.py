"""dos config and dos lint: what is shown, what is changed, and what is said about a file with
mistakes."""

import pytest
from commanding import git

BROKEN = "[supervise]\ntarge = 1\n"


def test_every_key_is_shown_with_its_value(dos):
    lines = dos("config", "show").out.splitlines()
    assert 'lanes.concurrent = ["api", "docs", "worker"]' in lines
    assert "supervise.target = 1" in lines
    assert "# supervise.max_concurrency is not set" in lines


def test_a_key_or_a_table_can_be_asked_for(dos):
    assert dos("config", "show", "supervise.target").out == "supervise.target = 1\n"
    assert {row["key"].split(".")[1] for row in dos("config", "show", "lanes", "--json").json} == {
        "concurrent", "repeatable", "exclusive", "autopick", "trees", "aliases", "agents",
    }  # fmt: skip


def test_the_origin_names_the_line(dos):
    text = dos("config", "show", "--origin", "lanes.exclusive").out
    assert text.rstrip().endswith("# dos.toml:3")
    assert dos("config", "show", "--origin", "supervise.target").out.rstrip().endswith("# default")


def test_an_unknown_key_is_named_with_the_nearest(dos):
    answer = dos("config", "show", "supervise.targt")
    assert answer.code == 2 and "supervise.target" in answer.err


@pytest.mark.parametrize(
    ("key", "text", "code"),
    [
        ("supervise.target", "1\n", 0),
        ("paths.plans_glob", "docs/**/*-plan.md\n", 0),
        ("lanes.trees.api", '["api/**"]\n', 0),
        ("workers.isolation", "worktree\n", 0),
        ("supervise.max_concurrency", "", 1),
        ("workers.agent", "", 0),
    ],
)
def test_one_value_is_printed_bare(key, text, code, dos):
    answer = dos("config", "get", key)
    assert (answer.out, answer.code) == (text, code)


def test_a_value_that_is_set_is_read_back_and_the_rest_stays(workspace, dos):
    before = (workspace / "dos.toml").read_text()
    assert dos("config", "set", "supervise.target", "3").code == 0
    assert dos("config", "get", "supervise.target", "--json").json["value"] == 3
    assert (workspace / "dos.toml").read_text().startswith(before.rstrip("\n"))
    assert dos("config", "unset", "supervise.target").code == 0
    assert dos("config", "get", "supervise.target").out == "1\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("supervise.targt", "3"), "targt"),
        (("supervise.target", "many"), "whole number"),
        (("lanes.trees.api", "[unquoted]"), "TOML"),
        (("", "3"), "key"),
    ],
)
def test_a_change_that_would_not_load_is_refused_and_changes_nothing(words, said, workspace, dos):
    before = (workspace / "dos.toml").read_bytes()
    answer = dos("config", "set", *words)
    assert answer.code == 2 and said in answer.err
    assert (workspace / "dos.toml").read_bytes() == before


def test_a_value_that_begins_with_a_dash_goes_after_two_dashes(dos):
    assert dos("config", "set", "--", "retention.journal_max_entries", "-1").code == 0
    assert dos("config", "get", "retention.journal_max_entries").out == "-1\n"


def test_an_entry_can_be_taken_out_of_a_list(dos):
    answer = dos("config", "unset", "lanes.autopick", "docs", "--json")
    assert answer.json["value"] == '["api", "worker"]'
    assert dos("config", "get", "lanes.autopick").out == '["api", "worker"]\n'


def test_of_very_many_findings_the_first_are_shown_and_the_rest_counted(workspace, dos):
    names = ", ".join(f'"lane{number}"' for number in range(1_000))
    (workspace / "dos.toml").write_text(f"[lanes]\nconcurrent = [{names}]\n")
    for verb in ("lint", "doctor"):
        text = dos(verb).out
        assert "and 980 more of LANE_WITHOUT_TREE; --json lists them all" in text
        assert text.count("has no tree") == 20 and len(text) < 20_000
        findings = dos(verb, "--json").json["findings"]
        assert [each["kind"] for each in findings].count("LANE_WITHOUT_TREE") == 1_000


def test_what_is_not_set_cannot_be_taken_out(dos):
    answer = dos("config", "unset", "supervise.target")
    assert answer.code == 2 and "not set" in answer.err


def test_the_path_is_printed_whether_or_not_the_file_is_there(workspace, dos):
    assert dos("config", "path").out == f"{workspace / 'dos.toml'}\n"
    (workspace / "dos.toml").unlink()
    answer = dos("config", "path", "--json")
    assert answer.code == 1 and answer.json == {
        "path": str(workspace / "dos.toml"),
        "exists": False,
    }


def test_a_file_with_errors_is_shown_only_to_those_who_insist(workspace, dos):
    (workspace / "dos.toml").write_text(BROKEN)
    strict = dos("config", "show", "supervise.target")
    assert strict.code == 2 and "dos.toml:2" in strict.err
    lenient = dos("config", "show", "supervise.target", "--lenient")
    assert lenient.code == 0 and lenient.out == "supervise.target = 1\n" and "targe" in lenient.err


def test_an_unset_can_mend_a_file_with_one_error(workspace, dos):
    (workspace / "dos.toml").write_text(BROKEN)
    assert dos("config", "unset", "supervise.targe").code == 0
    assert dos("lint").code == 0


@pytest.mark.parametrize(
    ("text", "strict", "code", "kind"),
    [
        ("", False, 0, None),
        (BROKEN, True, 1, "CONFIG_INVALID"),
        ("[lanes", True, 1, "CONFIG_INVALID"),
        ('[lanes]\nconcurrent = ["a"]\n', True, 1, "LANE_WITHOUT_TREE"),
        (
            '[lanes]\nautopick = ["a"]\n[lanes.trees]\na = ["a/**"]\n',
            False,
            1,
            "AUTOPICK_LANE_UNDECLARED",
        ),
        (
            '[lanes]\nautopick = ["a"]\n[lanes.trees]\na = ["a/**"]\n',
            True,
            0,
            "AUTOPICK_LANE_UNDECLARED",
        ),
        (
            '[reasons.X]\ncategory = "MISROUTE"\nsee_also = "lane q"\n',
            False,
            0,
            "REASON_SEE_ALSO_DANGLES",
        ),
    ],
)
def test_lint_exits_by_the_worst_finding(text, strict, code, kind, workspace, dos):
    (workspace / "dos.toml").write_text(text)
    words = ["lint", "--strict"] if strict else ["lint"]
    answer = dos(*words, "--json")
    assert answer.code == code
    assert [finding["kind"] for finding in answer.json["findings"]] == ([kind] if kind else [])
    assert answer.json["counts"].keys() == {"error", "warn", "info"}
    assert (kind or "clean") in dos(*words).out


def test_the_password_of_the_store_is_never_shown(dos):
    answer = dos("config", "set", "store.url", "postgresql://me:sEcReT@host/db")
    assert answer.code == 0
    for shown in (
        answer,
        dos("config", "show"),
        dos("config", "get", "store.url"),
        dos("config", "show", "--json"),
    ):
        assert "sEcReT" not in shown.out + shown.err


@pytest.fixture
def linked(workspace, tmp_path):
    path = tmp_path / "linked"
    git("worktree", "add", "-q", str(path), cwd=workspace)
    return path


@pytest.mark.parametrize(
    "words",
    [("init",), ("init", "--force"), ("init", "."), ("config", "set", "supervise.target", "3"),
     ("config", "unset", "lanes.aliases")],
)  # fmt: skip
def test_in_a_linked_worktree_no_file_is_written_that_is_not_read_nor_the_one_that_is(
    words, workspace, linked, dos, monkeypatch
):
    main, own = (workspace / "dos.toml").read_text(), (linked / "dos.toml").read_text()
    monkeypatch.chdir(linked)
    answer = dos(*words)
    assert answer.code == 2
    assert (
        f"{linked} is a linked worktree" in answer.err and str(workspace / "dos.toml") in answer.err
    )
    assert ((workspace / "dos.toml").read_text(), (linked / "dos.toml").read_text()) == (main, own)
    again = dos("--workspace", str(workspace), "config", "set", "supervise.target", "3")
    assert again.code == 0, "as the hint says"
    assert dos("config", "get", "supervise.target").out == "3\n", "and that is what is read here"


def test_what_init_writes_in_a_linked_worktree_is_read_there_where_the_main_checkout_has_none(
    workspace, linked, dos, monkeypatch
):
    (workspace / "dos.toml").unlink()
    (linked / "dos.toml").unlink()
    monkeypatch.chdir(linked)
    assert dos("init").code == 0
    assert dos("config", "path").out == f"{linked / 'dos.toml'}\n"
    assert dos("config", "set", "supervise.target", "3").code == 0


def test_a_bare_repository_has_no_lanes(tmp_path, workspace, dos, monkeypatch):
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", str(workspace), str(bare), cwd=tmp_path)
    for words, place in (
        (("init",), bare),
        (("init", str(bare)), workspace),
        (("init",), bare / "hooks"),
    ):
        monkeypatch.chdir(place)
        answer = dos(*words)
        assert (answer.code, "is a bare repository" in answer.err) == (2, True)
        assert f"git clone {bare}" in answer.err
    assert not (bare / "dos.toml").exists()


@pytest.mark.parametrize("is_committed", [False, True])
def test_before_the_first_commit_the_output_of_builds_is_no_lane(
    is_committed, tmp_path, dos, monkeypatch
):
    root = tmp_path / "new"
    for folder in ("shop", "site", "node_modules/left/lib", "build", "shop/__pycache__"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.js").touch()
    git("init", "-q", cwd=root)
    if is_committed:
        git("add", "--all", cwd=root)
        git("commit", "-q", "-m", "Begin", cwd=root)
    monkeypatch.chdir(root)
    assert dos("init").code == 0
    lanes = dos("config", "get", "lanes.concurrent", "--json").json["value"]
    assert {"shop", "site"} <= set(lanes)
    assert bool({"node_modules", "build"} & set(lanes)) == is_committed, (
        "who commits it works on it"
    )
