"""The doctor's report as JSON and as text: facts of the workspace, and what is wrong.

The JSON has the keys that skills of dos-kernel read, and the findings beside them. The text has
three groups of facts, then what `--fix` repaired, then the findings, each with a command to type.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from dos.config.lint import Severity
from dos.config.schema import Config
from dos.doctor.facts import Facts, Verifiability
from dos.doctor.subjects.finding import Finding, first_of_each_kind, label_of_command
from dos.doctor.subjects.machine import format_bytes
from dos.lanes.policy import OVERLAP_POLICIES, Lanes
from dos.text import join_some, last_output_lines, plural

# The mark before each finding, by its severity. Some terminals can show ASCII only.
MARKS = {Severity.ERROR: "✗", Severity.WARN: "!", Severity.INFO: "i"}
ASCII_MARKS = {Severity.ERROR: "x", Severity.WARN: "!", Severity.INFO: "i"}
COLOURS = {Severity.ERROR: "\x1b[31m", Severity.WARN: "\x1b[33m", Severity.INFO: "\x1b[2m"}

# The exit codes of each verb, by verb and by name.
Exits = Mapping[str, Mapping[str, int]]


class Repair(Struct, frozen=True, kw_only=True):
    """One thing that `dos doctor --fix` repaired, or why it did not."""

    kind: str  # of the finding that it clears
    what: str
    done: bool
    why_not: str = ""  # empty if it was done


class Report(Struct, frozen=True, kw_only=True):
    """Everything that `dos doctor` found, as `document` and `render` take it."""

    facts: Facts
    config: Config
    findings: list[Finding]
    repairs: list[Repair] | None = None  # None: none were requested
    git_hooks: str = ""  # the state of the hooks that guard the lanes; empty: none are installed
    runtime_hooks: dict[str, dict[str, Any]] = {}  # by program: its state and its wired events
    server: dict[str, Any] = {}  # whether it runs, and where

    @property
    def gating(self) -> list[Finding]:
        """The findings that make `dos doctor` exit 1: all but notes."""
        return [finding for finding in self.findings if finding.severity is not Severity.INFO]


def document(report: Report, exits: Exits) -> dict[str, Any]:
    """Return the JSON document that skills and scripts read.

    `exits` has the exit codes of every verb by their names, so that a script need not know them.
    """
    facts = report.facts
    config = report.config
    made = {
        "dos_version": facts.dos_version,
        "workspace": facts.root,
        "git": facts.in_git and bool(facts.git_version),
        "home": None,  # there is no state outside of a workspace
        "projects_indexed": 0,
        "admission_predicates": facts.predicates,
        **_policies(facts, config),
        "verifiability": to_builtins(facts.verifiability),
        "workspace_facts": {
            "is_kernel_repo": bool(facts.kernel_files),
            "kernel_runtime_files_present": facts.kernel_files,
        },
        "runtime_hooks": report.runtime_hooks,
        "git_hooks": report.git_hooks,
        "server": report.server,
        "env": _environment(facts),
        "exit_codes": exits,
        "journal": to_builtins(facts.journal),
        "config": {
            "path": facts.config_path,
            "exists": facts.config_there,
            "problems": facts.problems,
        },
        "agents": facts.agents,
        "units": facts.units,
        "disk": {"free_bytes": facts.free_bytes},
        "sandbox": facts.sandbox,
        "findings": to_builtins(report.findings),
    }
    if report.repairs is not None:
        made["repairs"] = to_builtins(report.repairs)
    return made


def _policies(facts: Facts, config: Config) -> dict[str, Any]:
    """The settings that skills read, in the shape that dos-kernel prints them."""
    lanes = config.lanes
    paths = config.paths
    supervise = config.supervise
    overlap = config.overlap
    spin_halt_after_ms = None
    if supervise.spin_halt_after is not None:
        spin_halt_after_ms = _milliseconds(supervise.spin_halt_after.total_seconds())
    return {
        "paths": {
            "root": facts.root,
            "execution_state": f"{facts.root}/{paths.execution_state}",
            "plans_glob": paths.plans_glob,
            "next_packets": f"{facts.root}/{paths.next_packets}",
            "runs": f"{facts.root}/{paths.fanout_runs}",
            "state": facts.state,
            "style": "dos",
        },
        "lanes": _lane_keys(lanes),
        "aliases": lanes.aliases,
        "class_budgets": config.class_budgets(),
        "stamp": to_builtins(config.stamp),
        "enumerate": {"series": "", **to_builtins(config.enumerate)},
        "cooldown": {
            "window_ms": _milliseconds(config.cooldown.window.total_seconds()),
            "error_window_ms": _milliseconds(config.cooldown.error_window.total_seconds()),
        },
        "lifecycle": to_builtins(config.lifecycle),
        "supervise": {
            "target": supervise.target,
            "count_spinning_as_alive": supervise.count_spinning_as_alive,
            "reap_stalled": supervise.reap_stalled,
            "spin_halt_after_ms": spin_halt_after_ms,
            "worker_launch_template": supervise.worker_launch_template,
            "max_concurrency": supervise.max_concurrency,
        },
        "overlap_policy": {
            "active": overlap.policy,
            "available": list(OVERLAP_POLICIES),
            "ratio_max": overlap.tolerance,
            "floor": "prefix",
        },
    }


def _milliseconds(seconds: float) -> int:
    """Whole milliseconds, as the keys of dos-kernel have them."""
    return round(seconds * 1000)


def _environment(facts: Facts) -> dict[str, Any]:
    """The versions that a verdict depends on, in the shape of dos-kernel's env-print."""
    tools = []
    for name, version in sorted({"git": facts.git_version, **facts.agents}.items()):
        if version != "":  # git cannot be used
            tools.append({"name": name, "version": version})
    return {
        "schema": {"family": "env-print", "version": 1},
        "kernel_version": facts.dos_version,
        "kernel_sha": None,
        "python": facts.python,
        "platform": facts.platform,
        "tools": tools,
        "digest": facts.digest,
    }


