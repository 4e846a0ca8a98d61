"""Every name of dos-kernel is there, or the page on compatibility says that it is ignored, refused
or left out; and what the page says of it is so."""

import re
from pathlib import Path

import pytest
from settings_readers import leaves

from dos.agenthooks.wiring import HOSTS
from dos.config.lint import is_unread
from dos.config.load import parse
from dos.mcp.catalog import TOOLS
from dos.skills.io import packaged
from dos.verbs.listing.table import VERBS

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs" / "compatibility.md").read_text()
SOURCE = "\n".join(path.read_text() for path in sorted((HOUSE / "src" / "dos").rglob("*.py")))

VARIABLES = """
DISPATCH_WORKSPACE DISPATCH_HOME DISPATCH_LANE_JOURNAL_PATH JOB_LANE_JOURNAL_PATH
DISPATCH_LANE_LEASE_LOCK_PATH DISPATCH_VERDICT_JOURNAL_PATH DISPATCH_EXPORT_CURSOR_PATH
DISPATCH_ARCHIVE_LOCK_PATH DISPATCH_ID_ALLOC_DIR DISPATCH_STATE_PATH JOB_FANOUT_STATE_PATH
DISPATCH_NEXT_UP_DIR DISPATCH_HOST_ID DISPATCH_STAMP_CONVENTION DISPATCH_RUN_ID DISPATCH_LOOP_TS
DISPATCH_OBSERVE CID_RUN_ID CID_PARENT_ID CID_ROOT_ID CID_PROCESS_ID DOS_LOOP DOS_HOOK_NATIVE
DOS_HOOK_POSTURE NO_COLOR DOS_COLOR DOS_ATTEST_KEY DOS_LLM_JUDGE_CMD DOS_SIMILARITY_CMD
DOS_SIMILARITY_THRESHOLD SLACK_BOT_TOKEN DOS_WEBHOOK_URL DOS_WEBHOOK_TOKEN DOS_EXPORT_FILE
DOS_STATSD_HOST DOS_STATSD_PORT DOS_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_ENDPOINT
DOS_MCP_TOOL_DEADLINE_MS
"""
SETTINGS = """
workspace lanes.concurrent lanes.exclusive lanes.autopick lanes.trees lanes.aliases
paths.plans_glob paths.execution_state paths.findings_queue paths.fanout_runs paths.dispatch_loops
paths.chained_runs paths.next_packets paths.replan_dir paths.soaks_index paths.picker_audits
paths.archive_lock paths.lane_journal paths.leases_dir paths.project_card paths.verdict_journal
overlap.ratio_max overlap.policy concurrency_class.name concurrency_class.max_concurrent
supervise.target supervise.count_spinning_as_alive supervise.reap_stalled
supervise.spin_halt_after_ms supervise.spin_halt_after_minutes supervise.worker_launch_template
supervise.max_concurrency retention.journal_max_entries retention.journal_max_age_days
retention.runs_keep_last retention.verdicts_keep_last retention.audits_keep_last
retention.projections_compact data_class.trajectory_patterns data_class.audit_patterns
data_class.baseline_patterns data_class.product_patterns data_class.default_class stamp.style
stamp.subject_dirs stamp.summary_bundle_prefixes stamp.bookkeeping_prefixes stamp.code_dirs
stamp.infra_basenames stamp.infra_doc_basenames stamp.progress_markers
stamp.sub_phase_parent_fallback stamp.trailer_stamp enumerate.heading_levels enumerate.scan_tables
enumerate.bare_phase_fallback enumerate.generic_numeric_table enumerate.rollup_parents
enumerate.style cooldown.window_ms cooldown.window_hours cooldown.error_window_ms
cooldown.error_window_minutes lifecycle.classes lifecycle.transitions lifecycle.veto_class
lifecycle.max_transitions_per_cycle lifecycle.per_plan_cooldown_hours reasons.category
reasons.refusal reasons.fix reasons.summary reasons.see_also intervention.rank intervention.summary
intervention.actuation intervention.dispatches intervention.returns_synthetic intervention.see_also
tool_stream.repeat_n tool_stream.stall_n tool_stream.ignore_tools marker.max_streak
marker.arm_on_env marker.respect_stop_hook_active noop_streak.max_streak precursor.requires
precursor.aliases verify.non_git_oracle ci.repo enforcement.posture
"""
GROUPS = """
predicates overlap_policies judges stop_policies enforce_handlers evidence_sources log_sources
scope_sources plan_sources renderers hook_dialects hook_installs notifiers exporters mcp_tools
memory_stores
"""
TOOLS_OF_DOS_KERNEL = """
dos_verify dos_commit_audit dos_arbitrate dos_refuse_reasons dos_check_reason dos_recall dos_doctor
dos_status dos_review dos_citation_resolve dos_answer
"""
SKILLS = """
next-up dispatch dispatch-loop supervise-loop replan replan-loop promote unstick class-cycle
goal-gate witness-claim self-improve goal-fleet plan-price enforce-tune skillify
"""
PROGRAMS = ["claude-code", "codex", "gemini", "cursor", "antigravity", "hermes"]
LATER_VERBS = [
    "hosts",
    "start-here",
    "census",
    "apply",
    "review",
    "beat",
    "pulse",
    "witness",
    "completion",
]


def table(heading: str) -> str:
    """The rows of a section."""
    text = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return "\n".join(line for line in text.splitlines() if line.startswith("| "))


IGNORED = table("Ignored")
NOT_THERE = IGNORED + table("Refused") + table("Left out")


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


