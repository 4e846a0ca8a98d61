"""What each table holds when nothing is written, and what it refuses."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from dos.config.load import load, parse
from dos.config.schema import Config
from dos.config.show import list_settings
from dos.errors import ConfigInvalid
from dos.fleet.population.types import SupervisePolicy
from dos.fleet.worker.start_state import new_state
from dos.loop.types import LoopState

FILE = Path("dos.toml")


def config(text: str) -> Config:
    return parse(text, FILE).config


DEFAULTS = {
    "workspace": ".",
    "lanes.concurrent": ["main"],
    "lanes.exclusive": ["global"],
    "lanes.repeatable": [],
    "lanes.autopick": ["main"],
    "lanes.trees.main": ["**/*"],
    "lanes.trees.global": ["**/*"],
    "lanes.aliases": {},
    "lanes.agents": {},
    "paths.plans_glob": "docs/**/*-plan.md",
    "paths.execution_state": "dos.state.yaml",
    "paths.findings_queue": "dos.findings.md",
    "paths.fanout_runs": ".dos/runs",
    "paths.dispatch_loops": ".dos/runs",
    "paths.chained_runs": ".dos/runs",
    "paths.next_packets": ".dos/verdicts",
    "paths.replan_dir": ".dos/replan",
    "paths.soaks_index": ".dos/soaks/index.yaml",
    "paths.picker_audits": ".dos/picker_audits",
    "paths.archive_lock": ".dos/leases/.archive.lock",
    "paths.lane_journal": ".dos/lane-journal.jsonl",
    "paths.verdict_journal": ".dos/verdict-journal.jsonl",
    "paths.leases_dir": ".dos/leases",
    "paths.project_card": ".dos/project.json",
    "overlap.ratio_max": 0,
    "overlap.policy": "prefix",
    "concurrency_class": [],
    "supervise.target": 1,
    "supervise.count_spinning_as_alive": True,
    "supervise.reap_stalled": True,
    "supervise.spin_halt_after_ms": None,
    "supervise.spin_halt_after_minutes": None,
    "supervise.worker_launch_template": "/dos-dispatch-loop --lane {lane}",
    "supervise.max_concurrency": None,
    "supervise.restart_intensity": 3,
    "supervise.restart_period_seconds": 60,
    "supervise.restart_backoff_seconds": 1,
    "workers.isolation": "worktree",
    "workers.agent": "",
    "workers.fallback": [],
    "workers.command": [],
    "workers.pass_environment": [],
    "workers.git_config": [],
    "workers.home_files": [],
    "workers.setup": "",
    "workers.setup_seconds": 600,
    "workers.ports": 10,
    "workers.port_base": 21000,
    "workers.acceptance": "",
    "workers.test": "",
    "workers.baseline": "auto",
    "workers.landing": "merge",
    "workers.target_branch": "",
    "workers.remote": "",
    "workers.silence_seconds": 600,
    "workers.idle_seconds": None,
    "workers.wall_seconds": 3600,
    "workers.max_iterations": 10,
    "sandbox.level": "auto",
    "sandbox.reads": "listed",
    "sandbox.network": "ports",
    "sandbox.ports": [],
    "sandbox.sockets": "open",
    "sandbox.writable": [],
    "sandbox.readable": [],
    "sandbox.program": [],
    "agents": {},
    "quota.failover": True,
    "quota.backoff_seconds": [60, 270, 1200],
    "quota.jitter_seconds": 30,
    "quota.probe_seconds": 900,
    "budgets.iteration.usd": None,
    "budgets.iteration.tokens": None,
    "budgets.iteration.wall_minutes": None,
    "budgets.iteration.iterations": None,
    "budgets.run.usd": None,
    "budgets.run.tokens": None,
    "budgets.run.wall_minutes": None,
    "budgets.run.iterations": None,
    "budgets.lane.usd": None,
    "budgets.lane.tokens": None,
    "budgets.lane.wall_minutes": None,
    "budgets.lane.iterations": None,
    "budgets.day.usd": None,
    "budgets.day.tokens": None,
    "budgets.day.wall_minutes": None,
    "budgets.day.iterations": None,
    "budgets.warn_at": 0.8,
    "budgets.unknown_price": "allow",
    "prices": {},
    "loop.gate_mode": "hard",
    "loop.max_unclear": 3,
    "loop.max_dirty_zero": 3,
    "loop.max_overloaded": 3,
    "loop.max_stale_stamp": 3,
    "loop.max_unproductive_replan_drains": 2,
    "loop.max_unproductive_replan": 2,
    "loop.max_adopt_wait": 2,
    "loop.max_race": 2,
    "loop.max_wait": 3,
    "liveness.grace_minutes": 30,
    "liveness.spin_minutes": 15,
    "liveness.window_minutes": 30,
    "productivity.min_steps": 3,
    "productivity.floor": 500,
    "efficiency.min_tokens": 1000,
    "efficiency.floor": 0,
    "improve.max_consecutive_reverts": 3,
    "improve.efficiency_floor": 0,
    "improve.min_tokens_for_efficiency": 1000,
    "breaker.max_consecutive": 3,
    "breaker.max_total": 20,
    "breaker.on_trip": "none",
    "notify.notifier": "null",
    "notify.url": "",
    "notify.channel": "",
    "notify.command": [],
    "notify.timeout_seconds": 10.0,
    "server.off": False,
    "server.port": 0,
    "leases.ttl_seconds": 120,
    "leases.manual_ttl_minutes": 50,
    "store.url": "",
    "protect.globs": [],
    "retention.journal_max_entries": 5000,
    "retention.journal_max_age_days": 30,
    "retention.runs_keep_last": 200,
    "retention.verdicts_keep_last": 500,
    "retention.hook_events_keep": 20_000,
    "retention.audits_keep_last": 200,
    "retention.projections_compact": True,
    "data_class.trajectory_patterns": [
        ".dos/runs",
        ".dos/fanout_runs",
        ".dos/chained_runs",
        ".dos/dispatch_loops",
        ".dos/verdicts",
    ],
    "data_class.audit_patterns": [".dos/audits", ".dos/picker_audits", ".dos/**/*.verdict-*.json"],
    "data_class.baseline_patterns": [".dos/baselines"],
    "data_class.product_patterns": [],
    "data_class.default_class": "PRODUCT",
    "stamp.style": "grep",
    "stamp.subject_dirs": [],
    "stamp.summary_bundle_prefixes": [],
    "stamp.bookkeeping_prefixes": [],
    "stamp.code_dirs": [],
    "stamp.infra_basenames": [],
    "stamp.infra_doc_basenames": [],
    "stamp.progress_markers": [],
    "stamp.sub_phase_parent_fallback": False,
    "stamp.trailer_stamp": False,
    "plans.source": "documents",
    "plans.command": [],
    "plans.beads": ".beads",
    "plans.timeout_seconds": 60,
    "enumerate.heading_levels": [2, 3, 4, 5, 6],
    "enumerate.scan_tables": True,
    "enumerate.generic_numeric_table": False,
    "enumerate.bare_phase_fallback": True,
    "enumerate.rollup_parents": False,
    "enumerate.style": "generic",
    "cooldown.window_ms": None,
    "cooldown.window_hours": 6,
    "cooldown.error_window_ms": None,
    "cooldown.error_window_minutes": 30,
    "lifecycle.classes": ["active", "done"],
    "lifecycle.transitions": [
        {"from": "active", "to": "done", "trigger": "all_phases_shipped", "auto": True}
    ],
    "lifecycle.veto_class": "",
    "lifecycle.max_transitions_per_cycle": 5,
    "lifecycle.per_plan_cooldown_hours": 72,
    "reasons": {},
    "intervention": {},
    "tool_stream.repeat_n": 3,
    "tool_stream.stall_n": 5,
    "tool_stream.ignore_tools": [],
    "marker.max_streak": None,
    "marker.arm_on_env": ["DOS_LOOP", "CID_RUN_ID"],
    "marker.respect_stop_hook_active": True,
    "noop_streak.max_streak": 4,
    "precursor.requires": {},
    "precursor.aliases": {},
    "landing.require_red": False,
    "verify.require": "live",
    "verify.ci": "advise",
    "verify.non_git_oracle": "",
    "units": {},
    "ci.repo": "",
    "ci.required": [],
    "ci.command": [],
    "ci.file": "",
    "ci.timeout_seconds": 20,
    "evidence.places": [],
    "evidence.citations": "",
    "evidence.citation_command": [],
    "evidence.timeout_seconds": 20,
    "judges.command": [],
    "judges.timeout_seconds": 120,
    "enforcement.posture": "observe",
    "enforcement.ask_person": [],
    "enforcement.answer_seconds": 1800,
}


def test_without_a_file_every_key_has_its_default(tmp_path: Path) -> None:
    shown = {row.key: row.value for row in list_settings(load(tmp_path))}
    rules = shown.pop("morphology")
    assert msgspec.json.decode(msgspec.json.encode(shown)) == DEFAULTS
    assert [rule["substring"] for rule in rules] == [
        *(
            "FALSE_SHIPPED",
            "FALSE_SHIP",
            "STALE_STAMP",
            "STAMP_DRIFT",
            "STAMPING_DRIFT",
            "OPERATOR",
            "SOAK",
        ),
        *(
            "INFLIGHT",
            "IN_FLIGHT",
            "LEASE_HELD",
            "GATE",
            "GATED",
            "DRAINED",
            "DRAIN",
            "NO_DISPATCHABLE",
        ),
        *(
            "MISROUTE",
            "MISROUTED",
            "MIS_ROUTE",
            "MIS_ROUTED",
        ),  # rules match whole words, so each form is one
    ]


REFUSED = [
    ("[supervise]\ntarget = -1", 2, "supervise.target"),
    ("[supervise]\ntarget = true", 2, "supervise.target"),
    ("[supervise]\ntarget = 1.5", 2, "supervise.target"),
    ("[supervise]\ntarget = '3'", 2, "supervise.target"),
    ("[supervise]\nreap_stalled = 1", 2, "supervise.reap_stalled"),
    ("[supervise]\ncount_spinning_as_alive = 'yes'", 2, "supervise.count_spinning_as_alive"),
    ("[supervise]\nmax_concurrency = 0", 2, "supervise.max_concurrency"),
    ("[supervise]\nmax_concurrency = true", 2, "supervise.max_concurrency"),
    ("[supervise]\nspin_halt_after_ms = -1", 2, "supervise.spin_halt_after_ms"),
    ("[supervise]\nspin_halt_after_ms = 1\nspin_halt_after_minutes = 1", 3, "twice"),
    ("[supervise]\nworker_launch_template = 'run'", 2, "{lane}"),
    ("[overlap]\nratio_max = -0.1", 2, "overlap.ratio_max"),
    ("[overlap]\nratio_max = 1.1", 2, "overlap.ratio_max"),
    ("[overlap]\nratio_max = nan", 2, "overlap.ratio_max"),
    ("[overlap]\nratio_max = inf", 2, "overlap.ratio_max"),
    ("[overlap]\npolicy = ''", 2, "overlap.policy"),
    ("[overlap]\npolicy = 'jaccard'", 2, '"prefix"'),
    ("[overlap]\npolicy = 'Prefix'", 2, '"prefix"'),
    ("[verify]\nnon_git_oracle = 'ci-status'", 2, '"ci_status"'),
    ("[verify]\nnon_git_oracle = 'my_plugin'", 2, '"ci_status"'),
    ("[[concurrency_class]]\nname = 'a'", 1, "max_concurrent"),
    ("[[concurrency_class]]\nmax_concurrent = 1", 1, "name"),
    (
        "[[concurrency_class]]\nname = 'a'\nmax_concurrent = -1",
        3,
        "concurrency_class[0].max_concurrent",
    ),
    (
        "[[concurrency_class]]\nname = 'a'\nmax_concurrent = true",
        3,
        "concurrency_class[0].max_concurrent",
    ),
    ("[concurrency_class]\nname = 'a'", 1, "list of tables"),
    ("[retention]\nruns_keep_last = -2", 2, "retention.runs_keep_last"),
    ("[retention]\nruns_keep_last = 'all'", 2, '"none"'),
    ("[retention]\nruns_keep_last = true", 2, "retention.runs_keep_last"),
    ("[retention]\njournal_max_age_days = -0.5", 2, "below 0"),
    ("[data_class]\ndefault_class = 'product'", 2, '"PRODUCT"'),
    ("[data_class]\ntrajectory_patterns = 3", 2, "list of strings"),
    ("[stamp]\ncode_dirs = 'src'", 2, "list of strings"),
    ("[stamp]\ntrailer_stamp = 'true'", 2, "true or false"),
    ("[enumerate]\nheading_levels = [0]", 2, "enumerate.heading_levels[0]"),
    ("[enumerate]\nheading_levels = [2, 7]", 2, "enumerate.heading_levels[1]"),
    ("[plans]\nsource = 'jira'", 2, '"beads"'),
    ("[plans]\nsource = 'command'", 2, "no command"),
    ("[plans]\ncommand = ['']", 2, "no program"),
    ("[plans]\ncommand = 'list-units'", 2, '["list-units"]'),
    ("[plans]\ncommand = 'list units'", 2, '["list", "units"]'),
    ('[plans]\ncommand = "list \'units"', 2, '["list \'units"]'),
    ("[sandbox]\nprogram = 'bwrap --bind / /'", 2, '["bwrap", "--bind", "/", "/"]'),
    ("[sandbox]\nprogram = ['./bwrap']", 2, "'./bwrap' is not an absolute path"),
    ("[sandbox]\nprogram = ['~/bin/bwrap']", 2, "Begin it with /, or name a program on the path"),
    ("[sandbox]\nwritable = '~/a b'", 2, '["~/a b"]'),
    ("[sandbox]\nports = 5432", 2, "a list of whole numbers from 1 to 65535, not the number 5432"),
    ("[sandbox]\nports = 5432", 2, "Write it as a list: [5432]."),
    ("[sandbox]\nports = '5432'", 2, "Correct the value."),
    ("[quota]\nbackoff_seconds = 60", 2, "Write it as a list: [60]."),
    ("[plans]\nbeads = ' '", 2, "plans.beads"),
    ("[plans]\ntimeout_seconds = 0", 2, "plans.timeout_seconds"),
    ("[ci]\nrepo = 'name'", 2, "owner/name"),
    ("[ci]\nrepo = 'a/b/c/d'", 2, "ci.repo"),
    ("[ci]\nrequired = ['']", 2, "ci.required"),
    ("[ci]\ncommand = ['']", 2, "no program"),
    ("[ci]\ncommand = ['x']\nfile = 'y'", 3, "one of"),
    ("[ci]\nrequires = ['x']", 2, "required"),
    ("[evidence]\nplaces = ['deploys']", 2, "/var/lib/deploys"),
    ("[evidence]\nplaces = ['/']", 2, "evidence.places"),
    ("[evidence]\ncitations = 'a'\ncitation_command = ['b']", 3, "one of"),
    ("[judges]\ncommand = 'ask'", 2, '["ask"]'),
    ("[cooldown]\nwindow_hours = -1", 2, "cooldown.window_hours"),
    ("[cooldown]\nwindow_hours = true", 2, "cooldown.window_hours"),
    ("[cooldown]\nerror_window_ms = 2020-01-01", 2, "date"),
    ("[lifecycle]\nclasses = []", 2, "empty"),
    ("[lifecycle]\nclasses = ['a', 'a']", 2, "twice"),
    ("[lifecycle]\nveto_class = 'x'", 2, "lifecycle.veto_class"),
    (
        "[lifecycle]\ntransitions = [{from='x', to='done', trigger='t'}]",
        2,
        "lifecycle.transitions[0].from",
    ),
    ("[lifecycle]\ntransitions = [{from='active', to='done'}]", 2, "`trigger`"),
    ("[reasons.X]\nsummary = 'no category'", 1, "`category`"),
    ("[reasons.X]\ncategory = 'OTHER'", 2, "reasons.X.category"),
    ("[reasons]\nX = 3", 2, "reasons.X must be a table"),
    ("[reasons.self_modify]\ncategory = 'MISROUTE'", 1, "built in"),
    (
        "[reasons.AB]\ncategory = 'MISROUTE'\n[reasons.ab]\ncategory = 'MISROUTE'",
        3,
        "differ only by case",
    ),
    ("[[reasons.morphology]]\nsubstring = ''\ncategory = 'MISROUTE'", 2, "morphology[0].substring"),
    ("[[reasons.morphology]]\nsubstring = 'A'\ncategory = 'X'", 3, "morphology[0].category"),
    ("[intervention.NUDGE]\nsummary = 'no rank'", 1, "`rank`"),
    ("[intervention.NUDGE]\nrank = 10", 2, "taken by WARN"),
    ("[intervention.BLOCK]\nrank = 11", 1, "built in"),
    ("[intervention.A]\nrank = 5\n[intervention.B]\nrank = 5", 4, "taken by A"),
    ("[intervention.A]\nrank = 5\nreturns_synthetic = true", 3, "synthetic"),
    ("[tool_stream]\nrepeat_n = 0", 2, "tool_stream.repeat_n"),
    ("[tool_stream]\nrepeat_n = 6", 1, "stall_n"),
    ("[marker]\nmax_streak = -1", 2, "marker.max_streak"),
    ("[marker]\narm_on_env = 3", 2, "list of strings"),
    ("[noop_streak]\nmax_streak = -1", 2, "noop_streak.max_streak"),
    ("[productivity]\nfloor = -1", 2, "productivity.floor"),
    ("[productivity]\nmin_steps = true", 2, "productivity.min_steps"),
    ("[efficiency]\nfloor = nan", 2, "efficiency.floor"),
    ("[efficiency]\nfloor = -0.5", 2, "efficiency.floor"),
    ("[efficiency]\nmin_tokens = 1.5", 2, "efficiency.min_tokens"),
    ("[improve]\nmax_consecutive_reverts = 0", 2, "improve.max_consecutive_reverts"),
    ("[improve]\nefficiency_floor = inf", 2, "improve.efficiency_floor"),
    ("[breaker]\nmax_consecutive = 0\nmax_total = 0", 2, "never trips"),
    ("[breaker]\non_trip = 'HUMAN'", 2, '"human"'),
    ("[precursor.requires]\nwrite = 'read'", 2, "list of strings"),
    ("[verify]\nrequire = 'alive'", 2, '"live"'),
    ("[verify]\nci = 'block'", 2, '"require"'),
    ("[liveness]\ngrace_minutes = -1", 2, "liveness.grace_minutes"),
    ("[enforcement]\nposture = 'warn'", 2, '"observe"'),
    ("[store]\nurl = 'mysql://h/d'", 2, "store.url"),
    ("[store]\nurl = 'sqlite:'", 2, "store.url"),
    ("[leases]\nttl_seconds = 0", 2, "leases.ttl_seconds"),
    ("[leases]\nmanual_ttl_minutes = 0", 2, "above 0"),
    ("[workers]\nisolation = 'container'", 2, "workers.isolation"),
    ("[workers]\nlanding = 'squash'", 2, "workers.landing"),
    ("[workers]\ncommand = 'make work'", 2, '["make", "work"]'),
    ("[workers]\ncommand = ['']", 2, "no program"),
    ("[workers]\nagent = 'command'", 2, "no command"),
    ('[workers]\nsetup = "a\\u0000b"', 2, "NUL"),
    ("[workers]\nsilence_seconds = 0", 2, "workers.silence_seconds"),
    ("[workers]\nmax_iterations = 0", 2, "workers.max_iterations"),
    ('[sandbox]\nlevel = "on"', 2, "sandbox.level"),
    ('[sandbox]\nwritable = ["cache"]', 2, "sandbox.writable[0]"),
    ('[sandbox]\nprogram = [" ", "x"]', 2, "sandbox.program[0]"),
    ("[sandbox]\nports = [0]", 2, "sandbox.ports[0]"),
    ("[workers]\nwall_seconds = 1e300", 2, "workers.wall_seconds"),
    ("[protect]\nglobs = ['ok/**', '/etc']", 2, "protect.globs[1]"),
    ("[paths]\nplans_glob = ''", 2, "paths.plans_glob"),
    ("[paths]\nplans_glob = 3", 2, "paths.plans_glob"),
    ("[lanes]\nconcurrent = 'api'", 2, "lanes.concurrent"),
    ("[lanes]\nconcurrent = ['api', 'API']", 2, "differ only by case"),
    ("[lanes]\nconcurrent = ['api']\n[lanes.trees]\nApi = ['a/**']", 4, "differ only by case"),
    ("[lanes]\nconcurrent = ['']", 2, "empty"),
    ("[lanes]\nconcurrent = [' api']", 2, "spaces around"),
    ("[lanes]\nexclusive = ['" + "x" * 101 + "']", 2, "101 characters"),
    ('[lanes]\nautopick = ["a\\u2028b"]', 2, "U+2028"),
    ('[lanes]\nautopick = ["a\\nb"]', 2, "U+000A"),
    ("[lanes.trees]\napi = ['src/**',\n  '/etc/**']", 3, "absolute"),
    ("[lanes.trees]\napi = ['../x']", 2, "lanes.trees.api[0]"),
    ("[lanes.trees]\napi = 'src/**'", 2, '["src/**"]'),
    ("[lanes.aliases]\nui = ''", 2, "no lane"),
    ("[lanes.aliases]\nui = 'a'\nUI = 'b'", 3, "differ only by case"),
    ("[lanes.aliases]\nui = 3", 2, "lanes.aliases.ui"),
]


@pytest.mark.parametrize(("text", "line", "said"), REFUSED)
def test_a_bad_value_is_one_error_with_its_line_and_a_hint(text: str, line: int, said: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        config(text)
    assert caught.value.message.startswith(f"dos.toml:{line}: ")
    assert said in caught.value.message + caught.value.hint
    assert caught.value.hint


ACCEPTED = [
    ("[supervise]\ntarget = 0", lambda c: c.supervise.target, 0),
    ("[supervise]\nspin_halt_after_ms = 0", lambda c: c.supervise.spin_halt_after, timedelta()),
    (
        "[supervise]\nspin_halt_after_ms = 1.9",
        lambda c: c.supervise.spin_halt_after,
        timedelta(milliseconds=1),
    ),
    (
        "[supervise]\nspin_halt_after_minutes = 0.5",
        lambda c: c.supervise.spin_halt_after,
        timedelta(seconds=30),
    ),
    ("", lambda c: c.supervise.spin_halt_after, None),
    ("[overlap]\nratio_max = 0.2", lambda c: c.overlap.tolerance, 0.2),
    ("[overlap]\nratio_max = 0.9", lambda c: c.overlap.tolerance, 1 / 3),
    ("", lambda c: c.overlap.tolerance, 0),
    ("[retention]\nruns_keep_last = 'none'", lambda c: c.retention.limit("runs_keep_last"), None),
    ("[retention]\nruns_keep_last = -1", lambda c: c.retention.limit("runs_keep_last"), None),
    ("[retention]\nruns_keep_last = 0", lambda c: c.retention.limit("runs_keep_last"), 0),
    (
        "[retention]\njournal_max_age_days = -1",
        lambda c: c.retention.limit("journal_max_age_days"),
        None,
    ),
    (
        "[retention]\njournal_max_age_days = 0.5",
        lambda c: c.retention.limit("journal_max_age_days"),
        0.5,
    ),
    ("", lambda c: c.cooldown.window, timedelta(hours=6)),
    ("", lambda c: c.cooldown.error_window, timedelta(minutes=30)),
    ("[cooldown]\nwindow_hours = 0.5", lambda c: c.cooldown.window, timedelta(minutes=30)),
    ("[cooldown]\nwindow_ms = 1500", lambda c: c.cooldown.window, timedelta(milliseconds=1500)),
    (
        "[cooldown]\nwindow_ms = 5\nwindow_hours = 2",
        lambda c: c.cooldown.window,
        timedelta(milliseconds=5),
    ),
    ("[cooldown]\nerror_window_ms = 0", lambda c: c.cooldown.error_window, timedelta()),
    ("[stamp]\nsubject_dirs = 'docs'", lambda c: c.stamp.subject_dirs, ("docs",)),
    ("[data_class]\naudit_patterns = 'logs'", lambda c: c.data_class.audit_patterns, ("logs",)),
    ("[marker]\narm_on_env = 'LOOP'", lambda c: c.marker.arm_on_env, ("LOOP",)),
    (
        "[reasons.X]\ncategory='MISROUTE'\nsee_also='lane a'",
        lambda c: c.reasons["X"].see_also,
        ("lane a",),
    ),
    ("[intervention.X]\nrank=5\nsee_also='y'", lambda c: c.intervention["X"].see_also, ("y",)),
    ("[reasons]\nmorphology = []", lambda c: c.morphology, ()),
    (
        "[[morphology]]\nsubstring='A'\ncategory='MISROUTE'",
        lambda c: [r.substring for r in c.morphology],
        ["A"],
    ),
    (
        "[reasons]\nmorphology = [['A', 'MISROUTE']]",
        lambda c: [r.substring for r in c.morphology],
        ["A"],
    ),
    (
        "[reasons.morphology]\nA = 'MISROUTE'",
        lambda c: [r.category for r in c.morphology],
        ["MISROUTE"],
    ),
    (
        "[reasons.X]\ncategory='MISROUTE'\n[[reasons.morphology]]\nsubstring='A'\ncategory='MISROUTE'",
        lambda c: list(c.reasons),
        ["X"],
    ),
    ("[lifecycle]\nclasses = ['draft']", lambda c: c.lifecycle.transitions, ()),
    ("[store]\nurl = 'sqlite:/var/x.db'", lambda c: c.store.url, "sqlite:/var/x.db"),
    ("[store]\nurl = 'postgresql://u@h/d'", lambda c: c.store.url, "postgresql://u@h/d"),
    ("[workers]\nagent = 'command'\ncommand = ['x']", lambda c: c.workers.command, ("x",)),
    ("[workers]\nagent = 'claude_code'", lambda c: c.workers.agent, "claude_code"),
    ("[workers]\nsilence_seconds = 90", lambda c: c.workers.silence, timedelta(seconds=90)),
    ("[leases]\nttl_seconds = 3", lambda c: c.leases.ttl, timedelta(seconds=3)),
    ("[leases]", lambda c: c.leases.manual_ttl, timedelta(minutes=50)),
    ("[liveness]\nwindow_minutes = 5", lambda c: c.liveness.window_ms, 300_000),
    ("[ci]\nrepo = 'a/b'\nrequired = ['t']", lambda c: (c.ci.repo, c.ci.required), ("a/b", ("t",))),
    ("[ci]\nrepo = 'git.example.com/a/b'", lambda c: c.ci.repo, "git.example.com/a/b"),
    (
        "[evidence]\nplaces = ['/var/lib/deploys']",
        lambda c: c.evidence.places,
        ("/var/lib/deploys",),
    ),
    ("[judges]\ncommand = ['ask', '-']", lambda c: c.judges.command, ("ask", "-")),
    (
        "[precursor.requires]\nwrite = ['read']",
        lambda c: c.precursor.requires,
        {"write": ("read",)},
    ),
    ("[lanes]", lambda c: c.lanes.concurrent, ("main",)),
    ("[lanes]\nconcurrent = ['api']", lambda c: (c.lanes.exclusive, c.lanes.trees), ((), {})),
]


@pytest.mark.parametrize(("text", "read", "value"), ACCEPTED)
def test_a_good_value_is_read(text: str, read: object, value: object) -> None:
    assert callable(read)
    assert read(config(text)) == value


def test_of_two_caps_for_one_kind_the_last_wins_and_zero_is_no_cap() -> None:
    entries = [("a", 1), ("b", 2), ("a", 3), ("c", 0)]
    text = "\n".join(
        f"[[concurrency_class]]\nname = '{name}'\nmax_concurrent = {cap}" for name, cap in entries
    )
    assert config(text).class_budgets() == {"a": 3, "b": 2}


LANES = """
[lanes]
concurrent = ["Api", "docs", "api-2"]
exclusive = ["infra", "docs"]
autopick = ["Api", "ghost"]
[lanes.trees]
Api = ["src/api/**"]
docs = ["docs/**"]
spare = ["spare/**"]
[lanes.aliases]
svc = "API"
lost = "nowhere"
docs = "Api"
"""


@pytest.mark.parametrize(
    ("name", "lane"),
    [
        ("Api", "Api"),
        ("API", "Api"),
        (" api ", "Api"),
        ("svc", "Api"),
        ("SVC", "Api"),
        ("docs", "docs"),  # a lane before an alias of the same name
        ("ghost", "ghost"),
        ("spare", "spare"),
        ("lost", None),
        ("nobody", None),
        ("", None),
    ],
)
def test_a_name_in_any_case_or_an_alias_leads_to_the_declared_lane(
    name: str, lane: str | None
) -> None:
    assert config(LANES).canonical_lane(name) == lane


def test_the_roster_is_concurrent_then_exclusive_each_once() -> None:
    assert config(LANES).roster() == ["Api", "docs", "api-2", "infra"]


def test_known_lanes_are_all_that_lead_somewhere() -> None:
    assert config(LANES).known_lanes() == ["Api", "api-2", "docs", "ghost", "infra", "spare", "svc"]


@pytest.mark.parametrize(
    ("name", "alone"), [("infra", True), ("INFRA", True), ("Api", False), ("nobody", False)]
)
def test_only_a_lane_listed_as_exclusive_runs_alone(name: str, alone: bool) -> None:
    assert config(LANES).is_exclusive(name) is alone


def test_a_lane_has_its_region_an_unknown_one_without_a_tree_and_none_when_nobody_declared_it() -> (
    None
):
    lanes = config(LANES)
    api, infra = lanes.lane_region("svc"), lanes.lane_region("infra")
    assert api is not None
    assert api.is_known
    assert api.prefixes == ("src/api/",)
    assert infra is not None
    assert not infra.is_known
    assert lanes.lane_region("nobody") is None


AGENTS = """[lanes]
concurrent = ["api", "web"]
[lanes.trees]
api = ["api/**"]
web = ["web/**"]
[lanes.aliases]
backend = "api"
[workers]
agent = "claude_code"
fallback = ["codex"]
[lanes.agents]
"""


@pytest.mark.parametrize(
    ("lane", "unit_agent", "asked"),
    [
        ("api", "", ("gemini", "codex")),
        ("API", "", ("gemini", "codex")),
        ("web", "", ("claude_code", "codex")),
        ("api", "opencode", ("opencode", "codex")),
        ("web", "codex", ("codex",)),
    ],
)
def test_the_agent_of_a_unit_comes_before_that_of_its_lane_and_that_before_the_usual_one(
    lane, unit_agent, asked
):
    assert config(AGENTS + 'backend = "gemini"\n').agent_names(lane, unit_agent) == asked


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('apy = "codex"', "dos.toml:12: lanes.agents.apy: there is no lane 'apy' to give an agent"),
        (
            'api = " codex"',
            "dos.toml:12: lanes.agents.api: the agent name ' codex' has spaces around it",
        ),
        ('api = ""', "dos.toml:12: "),
        ("api = 3", "dos.toml:12: "),
        (
            'api = "codex"\nAPI = "gemini"',
            "dos.toml:13: lanes.agents.API: the lane names 'api' and 'API' differ only by case",
        ),
    ],
)
def test_a_lane_that_is_given_no_agent_is_an_error_that_says_where(written, said):
    with pytest.raises(ConfigInvalid) as refused:
        config(AGENTS + written)
    assert str(refused.value).startswith(said)
    if "apy" in written:
        assert "did you mean 'api'?" in str(refused.value.hint)


def test_the_defaults_of_a_table_are_those_of_the_public_record_that_it_becomes():
    assert new_state(Config()) == LoopState()
    assert Config().supervise.policy() == SupervisePolicy()
