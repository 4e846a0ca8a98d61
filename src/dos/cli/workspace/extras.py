"""What `dos init` writes besides dos.toml: skills, a block of AGENTS.md, hooks and MCP servers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from dos.agenthooks.wiring import chosen_hosts
from dos.errors import BadInput
from dos.machine import filesystem
from dos.skills import agents_md
from dos.skills.copies import CopyState
from dos.skills.io import installed, packaged
from dos.skills.skill import choose
from dos.text import LONGEST_PATH, plural, quote
from dos.workspace import find

if TYPE_CHECKING:
    from dos.mcp import hosts as mcp_hosts


class Extras(Struct, frozen=True, kw_only=True):
    """What was asked for."""

    skills: bool = False
    named: tuple[str, ...] = ()
    every: bool = False
    agents_md: bool = False
    hooks: tuple[str, ...] = ()  # names of programs
    mcp: tuple[str, ...] = ()  # names of programs
    force: bool = False
    dry_run: bool = False

    @property
    def wanted(self) -> bool:
        """Whether anything was asked for."""
        named = self.named or self.hooks or self.mcp
        return self.skills or self.every or self.agents_md or bool(named)


class WrittenExtras(Struct, frozen=True, kw_only=True):
    """What was written, as lines to print, as JSON, and as the paths to commit.

    `made` are those of the paths that were not there before: removing them undoes it.
    """

    lines: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        """1 where a settings file was left to its owner."""
        reports = [*self.data.get("hooks", {}).values(), *self.data.get("mcp", {}).values()]
        return int(any(report["refused"] for report in reports))

    def add(self, path: str, *, is_new: bool) -> None:
        """Note a file that was written, once."""
        if path in self.paths:
            return
        self.paths.append(path)
        if is_new:
            self.made.append(path)


def write(extras: Extras, root: Path) -> WrittenExtras:
    """Write what was asked for; with `dry_run` only say what would be written.

    Raises BadInput before anything is written where a name is unknown or a link is in the way.
    """
    written = WrittenExtras()
    chosen_hosts(extras.hooks)
    servers = _chosen_servers(extras.mcp)
    names = choose(packaged.names(), core=extras.skills, named=extras.named, every=extras.every)
    document = None
    if extras.agents_md:
        document = _new_document(root)
    if names:
        _write_skills(names, extras, root, written)
    if document is not None:
        _write_document(document, extras, root, written)
    if extras.hooks:
        _write_hooks(extras, root, written)
    for host in servers:
        _write_server(host, extras, root, written)
    return written


def _chosen_servers(names: tuple[str, ...]) -> "list[mcp_hosts.Host]":
    """Return the programs that are to start `dos mcp`. Raises BadInput for an unknown one."""
    if not names:
        return []
    from dos.mcp.hosts import chosen_hosts  # only --mcp needs it

    return chosen_hosts(names)


def _write_server(
    host: "mcp_hosts.Host", extras: Extras, root: Path, written: WrittenExtras
) -> None:
    """Let one program start `dos mcp`, and add what became of it."""
    from dos.mcp.wire import write_server  # only --mcp needs it

    report = write_server(host, root, force=extras.force, dry_run=extras.dry_run)
    written.lines.extend(report.lines(dry_run=extras.dry_run))
    if report.changed and not extras.dry_run:
        written.add(report.file, is_new=report.is_new)
    written.data.setdefault("mcp", {})[report.host] = report.to_dict()


def _write_hooks(extras: Extras, root: Path, written: WrittenExtras) -> None:
    """Wire the programs, as `dos hooks install` does."""
    from dos.agenthooks.io import wire  # only --hooks needs these
    from dos.cli.hooks.report import describe

    written.data["hooks"] = {}
    for host in chosen_hosts(extras.hooks):
        is_new = not Path(find(root).tree, *host.path).exists()
        report = wire.install(host, find(root), force=extras.force, dry_run=extras.dry_run)
        written.lines.extend(describe(report, "installed", dry_run=extras.dry_run))
        if report.changed and not extras.dry_run:
            written.add(report.file, is_new=is_new)
        written.data["hooks"][report.host] = report.to_dict()


def _write_skills(
    names: tuple[str, ...], extras: Extras, root: Path, written: WrittenExtras
) -> None:
    """Copy the skills, and add what happened to each copy."""
    rows = []
    before = installed.install(root, names, force=extras.force, dry_run=extras.dry_run)
    for copy in before:
        is_written = installed.is_written(copy, force=extras.force)
        rows.append(
            {"skill": copy.skill, "path": copy.path, "was": copy.state, "written": is_written}
        )
        if is_written:
            written.add(str(root / copy.path), is_new=copy.state is CopyState.MISSING)
        elif copy.state is CopyState.DRIFTED:
            written.lines.append(f"kept {copy.path}, which differs; {copy.fix} replaces it")
    verb = "would write" if extras.dry_run else "wrote"
    count = plural(len(written.paths), "copy").replace("copys", "copies")
    written.lines.append(f"{verb} {count} of {plural(len(names), 'skill')}: {', '.join(names)}")
    written.data["skills"] = rows


def _new_document(root: Path) -> tuple[Path, str, str]:
    """Return the path of AGENTS.md, its text, and its text with the block.

    A link to another file of the repository is followed; raises BadInput for any other link.
    """
    path = root / agents_md.FILE_NAME
    target = path.resolve()
    if not target.is_relative_to(root.resolve()) or (path.exists() and not path.is_file()):
        raise BadInput(
            f"{quote(str(path), LONGEST_PATH)} is no file of this repository",
            hint="Move it away, and run it again: dos init --agents-md",
        )
    text = ""
    if path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{path} is not UTF-8", hint="Convert it first.") from error
    return target, text, agents_md.with_block(text)


def _write_document(
    document: tuple[Path, str, str], extras: Extras, root: Path, written: WrittenExtras
) -> None:
    """Write AGENTS.md unless it has the block already."""
    path, before, after = document
    is_written = before != after
    if is_written and not extras.dry_run:
        filesystem.write_whole(path, after.encode())
    name = str(path.relative_to(root.resolve()))
    if not is_written:
        written.lines.append(f"{name} has the current block already")
    elif extras.dry_run:
        written.lines.append(f"would write the block of {name}:\n{agents_md.block()}".rstrip())
    else:
        written.lines.append(f"wrote the block of {name}")
        written.add(str(root / name), is_new=not before)
    written.data["agents_md"] = {"path": name, "written": is_written}