IGNORED_NAMES = [name for row in IGNORED.splitlines()[1:] for name in names(row.split(" | ")[0])]
IGNORED_VARIABLES = [name[1:] for name in IGNORED_NAMES if name.startswith("$")]
IGNORED_SETTINGS = [name for name in IGNORED_NAMES if re.fullmatch(r"[a-z_.]+", name)]


def test_the_page_has_its_lists():
    assert len(IGNORED_VARIABLES) > 10 and len(IGNORED_SETTINGS) > 15
    assert len(table("Refused").splitlines()) > 10


@pytest.mark.parametrize("name", VARIABLES.split())
def test_a_variable_is_read_or_said_to_be_ignored(name):
    is_read = f'"{name}"' in SOURCE
    assert is_read != (name in IGNORED_VARIABLES), "say so on the page, or take it out of it"


def test_a_setting_is_known_and_the_page_has_all_that_are_ignored():
    known = [".".join(path) + "." for path, _, _ in leaves()]
    assert [
        key for key in SETTINGS.split() if not any(leaf.startswith(f"{key}.") for leaf in known)
    ] == []
    for key in SETTINGS.split():
        listed = key in IGNORED_SETTINGS or key.partition(".")[0] in IGNORED_SETTINGS
        assert listed == (key == "stamp.style" or is_noted(key)), key


def is_noted(key: str) -> bool:
    return is_unread(tuple(key.split(".")))


def written(key: str) -> str:
    """A dos.toml with the key, as dos-kernel has it."""
    head, _, name = key.rpartition(".")
    value = "true" if name == "projections_compact" else '"x"'
    if name.endswith("keep_last"):
        value = "5"
    if key == "data_class":
        return '[data_class]\nproduct_patterns = ["src"]\n'
    return f"[{head}]\n{name} = {value}\n" if head else f"{name} = {value}\n"


def test_what_is_ignored_is_noted_and_stops_nothing(dos, workspace):
    kept = (workspace / "dos.toml").read_text()
    for key in IGNORED_SETTINGS:
        text = written(key)
        config = f"{text}\n{kept}"
        assert not parse(config, Path("dos.toml")).problems, key
        (workspace / "dos.toml").write_text(config)
        linted = dos("lint", "--json")
        kinds = [row["kind"] for row in linted.json["findings"]]
        assert (linted.code, kinds) == (0, [] if key == "stamp.style" else ["LAYOUT_UNUSED"]), key
    assert dos("arbitrate", "--lane", "api").code == 0


@pytest.mark.parametrize("name", GROUPS.split())
def test_a_group_of_plugins_is_read_or_left_out(name):
    is_read = f'"dos.{name}"' in SOURCE
    is_left_out = f"`dos.{name}`" in NOT_THERE
    assert is_read != is_left_out


def test_tools_skills_programs_and_later_verbs_are_there_or_left_out():
    missing = [
        *(name for name in TOOLS_OF_DOS_KERNEL.split() if name.removeprefix("dos_") not in TOOLS),
        *(f"dos-{name}" for name in SKILLS.split() if f"dos-{name}" not in packaged.names()),
        *(f"init --hooks {name}" for name in PROGRAMS if name not in HOSTS),
        *(f"dos {name}" for name in LATER_VERBS if name not in VERBS),
    ]
    assert [name for name in missing if f"`{name}`" not in NOT_THERE] == []
    there = [name for name in TOOLS_OF_DOS_KERNEL.split() if name not in missing]
    assert [name for name in there if f"`{name}`" in NOT_THERE and "mode" not in name] == [
        "dos_arbitrate"  # two arguments of it
    ]


# A row of what is refused, with a dos.toml or the words of a call.
REFUSED = [
    ("an unknown table or key of dos.toml", "[lane]\nx = 1\n", ()),
    ("an unknown table or key of dos.toml", "[lanes]\nconcurent = []\n", ()),
    ("an unknown table or key of dos.toml", "[supervise]\ntarget = 'two'\n", ()),
    ("an unknown table or key of dos.toml", "[lanes\n", ()),
    ("`overlap.policy` other than `prefix`", "[overlap]\npolicy = 'jaccard'\n", ()),
    ("`verify.non_git_oracle` other than", "[verify]\nnon_git_oracle = 'mine'\n", ()),
    ("`--driver`, `--job`", "", ("--driver", "job", "loop")),
    ("`--driver`, `--job`", "", ("loop", "--job")),
    ("`init --example`", "", ("init", "--example", "job")),
    ("`init --hooks hermes`", "", ("init", "--hooks", "hermes")),
    ("`loop --enact`", "", ("loop", "--enact")),
    ("`loop --worker-launch-template`", "", ("loop", "--worker-launch-template", "x {lane}")),
    ("`plan --source` of a plugin", "", ("plan", "--source", "mine")),
    ("`notify decisions --token`", "", ("notify", "decisions", "--token", "x")),
    ("`notify top --token`", "", ("notify", "top", "--token", "x")),
    ("`--output` of a plugin", "", ("loop", "--output", "fancy")),
]


@pytest.mark.parametrize(("row", "config", "words"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_is_refused_exits_2_and_names_what_is_known(dos, workspace, row, config, words):
    assert row in table("Refused")
    if config:
        (workspace / "dos.toml").write_text(config)
    answer = dos(*(words or ("arbitrate",)))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ") and "  hint: " in answer.err


def test_without_them_the_same_calls_answer(dos):
    assert dos("loop").code == dos("plan", "--source", "markdown").code == 0
    assert (
        dos("notify", "decisions").code == dos("init", "--hooks", "cursor", "--dry-run").code == 0
    )
