"""Asking which lane may be worked on, and whether files belong to it."""

import pytest
from commanding import git
from msgspec import json

A = '[{"lane":"api","lane_kind":"cluster","tree":["api/**"],"loop_ts":"t1"}]'
GLOBAL = '[{"lane":"global","lane_kind":"global","tree":["**/*"],"loop_ts":"t1"}]'
ALL = json.encode(
    [
        {"lane": lane, "lane_kind": "cluster", "tree": [f"{lane}/**"]}
        for lane in ("api", "docs", "worker")
    ]
).decode()


@pytest.mark.parametrize(
    ("words", "leases", "code", "expected"),
    [
        ("", "[]", 0, {"lane": "api", "auto_picked": True}),
        ("--lane api --kind cluster", "[]", 0, {"lane": "api", "auto_picked": False}),
        ("--lane api", "[]", 0, {"lane": "api", "auto_picked": False}),
        ("--lane worker --kind cluster", A, 0, {"lane": "worker", "substituted": False}),
        ("--lane worker", A, 0, {"lane": "worker", "substituted": False}),
        ("--lane api --kind cluster", A, 0,
            {"lane": "docs", "auto_picked": True, "requested_lane": "api"}),
        ("--lane api --kind cluster --exact", A, 1,
            {"lane": "", "free_clusters": ["docs", "worker"]}),
        ("--lane nosuch", A, 2, {"outcome": "refuse", "reason_class": "UNKNOWN_LANE"}),
        ("--lane nosuch --kind cluster", "[]", 2, {"outcome": "refuse"}),
        ("--lane hot --kind keyword --tree api/x.py", A, 1, {"reason_class": "REGION_OVERLAP"}),
        ("--lane hot --kind keyword --tree api/x.py lib/** docs/a", A, 1,
            {"reason_class": "REGION_OVERLAP"}),
        ("--lane global", A, 1, {"free_clusters": ["docs", "worker"]}),
        ("--lane global", "[]", 0, {"lane_kind": "global", "tree": ["**/*"]}),
        ("--kind global", "[]", 0, {"lane": "global", "tree": ["**/*"]}),
        ("--lane api --force", GLOBAL, 1, {"free_clusters": []}),
        ("--force", A, 0, {"lane": "docs"}),
        ("", ALL, 1, {"free_clusters": []}),
        ("", '[{"lane":"x","tree":[]}]', 1, {"outcome": "refuse"}),
        ("--class-budget cluster=1", '[{"lane":"docs","lane_kind":"cluster","tree":["docs/**"]}]',
            1, {"lane": ""}),
        ("--lane api --mode shared", '[{"lane":"api","tree":["api/**"],"mode":"SHARED"}]', 0,
            {"lane": "api"}),
    ],
)  # fmt: skip
def test_the_answer_is_json_and_its_exit_code(dos, workspace, state, words, leases, code, expected):
    answer = dos("arbitrate", *words.split(), "--leases", leases)
    assert answer.code == code
    assert {key: answer.json[key] for key in expected} == expected
    keys = {
        "outcome",
        "lane",
        "lane_kind",
        "tree",
        "auto_picked",
        "reason",
        "free_clusters",
        "pick_count",
    }
    assert keys <= answer.json.keys()
    assert not state.exists(), "asking leaves no trace"


def test_by_default_the_journal_says_what_is_live(dos, workspace):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    assert dos("arbitrate").json["lane"] == "docs"
    assert dos("arbitrate", "--lane", "api", "--exact").code == 1
    assert dos("arbitrate", "--lane", "api", "--exact", "--leases", "[]").code == 0


def test_a_forced_grant_over_a_refusal_is_written_down_once(dos, workspace):
    dos("lease-lane", "acquire", "--lane", "api", "--owner", "A")
    answer = dos("arbitrate", "--lane", "api", "--force")
    assert answer.code == 0 and "FORCED" in answer.json["reason"]
    [event] = dos("journal", "tail", "--stream", "decisions").lines
    assert event["kind"] == "decision_forced"
    assert (event["body"]["lane"], event["body"]["reason_class"]) == ("api", "LANE_HELD")


