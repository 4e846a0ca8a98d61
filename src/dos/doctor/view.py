"""The doctor's report: what this workspace is, and what would go wrong; as one document and as text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from dos.config.lint import Severity
from dos.config.schema import Config
from dos.doctor.facts import Facts
from dos.doctor.subjects.configuration import OVERLAP_POLICIES
from dos.doctor.subjects.finding import Finding, first_of_each_kind
from dos.doctor.subjects.machine import format_bytes
from dos.text import join_some, last_output_lines, plural

MARKS = {Severity.ERROR: "✗", Severity.WARN: "!", Severity.INFO: "i"}
ASCII_MARKS = {Severity.ERROR: "x", Severity.WARN: "!", Severity.INFO: "i"}
COLOURS = {Severity.ERROR: "\x1b[31m", Severity.WARN: "\x1b[33m", Severity.INFO: "\x1b[2m"}

Exits = Mapping[str, Mapping[str, int]]


class Repair(Struct, frozen=True, kw_only=True):
    """One thing that was put right, or would be."""

    kind: str
    what: str
    done: bool
    why_not: str = ""


class Report(Struct, frozen=True, kw_only=True):
    facts: Facts
    config: Config
    findings: list[Finding]
    repairs: list[Repair] | None = None  # None: nobody asked for any
    git_hooks: str = ""  # how those that guard the lanes are; empty: there are none

    @property
    def gating(self) -> list[Finding]:
        """What a gate stops at: everything above a note."""
        return [finding for finding in self.findings if finding.severity is not Severity.INFO]


def document(report: Report, exits: Exits) -> dict[str, Any]:
    """The object that skills and scripts read once."""
    facts, config = report.facts, report.config
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
        "runtime_hooks": {},
        "git_hooks": report.git_hooks,
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
        "findings": to_builtins(report.findings),
    }
    return made if report.repairs is None else made | {"repairs": to_builtins(report.repairs)}


def _policies(facts: Facts, config: Config) -> dict[str, Any]:
    lanes, paths, supervise, overlap = config.lanes, config.paths, config.supervise, config.overlap
    halt = supervise.spin_halt_after
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
        "lanes": {
            "concurrent": lanes.concurrent,
            "exclusive": lanes.exclusive,
            "autopick": lanes.autopick,
            "trees": lanes.trees,
        },
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
            "spin_halt_after_ms": None if halt is None else _milliseconds(halt.total_seconds()),
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
    return round(seconds * 1000)


def _environment(facts: Facts) -> dict[str, Any]:
    tools = {"git": facts.git_version, **facts.agents}
    return {
        "schema": {"family": "env-print", "version": 1},
        "kernel_version": facts.dos_version,
        "kernel_sha": None,
        "python": facts.python,
        "platform": facts.platform,
        "tools": [
            {"name": name, "version": version}
            for name, version in sorted(tools.items())
            if version != ""
        ],
        "digest": facts.digest,
    }


def render(report: Report, *, unicode: bool = True, colour: bool = False) -> str:
    lines = []
    for title, rows in _groups(report).items():
        lines += [f"{title}:", *(f"  {label:<14} {value}" for label, value in rows), ""]
    lines += _repair_lines(report.repairs or [])
    marks = MARKS if unicode else ASCII_MARKS
    for finding, left_out in first_of_each_kind(report.findings):
        mark = marks[finding.severity]
        shown = f"{COLOURS[finding.severity]}{mark}\x1b[0m" if colour else mark
        lines.append(f"{shown} {finding.what}")
        lines += [f"    {finding.why}"] if finding.why else []
        lines += last_output_lines(finding.output, "    ")
        lines.append(f"    fix: {finding.fix}")
        lines += [f"  {left_out}"] if left_out else []
    if report.findings:
        lines.append("")
    return "\n".join([*lines, summary(report.findings)])


def summary(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    words = {Severity.ERROR: "error", Severity.WARN: "warning", Severity.INFO: "note"}
    said = [
        f"{counts[level]} {word}{'s' * (counts[level] != 1)}"
        for level, word in words.items()
        if counts[level]
    ]
    return ", ".join(said) if said else "nothing here would go wrong, as far as can be seen"


def _repair_lines(repairs: Sequence[Repair]) -> list[str]:
    said = [
        f"{'fixed' if repair.done else 'not fixed'}: {repair.what}{f' ({repair.why_not})' if repair.why_not else ''}"
        for repair in repairs
    ]
    return [*said, ""] if said else []


def _groups(report: Report) -> dict[str, list[tuple[str, str]]]:
    facts, config = report.facts, report.config
    seen = facts.verifiability
    agents = [f"{name} {version or '(version unknown)'}" for name, version in facts.agents.items()]
    exclusive = f"; alone: {join_some(config.lanes.exclusive)}" if config.lanes.exclusive else ""
    units = "unread" if facts.units is None else plural(facts.units, "unit")
    room = "unknown" if facts.free_bytes is None else f"{format_bytes(facts.free_bytes)} free"
    return {
        "This machine": [
            ("dos", f"{facts.dos_version} on Python {facts.python}, {facts.platform}"),
            ("git", facts.git_version or "not usable"),
            ("agents", ", ".join(agents) or "none on the path"),
            ("disk", room),
            ("environment", facts.digest),
        ],
        "This workspace": [
            ("root", facts.root),
            ("configuration", facts.config_path if facts.config_there else "no dos.toml: defaults"),
            ("state", facts.state),
            ("journal", _journal_line(facts)),
            ("branch", facts.branch or "none"),
            ("plans", f"{config.paths.plans_glob}: {units}"),
            (
                "verifiable",
                f"{seen.recognized} of the last {seen.commits_read} commits name a unit of a plan",
            ),
        ],
        "Fleet": [
            ("workers", f"{config.supervise.target} wanted, agent {_agents(config)}"),
            ("lanes", (join_some(config.lanes.concurrent) or "none side by side") + exclusive),
            ("autopick", join_some(config.lanes.autopick) or "none"),
            ("predicates", ", ".join(facts.predicates)),
            ("overlap", f"{config.overlap.policy}, {config.overlap.tolerance:.0%} tolerated"),
            (
                "git hooks",
                report.git_hooks
                or "none; `dos hooks git install` lets git refuse what leaves its lane",
            ),
        ],
    }


def _agents(config: Config) -> str:
    """The usual agent, and the lanes that have one of their own."""
    own = [f"{agent} on {lane}" for lane, agent in config.lanes.agents.items()]
    return "; ".join([config.workers.agent or "not set", *own])


def _journal_line(facts: Facts) -> str:
    journal = facts.journal
    if not journal.exists:
        return f"{journal.url}: none yet"
    if journal.events is None:
        return f"{journal.url}: cannot be read"
    size = "" if journal.size_bytes is None else f", {format_bytes(journal.size_bytes)}"
    return f"{journal.url}: {journal.events:,} events{size}"
