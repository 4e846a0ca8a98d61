"""What `dos hooks install` and `dos hooks uninstall` print."""

from collections.abc import Sequence

from dos.agenthooks.io.install import State
from dos.agenthooks.io.wire import HostReport
from dos.agenthooks.wiring import HOSTS
from dos.verbs.context import Reply


def reply(reports: Sequence[HostReport], done: str, *, dry_run: bool) -> Reply:
    """Return what was done for each program; 1 where a file was left to its owner."""
    lines: list[str] = []
    for report in reports:
        lines += describe(report, done, dry_run=dry_run)
    data = {
        "action": done,
        "dry_run": dry_run,
        "hosts": {report.host: report.to_dict() for report in reports},
    }
    failed = any(report.refused for report in reports)
    return Reply(code=int(failed), text="\n".join(lines), data=data)


def describe(report: HostReport, done: str, *, dry_run: bool) -> list[str]:
    """Return the lines about one program."""
    if report.refused:
        lines = [f"{report.host}: {report.refused}"]
        if done == "installed":
            lines += ["Add this by hand:", report.patch.rstrip("\n")]
        return lines
    if dry_run and report.changed:
        text = "(removed)" if report.text is None else report.text.rstrip("\n")
        return [f"{report.host}: {report.file} would be", text]
    if not report.changed:
        what = "already installed" if done == "installed" else "no hooks of dos"
        lines = [f"{report.host}: {what} in {report.file}"]
    else:
        lines = [f"{report.host}: {done} in {report.file}"]
        if report.text is None:
            lines = [f"{report.host}: {done}; {report.file} held nothing else and is gone"]
    lines += [f"  {note}" for note in report.notes]
    if done == "installed" and report.state is State.WIRED:
        lines.append(_next(report))
    return lines


def _next(report: HostReport) -> str:
    """What to do after an installation."""
    if not HOSTS[report.host].is_tried:
        return "  not tried with the real program: dos was only tested with its documented events"
    return f"  undo: dos hooks uninstall {report.host}; try it: dos hooks test {report.host}"
