"""The lanes: what is wrong with the taxonomy, and which of them cover nothing."""

from shlex import quote

from dos.config import lint
from dos.config.lint import Kind
from dos.config.notation import key_text, value_text
from dos.config.tables import Config
from dos.evidence.health.configuration import edit_command
from dos.evidence.health.finding import Finding, warning
from dos.records.globs import folded_path, matches
from dos.records.regions import Region
from dos.sources.world import World

_WHY = {
    Kind.LANE_WITHOUT_TREE: "A region nobody knows overlaps everything, so the lane is refused.",
    Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE: "It cannot run beside others and alone.",
    Kind.AUTOPICK_LANE_UNDECLARED: "No worker is ever placed on it.",
    Kind.ALIAS_TARGET_UNDECLARED: "Asking for it by that word is an error.",
    Kind.LANE_REGION_SHADOWED: "A worker on one of them keeps the other one idle.",
    Kind.CONCURRENT_LANES_OVERLAP: "A worker on one of them keeps the other one idle.",
    Kind.REASON_SEE_ALSO_DANGLES: "Whoever follows the reference finds nothing.",
}


def examine(world: World) -> list[Finding]:
    return [*(_as_finding(finding, world) for finding in lint.lint(world.config)), *_empty(world)]


def _as_finding(found: lint.Finding, world: World) -> Finding:
    return Finding(
        kind=found.kind,
        severity=found.severity,
        what=found.detail,
        why=_WHY[found.kind],
        fix=_command(found, world.config) or edit_command(world),
    )


def _command(found: lint.Finding, config: Config) -> str:
    """One command that clears it, where one can be written down."""
    lanes = config.lanes
    match found.kind:
        case Kind.LANE_WITHOUT_TREE | Kind.LANE_REGION_SHADOWED:
            return _set(("lanes", "trees", found.subject), ["PATH/**"])
        case Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE:
            return _set(("lanes", "exclusive"), [lane for lane in lanes.exclusive if lane != found.subject])
        case Kind.AUTOPICK_LANE_UNDECLARED:
            return _set(("lanes", "autopick"), [lane for lane in lanes.autopick if lane != found.subject])
        case Kind.ALIAS_TARGET_UNDECLARED:
            return f"dos config unset {quote(key_text(('lanes', 'aliases', found.subject)))}"
        case Kind.CONCURRENT_LANES_OVERLAP:
            return _set(("lanes", "trees", found.subject.partition("+")[0]), ["PATH/**"])
    return ""


def _set(key: tuple[str, ...], value: list[str]) -> str:
    return f"dos config set {quote(key_text(key))} {quote(value_text(value))}"


def _empty(world: World) -> list[Finding]:
    if world.workspace.common is None:
        return []
    paths = (folded_path(path) for path in world.git.run("ls-files", "-z", "--full-name", ":/").split("\0"))
    tracked = [path for path in paths if path is not None]
    regions_of = {lane: world.config.lane_region(lane) for lane in world.config.roster()}
    return [
        warning(
            "LANE_COVERS_NOTHING",
            f"no tracked file is in lane {lane!r}: {', '.join(region.globs)}",
            "The folder is still to be made, or the glob is misspelt.",
            _set(("lanes", "trees", lane), ["PATH/**"]),
        )
        for lane, region in regions_of.items()
        if region is not None and region.known and tracked and not _covers(region, tracked)
    ]


def _covers(region: Region, tracked: list[str]) -> bool:
    return any(matches(glob, path) for glob in region.globs for path in tracked)