@pytest.mark.parametrize(
    ("words", "leases"),
    [(["--lane", "docs", "--force"], A), (["--force"], A), (["--lane", "api", "--force"], GLOBAL)],
    ids=["free anyway", "no lane named", "force cannot override"],
)
def test_force_that_changes_nothing_writes_nothing(dos, workspace, state, words, leases):
    dos("arbitrate", *words, "--leases", leases)
    assert not state.exists()


@pytest.mark.parametrize(
    "budget", ["cluster", "=1", "cluster=x", "cluster=-1", "cluster=1.5", " =2", ""]
)
def test_a_budget_that_is_not_a_kind_and_a_number_is_an_error(dos, workspace, budget):
    answer = dos("arbitrate", f"--class-budget={budget}")
    assert answer.code == 2 and "KIND=N" in answer.err


def test_a_budget_of_zero_is_no_budget(dos, workspace):
    assert dos("arbitrate", "--class-budget", "cluster=0", "--leases", A).code == 0


@pytest.mark.parametrize(
    "leases", ["notjson", "{}", "", "[7]", '[{"lane": ""}]', "[" * 5000, '[{"tree": ["a"]}]']
)
def test_leases_that_cannot_be_read_are_never_an_empty_world(dos, workspace, leases):
    answer = dos("arbitrate", "--leases", leases)
    assert answer.code == 2 and "live leases" in answer.err


def test_plain_output_is_a_sentence_and_explain_says_go_or_stop(dos, workspace):
    go = dos("arbitrate", "--lane", "api", "--output", "plain", "--explain")
    assert (
        go.code == 0
        and go.out.startswith("You can start")
        and go.out.splitlines()[1].startswith("GO")
    )
    stop = dos(
        "arbitrate", "--lane", "api", "--exact", "--leases", A, "--output", "plain", "--explain"
    )
    assert (
        stop.code == 1
        and stop.out.startswith("Wait")
        and stop.out.splitlines()[1].startswith("STOP")
    )
    assert dos("arbitrate", "--explain").json["interpretation"].startswith("GO")


@pytest.mark.parametrize(
    "flags", [(), ("--json",), ("--output", "json"), ("--output", "text"), ("--pretty",)]
)
def test_text_and_json_are_both_json(dos, workspace, flags):
    answer = dos("arbitrate", *flags)
    assert answer.json["lane"] == "api"
    assert (answer.out.count("\n") > 1) == ("--pretty" in flags)


@pytest.mark.parametrize(
    "words", [("arbitrate",), ("lease-lane", "live"), ("journal", "seq"), ("scope-gate",)]
)
def test_an_output_that_nobody_knows_is_an_error_that_lists_the_known(dos, workspace, words):
    answer = dos(*words, "--output", "nosuch")
    assert answer.code == 2 and all(
        name in answer.err for name in ("nosuch", "text", "json", "plain")
    )


def test_a_workspace_that_is_the_referee_itself_protects_its_own_files(dos, workspace):
    (workspace / "src" / "dos").mkdir(parents=True)
    (workspace / "src" / "dos" / "arbiter.py").write_text("")
    answer = dos("arbitrate", "--lane", "global", "--leases", "[]")
    assert answer.code == 1 and answer.json["reason_class"] == "SELF_MODIFY"


# Scope


