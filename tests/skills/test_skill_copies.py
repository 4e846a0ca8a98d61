"""`dos init --skills`, `dos skills list|check`, and the warning of `dos loop`."""

from pathlib import Path

import pytest
from commanding import git, in_process

from dos.skills.io import packaged
from dos.skills.skill import CORE, FOLDERS


def installed(root: Path) -> set[str]:
    return {
        str(path.relative_to(root))
        for folder in FOLDERS
        for path in (root / folder).glob("*/SKILL.md")
    }


def places(*names: str) -> set[str]:
    return {f"{folder}/{name}/SKILL.md" for folder in FOLDERS for name in names}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--skills",), CORE),
        (("--skill", "dos-unstick", "--skill", "dos-promote"), ("dos-promote", "dos-unstick")),
        (("--skills", "--skill", "dos-unstick"), (*CORE, "dos-unstick")),
        (("--all",), packaged.names()),
    ],
)
def test_skills_are_copied_for_every_program_and_dos_toml_stays(workspace, words, names):
    config = (workspace / "dos.toml").read_text()
    answer = in_process("init", *words, "--json")
    assert answer.code == 0 and answer.json["written"] is False
    assert installed(workspace) == places(*names)
    assert {row["path"] for row in answer.json["skills"]} == places(*names)
    text = packaged.skills()[names[0]].text
    assert (workspace / FOLDERS[0] / names[0] / "SKILL.md").read_text() == text
    assert (workspace / "dos.toml").read_text() == config


def test_without_a_dos_toml_both_are_written(workspace):
    (workspace / "dos.toml").unlink()
    assert in_process("init", "--skills", "--json").json["written"] is True
    assert (workspace / "dos.toml").exists() and installed(workspace) == places(*CORE)


def test_a_copy_that_was_edited_is_kept_unless_forced(workspace):
    in_process("init", "--skills")
    edited = workspace / FOLDERS[1] / "dos-dispatch" / "SKILL.md"
    edited.write_text("mine\n")
    kept = in_process("init", "--skills")
    assert kept.code == 0 and edited.read_text() == "mine\n"
    assert "kept .agents/skills/dos-dispatch/SKILL.md" in kept.out
    config = (workspace / "dos.toml").read_text()
    assert in_process("init", "--skills", "--force").code == 0
    assert edited.read_text() == packaged.skills()["dos-dispatch"].text
    assert (workspace / "dos.toml").read_text() == config  # --force is for the copies alone


def test_a_mistyped_name_is_an_error_and_nothing_is_written(workspace):
    answer = in_process("init", "--skill", "dos-dispatch", "--skill", "dos-unstuck")
    assert answer.code == 2 and "dos-unstick" in answer.err
    assert installed(workspace) == set()


def test_a_dry_run_writes_nothing(workspace):
    answer = in_process("init", "--skills", "--agents-md", "--dry-run")
    assert answer.code == 0 and "would write 8 copies of 4 skills" in answer.out
    assert git("status", "--porcelain", cwd=workspace) == ""


