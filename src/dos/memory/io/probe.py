"""What git and the files say about the claims of a note."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from dos.errors import GitFailed
from dos.git import log
from dos.git.repository import Reader
from dos.machine import filesystem
from dos.memory.claims import Claim, ClaimKind, Polarity
from dos.memory.verdict import Finding, Status
from dos.unknown import Unknown
from dos.verify import content
from dos.workspace import Workspace

LARGEST_BYTES = 4_000_000
FILES_KEPT = 4


def probe_claims(workspace: Workspace, claims: Iterable[Claim]) -> list[Finding]:
    """Return what the repository says about each claim."""
    probe = _Probe(workspace)
    return [probe.finding(claim) for claim in claims]


class _Lines(Struct, frozen=True, kw_only=True):
    """The lines of a file as they are compared."""

    all: str
    code: str


class _Probe:
    """Answers claims from one work tree."""

    def __init__(self, workspace: Workspace) -> None:
        self._tree = workspace.tree
        self._git = Reader(workspace.tree)
        self._files: dict[str, _Lines | None] = {}

    def finding(self, claim: Claim) -> Finding:
        """Return the answer to one claim. Git that gives no answer leaves it unknown."""
        source = {ClaimKind.SHA: "git", ClaimKind.PATH: "tree", ClaimKind.TOKEN: "file"}[claim.kind]
        if claim.polarity is Polarity.NEUTRAL:
            truth = "it is named, and nothing is said of it"
            return Finding(claim=claim, status=Status.UNKNOWN, ground_truth=truth, source="")
        try:
            match claim.kind:
                case ClaimKind.SHA:
                    status, truth = self._commit(claim)
                case ClaimKind.PATH:
                    status, truth = self._path(claim)
                case ClaimKind.TOKEN:
                    status, truth = self._token(claim)
        except GitFailed as error:
            status, truth = Status.UNKNOWN, f"git cannot tell: {error.message}"
        return Finding(claim=claim, status=status, ground_truth=truth, source=source)

    def _commit(self, claim: Claim) -> tuple[Status, str]:
        commit = self._git.commit_of(claim.raw)
        if commit is None:
            return Status.UNKNOWN, "this repository has no such commit"
        if self._git.is_ancestor(commit, "HEAD"):
            return Status.CONFIRMS, "HEAD contains it"
        if self._is_shallow():
            return Status.UNKNOWN, "the history is cut off"
        return Status.CONTRADICTS, "HEAD does not contain it"

    def _path(self, claim: Claim) -> tuple[Status, str]:
        is_there = (self._tree / claim.target_file).exists()
        says_present = claim.polarity is Polarity.PRESENT
        if is_there:
            status = Status.CONFIRMS if says_present else Status.CONTRADICTS
            return status, "it is there"
        newest = next(log.commit_names(self._git, "-1", "HEAD", path=claim.target_file), "")
        if newest:
            status = Status.CONTRADICTS if says_present else Status.CONFIRMS
            return status, f"it was there, and is gone since {newest[:9]}"
        if self._is_shallow() or not says_present:
            return Status.UNKNOWN, "it is not there, and no commit here has touched it"
        return Status.CONTRADICTS, "it is not there, and never was"

    def _token(self, claim: Claim) -> tuple[Status, str]:
        lines = self._lines(claim.target_file)
        says_present = claim.polarity is Polarity.PRESENT
        if lines is None:
            if (self._tree / claim.target_file).exists():
                return Status.UNKNOWN, f"{claim.target_file} cannot be read"
            if says_present:
                return Status.CONTRADICTS, f"{claim.target_file} is not there"
            return Status.UNKNOWN, f"{claim.target_file} is not there"
        wanted = " ".join(claim.raw.split())
        if _holds(lines.code, wanted):
            status = Status.CONFIRMS if says_present else Status.CONTRADICTS
            return status, f"the code of {claim.target_file} has it"
        status = Status.CONTRADICTS if says_present else Status.CONFIRMS
        if _holds(lines.all, wanted):
            return status, f"only a comment of {claim.target_file} has it"
        return status, f"{claim.target_file} does not have it"

    def _lines(self, name: str) -> "_Lines | None":
        """Return the lines of a file; None for one that cannot be read or is no text.

        A note names the same file often, so the files of the last claims are kept.
        """
        if name in self._files:
            return self._files[name]
        text = _read(self._tree / name)
        lines = None
        if text is not None:
            lines = _Lines(all=_normalized(text), code=_normalized(_code(name, text)))
        self._files[name] = lines
        while len(self._files) > FILES_KEPT:
            del self._files[next(iter(self._files))]
        return lines

    def _is_shallow(self) -> bool:
        return self._git.run("rev-parse", "--is-shallow-repository").strip() == "true"


def _read(path: Path) -> str | None:
    """Return the text of a file; None where it cannot be read or is no text."""
    raw = filesystem.read_bounded(path, LARGEST_BYTES)
    if isinstance(raw, Unknown) or content.is_binary(raw):
        return None
    return content.decode(raw)


def _code(path: str, text: str) -> str:
    """Return a text without its comments and its documentation."""
    parts = []
    for segment in content.segments(path, text):
        parts.append(segment.code)
        if not segment.is_comment and not segment.is_docstring:
            parts.append(segment.literal)
    return "".join(parts)


def _normalized(text: str) -> str:
    """Return the lines of a text, each between blanks and with one blank between its words."""
    return "".join(f" {' '.join(line.split())} \n" for line in text.splitlines())


def _holds(normalized: str, wanted: str) -> bool:
    """Whether a line has the words, whatever blanks are between them; a flag only as a whole."""
    at = normalized.find(wanted)
    while at >= 0:
        after = normalized[at + len(wanted)]
        if not (after.isalnum() or after in "_-"):
            return True
        at = normalized.find(wanted, at + 1)
    return False