@pytest.mark.parametrize(
    ("words", "code", "verdict"),
    [
        ("--lane api --file api/a", 0, "IN_SCOPE"),
        ("--lane api --file api/a --file docs/b", 5, "SCOPE_CREEP"),
        ("--lane api --file docs/b", 6, "WRONG_TARGET"),
        ("--lane nosuch --file docs/b", 6, "WRONG_TARGET"),
        ("--file docs/b", 0, "IN_SCOPE"),
        ("--lane backend --file api/a", 0, "IN_SCOPE"),
        ("--lane api --file api/../worker/b", 6, "WRONG_TARGET"),
        ("--lane api --file ./api/a", 0, "IN_SCOPE"),
        ("--lane api --file ../api/a", 6, "WRONG_TARGET"),
        ("--lane api --file /etc/passwd", 6, "WRONG_TARGET"),
        ("--lane api --file worker/config.py", 6, "WRONG_TARGET"),
        ("--lane api --file api/a --file worker/config.py --allow-shared-infra", 0, "IN_SCOPE"),
        ("--lane api --file api/a --file docs/b --creep-tolerance 1", 0, "IN_SCOPE"),
    ],
)
def test_the_scope_gate(dos, workspace, state, words, code, verdict):
    answer = dos("scope-gate", *words.split(), "--json")
    assert (answer.code, answer.json["verdict"], answer.json["allowed"]) == (
        code,
        verdict,
        code == 0,
    )
    assert answer.json["scope"]["evidence"].keys() == {"lane", "touched_files", "lane_tree"}
    text = dos("scope-gate", *words.split())
    assert text.out.startswith("ALLOW: " if code == 0 else "REFUSE: ")
    assert not state.exists()


@pytest.mark.parametrize(
    "words",
    [
        "--lane api",
        "",
        "--lane api --base nosuch",
        "--lane api --head=-x",
        "--lane api --file a --creep-tolerance -1",
    ],
)
def test_a_scope_that_cannot_be_judged_is_refused(dos, workspace, words):
    assert dos("scope-gate", *words.split()).code == 2


def test_outside_of_git_only_named_files_can_be_judged(dos, workspace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dos("scope-gate", "--staged").code == 2
    assert dos("scope-gate", "--base", "HEAD~1").code == 2
    assert dos("scope-gate", "--file", "x").code == 0


def test_the_scope_gate_reads_the_index_and_the_history(dos, workspace):
    (workspace / "api" / "new.txt").write_text("n\n")
    (workspace / "docs" / "ö ü.txt").write_text("n\n")
    git("add", "api/new.txt", cwd=workspace)
    assert dos("scope-gate", "--lane", "api", "--staged").code == 0
    git("add", "docs", cwd=workspace)
    staged = dos("scope-gate", "--lane", "api", "--staged", "--json")
    assert staged.code == 5 and staged.json["refused_files"] == ["docs/ö ü.txt"]
    git("commit", "--quiet", "--message", "more", cwd=workspace)
    assert dos("scope-gate", "--lane", "api", "--base", "HEAD~1").code == 5
    assert dos("scope-gate", "--lane", "docs", "--base", "HEAD", "--head", "HEAD").code == 0


def test_a_file_name_that_is_not_text_is_still_judged(dos, workspace):
    (workspace / "docs").joinpath(b"\xff.txt".decode("utf-8", "surrogateescape")).write_text("x")
    git("add", "docs", cwd=workspace)
    assert dos("scope-gate", "--lane", "api", "--staged", "--json").code == 6


def test_lanes_start_where_the_configuration_is(dos, workspace, monkeypatch):
    inner = workspace / "inner"
    (inner / "api").mkdir(parents=True)
    (workspace / "dos.toml").rename(inner / "dos.toml")
    (inner / "api" / "b.txt").write_text("b\n")
    git("add", "inner/api", cwd=workspace)
    monkeypatch.chdir(inner)
    assert dos("scope-gate", "--lane", "api", "--staged", "--json").json["scope"][
        "in_scope_files"
    ] == ["api/b.txt"]
    assert dos("scope-gate", "--lane", "api", "--file", str(inner / "api" / "b.txt")).code == 0
    git("add", "api", "--all", cwd=workspace)
    (workspace / "api" / "c.txt").write_text("c\n")
    git("add", "api", cwd=workspace)
    assert dos("scope-gate", "--lane", "api", "--staged").code == 5