def render(report: Report, *, unicode: bool = True, colour: bool = False) -> str:
    """Return the report as text: the facts, the repairs, then the findings with their fixes.

    Of each kind only the first findings are shown, followed by how many more there are. Without
    `unicode` the marks are ASCII; with `colour` they have the colour of their severity.
    """
    lines = []
    for title, rows in _groups(report).items():
        lines.append(f"{title}:")
        for label, value in rows:
            lines.append(f"  {label:<14} {value}")
        lines.append("")
    lines += _repair_lines(report.repairs or [])
    marks = ASCII_MARKS
    if unicode:
        marks = MARKS
    for finding, left_out in first_of_each_kind(report.findings):
        mark = marks[finding.severity]
        if colour:
            mark = f"{COLOURS[finding.severity]}{mark}\x1b[0m"
        lines += _finding_lines(finding, mark)
        if left_out:
            lines.append(f"  {left_out}")
    if report.findings:
        lines.append("")
    return "\n".join([*lines, summary(report.findings)])


def _finding_lines(finding: Finding, mark: str) -> list[str]:
    """A finding as text: what, why, the output of the command that failed, and what to type."""
    lines = [f"{mark} {finding.what}"]
    if finding.why:
        lines.append(f"    {finding.why}")
    lines += last_output_lines(finding.output, "    ")
    lines.append(f"    {label_of_command(finding.fix)}: {finding.fix}")
    return lines


def summary(findings: Sequence[Finding]) -> str:
    """Return one line that counts the findings by severity, such as `1 error, 2 notes`."""
    counts = Counter(finding.severity for finding in findings)
    words = {Severity.ERROR: "error", Severity.WARN: "warning", Severity.INFO: "note"}
    parts = []
    for level, word in words.items():
        if counts[level]:
            parts.append(plural(counts[level], word))
    return ", ".join(parts) or "No problems found"


def _repair_lines(repairs: Sequence[Repair]) -> list[str]:
    """What `--fix` did, followed by a blank line; nothing if there was nothing to do."""
    lines = []
    for repair in repairs:
        if repair.done:
            lines.append(f"fixed: {repair.what}")
        else:
            lines.append(f"not fixed: {repair.what} ({repair.why_not})")
    if lines:
        lines.append("")
    return lines


def _groups(report: Report) -> dict[str, list[tuple[str, str]]]:
    """The facts as titled groups of labelled lines."""
    return {
        "This machine": _machine_rows(report.facts),
        "This workspace": _workspace_rows(report.facts, report.config),
        "Fleet": _fleet_rows(report),
    }


def _machine_rows(facts: Facts) -> list[tuple[str, str]]:
    """The lines about this machine."""
    agents = []
    for name, version in facts.agents.items():
        agents.append(f"{name} {version or '(version unknown)'}")
    space = "unknown"
    if facts.free_bytes is not None:
        space = f"{format_bytes(facts.free_bytes)} free"
    return [
        ("dos", f"{facts.dos_version} on Python {facts.python}, {facts.platform}"),
        ("git", facts.git_version or "not usable"),
        ("agents", ", ".join(agents) or "none on the path"),
        ("disk", space),
        ("fingerprint", f"{facts.digest} (changes with the versions above)"),
    ]