def test_no_skill_is_written_through_a_link(workspace, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (workspace / ".claude").symlink_to(tmp_path / "elsewhere")
    answer = in_process("init", "--skills")
    assert answer.code == 2 and ".claude" in answer.err
    assert list((tmp_path / "elsewhere").iterdir()) == [] and installed(workspace) == set()


def test_copies_are_committed_with_commit(workspace):
    in_process("init", "--skills", "--agents-md", "--commit")
    assert git("log", "-1", "--format=%s", cwd=workspace).strip() == "Add skills and hooks of dos"
    assert git("status", "--porcelain", cwd=workspace) == ""
    assert "AGENTS.md" in git("show", "--name-only", "--format=", cwd=workspace)


def test_check_says_what_is_missing_or_differs_and_each_fix_works(workspace):
    nothing = in_process("skills", "check")
    assert nothing.code == 1 and "dos init --skills" in nothing.out
    in_process("init", "--skills")
    assert in_process("skills", "check").code == 0
    (workspace / FOLDERS[0] / "dos-replan" / "SKILL.md").write_text("old\n")
    (workspace / FOLDERS[1] / "dos-dispatch" / "SKILL.md").unlink()
    found = in_process("skills", "check", "--json")
    assert found.code == 1
    assert {(row["skill"], row["state"]) for row in found.json["findings"]} == {
        ("dos-replan", "DRIFTED"),
        ("dos-dispatch", "MISSING"),
    }
    for row in found.json["findings"]:
        assert in_process(*row["fix"].split()[1:]).code == 0
    assert in_process("skills", "check").code == 0


def test_list_shows_every_skill_and_where_it_is(workspace):
    in_process("init", "--skill", "dos-promote")
    rows = {row["name"]: row for row in in_process("skills", "list", "--json").json}
    assert tuple(rows) == packaged.names()
    assert {place["path"] for place in rows["dos-promote"]["copies"]} == places("dos-promote")
    assert rows["dos-dispatch"]["core"] and not rows["dos-dispatch"]["copies"]
    assert "not installed" in in_process("skills", "list").out


def test_loop_warns_while_the_skill_of_its_launch_template_is_missing(workspace):
    assert "dos init --skill dos-dispatch-loop" in in_process("loop").err
    assert in_process("loop", "--target", "0").err == ""  # nothing is to be launched
    in_process("init", "--skill", "dos-dispatch-loop")
    assert in_process("loop").err == ""


def test_loop_does_not_warn_of_a_launch_template_that_is_no_skill(workspace):
    in_process("config", "set", "supervise.worker_launch_template", "worker.sh {lane}")
    assert in_process("loop").err == ""


def test_a_skill_in_the_home_of_the_user_is_found_too(workspace):
    copy = Path.home() / FOLDERS[0] / "dos-dispatch-loop" / "SKILL.md"
    copy.parent.mkdir(parents=True)
    copy.write_text("x")
    assert in_process("loop").err == ""


def test_the_block_of_agents_md_is_written_and_updated_in_place(workspace):
    page = workspace / "AGENTS.md"
    page.write_text("# Ours\n\nBefore.\n")
    assert in_process("init", "--agents-md").code == 0
    first = page.read_text()
    assert first.startswith("# Ours\n\nBefore.\n\n<!-- dos:begin") and "dos verify" in first
    page.write_text(first.replace("Several agents", "Some agents") + "\nAfter.\n")
    in_process("init", "--agents-md")
    assert page.read_text() == first + "\nAfter.\n"
    assert "already" in in_process("init", "--agents-md").out


def test_a_block_with_one_mark_is_an_error(workspace):
    (workspace / "AGENTS.md").write_text("<!-- dos:begin -->\nMine.\n")
    answer = in_process("init", "--agents-md")
    assert answer.code == 2 and (workspace / "AGENTS.md").read_text().endswith("Mine.\n")


def test_agents_md_may_be_a_link_within_the_repository_only(workspace, tmp_path):
    (workspace / "CLAUDE.md").write_text("Ours.\n")
    (workspace / "AGENTS.md").symlink_to("CLAUDE.md")
    assert in_process("init", "--agents-md").code == 0
    assert "dos:begin" in (workspace / "CLAUDE.md").read_text()
    (workspace / "AGENTS.md").unlink()
    (tmp_path / "foreign.md").write_text("Theirs.\n")
    (workspace / "AGENTS.md").symlink_to(tmp_path / "foreign.md")
    assert in_process("init", "--agents-md").code == 2
    assert (tmp_path / "foreign.md").read_text() == "Theirs.\n"


def test_recurring_lists_every_cause_that_stopped_several_runs(workspace):
    assert in_process("recurring", "--all").code == 0
    runs = [in_process("run-id", "mint", "loop").json["run_id"] for _ in range(3)]
    outcomes = ['{"kind":"LAUNCH_FAILED"}', '{"kind":"RATE_LIMITED"}', '{"kind":"LAUNCH_FAILED"}']
    for run, outcome in zip(runs, outcomes, strict=True):
        stopped = in_process("decide", "--run", run, "--outcome", outcome, "--lane", "api")
        assert stopped.code == 3
    answer = in_process("recurring", "--all", "--json")
    assert answer.code == 3
    (cause,) = answer.json["clusters"]
    assert (cause["cause_key"], cause["runs_affected"]) == ("launch-failed", 2)
    assert cause["example_run"] == runs[2]
    every = in_process("recurring", "--all", "--min-recurrence", "1", "--json").json["clusters"]
    assert [each["cause_key"] for each in every] == ["launch-failed", "rate-limited"]
    assert in_process("recurring", "--all", runs[0]).code == 2