def _workspace_rows(facts: Facts, config: Config) -> list[tuple[str, str]]:
    """The lines about this workspace."""
    units = "cannot be read"
    if facts.units is not None:
        units = plural(facts.units, "unit")
    configuration = "no dos.toml; all settings have their defaults"
    if facts.config_there:
        configuration = facts.config_path
    return [
        ("root", facts.root),
        ("configuration", configuration),
        ("state", facts.state),
        ("journal", _journal_line(facts)),
        ("branch", facts.branch or "none"),
        ("plans", f"{config.paths.plans_glob}: {units}"),
        ("verifiable", _verifiable_line(facts.verifiability)),
    ]


def _verifiable_line(commits: Verifiability) -> str:
    """How many of the newest commits name a unit."""
    if not commits.commits_read:
        return "no commits yet"
    return f"{commits.recognized} of the last {plural(commits.commits_read, 'commit')} name a unit"


def _lane_keys(lanes: Lanes) -> dict[str, object]:
    """The lanes in the keys of dos-kernel ≤ 0.30, and the repeatable ones where there are any."""
    keys: dict[str, object] = {
        "concurrent": lanes.concurrent,
        "exclusive": lanes.exclusive,
        "autopick": lanes.autopick,
        "trees": lanes.trees,
    }
    if lanes.repeatable:
        keys["repeatable"] = lanes.repeatable
    return keys


def _fleet_rows(report: Report) -> list[tuple[str, str]]:
    """The lines about what `dos up` would start."""
    config = report.config
    lanes = join_some(config.lanes.concurrent) or "none concurrent"
    if config.lanes.exclusive:
        lanes += f"; exclusive: {join_some(config.lanes.exclusive)}"
    if config.lanes.repeatable:
        lanes += f"; repeatable: {join_some(config.lanes.repeatable)}"
    no_hooks = "none; `dos hooks git install` makes git refuse commits outside the lane"
    return [
        ("workers", f"target {config.supervise.target}, agent {_agents(config)}"),
        ("lanes", lanes),
        ("autopick", join_some(config.lanes.autopick) or "none"),
        ("lease checks", ", ".join(report.facts.predicates)),
        ("overlap", _overlap_line(config)),
        ("sandbox", report.facts.sandbox),
        ("git hooks", report.git_hooks or no_hooks),
        ("agent hooks", _agent_hooks_line(report)),
        ("server", _server_line(report.server)),
    ]


def _server_line(server: Mapping[str, Any]) -> str:
    """Where the server is, or what starts it."""
    if not server.get("running"):
        if server.get("off"):
            return "off ([server] off); hooks answer in processes of their own"
        return "does not run; `dos up` and `dos serve` start it"
    said = f"{server['address']} (process {server['pid']}); `dos web` prints it with the token"
    return said if server["answers"] else f"does not answer: {said}"


def _agent_hooks_line(report: Report) -> str:
    """The agent programs whose hooks call dos."""
    wired = []
    for name, row in report.runtime_hooks.items():
        if row["state"] != "NOT_WIRED":
            wired.append(f"{name} ({_hooks_state(row)})")
    if not wired:
        return "none; `dos hooks install HOST` has a program ask before each edit"
    return ", ".join(wired)


def _hooks_state(row: Mapping[str, Any]) -> str:
    """Whether a program would run the hooks, and what the last test of them showed."""
    state = str(row["state"]).lower().replace("_", " ")
    tested = row.get("tested")
    if not tested:
        return f"{state}, not tested here"
    if tested["result"] == "WORKS":
        return f"{state}, tested with {tested['version']}"
    return f"{state}, {tested['result'].lower()} when tested with {tested['version']}"


def _overlap_line(config: Config) -> str:
    """How the files of two lanes are compared, and how much may overlap."""
    overlap = config.overlap
    if not overlap.tolerance:
        return f"lanes that overlap never run at the same time (rule: {overlap.policy})"
    share = f"{overlap.tolerance:.0%}"
    return f"{share} of a request to `dos arbitrate` may overlap (rule: {overlap.policy})"


def _agents(config: Config) -> str:
    """The default agent, and the lanes with another one."""
    agents = [config.workers.agent or "not set"]
    for lane, agent in config.lanes.agents.items():
        agents.append(f"{agent} on {lane}")
    return "; ".join(agents)


def _journal_line(facts: Facts) -> str:
    """The journal's URL, and its events and size where it can be read."""
    journal = facts.journal
    if not journal.exists:
        return f"{journal.url}: none yet"
    if journal.events is None:
        return f"{journal.url}: cannot be read"
    text = f"{journal.url}: {journal.events:,} events"
    if journal.size_bytes is not None:
        text += f", {format_bytes(journal.size_bytes)}"
    return text
