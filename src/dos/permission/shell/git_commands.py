"""What git commands write in a work tree. Commits and refs have a gate of their own."""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from dos.permission.shell.effect import NOTHING, Effect, unknown
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.words import Word

_READS = name_table("""
    annotate blame cat-file check-attr check-ignore check-mailmap check-ref-format cherry
    count-objects describe diff diff-files diff-index diff-tree for-each-ref fsck grep help log
    ls-files ls-remote ls-tree merge-base merge-tree name-rev range-diff rev-list rev-parse
    shortlog show show-branch show-ref status var verify-commit verify-pack verify-tag version
    whatchanged
    """)
# They change the index, objects or refs, which the commit gate looks at, and no file of the tree.
_GATED = name_table("""
    add branch commit commit-tree config fetch gc hash-object maintenance mktag mktree notes
    pack-refs prune push reflog remote repack replace stage symbolic-ref tag update-index update-ref
    write-tree
    """)
_GATE = "the commit gate looks at what git {} changes"
_TREE = "git {} can change any file of the tree"


class GitCommand(Struct, kw_only=True):
    """A git command without the options before its name."""

    name: str = ""
    words: Sequence[Word] = ()
    folders: list[Word] = field(default_factory=list)  # of `-C` and `--work-tree`, in their order
    is_configured: bool = False  # by options, which can make any command run a program


def split_command(words: Sequence[Word]) -> GitCommand:
    """Split what follows the word `git` into its global options and the command."""
    letters = "Cc"
    names = ("git-dir", "work-tree", "namespace", "exec-path", "config-env", "super-prefix")
    found = parse(words, letters, names, stops=True)
    command = GitCommand(
        folders=found.values.get("C", []) + found.values.get("work-tree", []),
        is_configured=found.has("c", "config-env", "exec-path"),
    )
    if found.operands:
        command.name = found.operands[0].text
        command.words = found.operands[1:]
    return command


def git_effect(command: GitCommand) -> Effect:
    """Return what a git command writes, relative to its folder."""
    if command.is_configured:
        effect = _effect(command)
        why = effect.unknown or "an option of git can name a program to run"
        return Effect(writes=effect.writes, unknown=why)
    return _effect(command)


def _effect(command: GitCommand) -> Effect:
    name = command.name
    if name in _READS or not name:
        return _reads(command.words)
    if name in _GATED:
        return unknown(_GATE.format(name))
    reader = _COMMANDS.get(name)
    if reader is None:
        return unknown(_TREE.format(name))
    return reader(command.words)


def _removes(words: Sequence[Word]) -> Effect:
    found = parse(words, "", ("pathspec-from-file",))
    if found.has("cached"):
        return unknown(_GATE.format("rm --cached"))
    return Effect(writes=found.operands)


def _moves(words: Sequence[Word]) -> Effect:
    return Effect(writes=parse(words).operands)


def _cleans(words: Sequence[Word]) -> Effect:
    found = parse(words, "e", ("exclude",))
    if found.has("n", "dry-run"):
        return NOTHING
    return _operands_or_tree(found.operands, "clean")


def _reads(words: Sequence[Word]) -> Effect:
    found = parse(words, "", ("output",))
    if found.has("ext-diff", "O", "open-files-in-pager"):
        return unknown("an option of git runs a program")
    return Effect(writes=found.values.get("output", []))


def _operands_or_tree(operands: list[Word], name: str) -> Effect:
    """What the operands name; without any, git chooses the files."""
    if operands:
        return Effect(writes=operands)
    return unknown(_TREE.format(name))


def _restores(words: Sequence[Word]) -> Effect:
    found = parse(words, "sU", ("source", "conflict", "pathspec-from-file"))
    if found.has("staged", "S") and not found.has("worktree", "W"):
        return unknown(_GATE.format("restore --staged"))
    return _operands_or_tree(found.operands, "restore")


def _checks_out(words: Sequence[Word]) -> Effect:
    """Only what follows `--` is certain to be paths; before it stands a commit."""
    for index, word in enumerate(words):
        if word.text == "--":
            return _operands_or_tree(list(words[index + 1 :]), "checkout")
    found = parse(words, "bB", ("orphan", "conflict", "pathspec-from-file"))
    if found.has("b", "B", "orphan"):
        return unknown(_TREE.format("checkout"))
    effect = unknown(_TREE.format("checkout"))
    if len(found.operands) > 1:  # a commit and paths, or only paths
        effect = Effect(writes=found.operands[1:])
    if found.operands and _looks_like_path(found.operands[0].text):
        effect.writes = [found.operands[0], *effect.writes]
    return effect


def _looks_like_path(text: str) -> bool:
    """Whether an operand of `git checkout` is rather a path than a branch or a commit."""
    last = text.rpartition("/")[2]
    return text in (".", "..") or text.endswith("/") or "." in last[1:] or text.startswith("./")


def _stashes(words: Sequence[Word]) -> Effect:
    if words and words[0].text in ("list", "show"):
        return NOTHING
    for index, word in enumerate(words):
        if word.text == "--":
            return _operands_or_tree(list(words[index + 1 :]), "stash")
    if words and words[0].text == "push":
        found = parse(words[1:], "m", ("message", "pathspec-from-file"))
        return _operands_or_tree(found.operands, "stash")
    return unknown(_TREE.format("stash"))


def _resets(words: Sequence[Word]) -> Effect:
    """With paths it only unstages them, which is the way out of a refused commit."""
    found = parse(words)
    if found.has("hard", "merge", "keep"):
        return unknown(_TREE.format("reset"))
    return unknown(_GATE.format("reset"))


def _applies(words: Sequence[Word]) -> Effect:
    found = parse(
        words, "pC", ("directory", "exclude", "include", "whitespace", "build-fake-ancestor")
    )
    if found.has("check", "stat", "numstat", "summary") and not found.has("apply"):
        return NOTHING
    if found.has("cached"):
        return unknown(_GATE.format("apply --cached"))
    return unknown("what a patch changes is not in the command")


def _worktrees(words: Sequence[Word]) -> Effect:
    action = words[0].text if words else ""
    if action == "list":
        return NOTHING
    found = parse(words[1:], "bB", ("reason",))
    match action:
        case "add":
            return Effect(writes=found.operands[:1], unknown=_GATE.format("worktree"))
        case "remove" | "move":
            return Effect(writes=found.operands, unknown=_GATE.format("worktree"))
    return unknown(_GATE.format("worktree"))


def _clones(words: Sequence[Word]) -> Effect:
    found = parse(words, "bocuj", ("branch", "origin", "config", "depth", "reference", "template"))
    if len(found.operands) < 2:
        return unknown("the name of the cloned folder is not known")
    return Effect(writes=found.operands[1:2])


def _inits(words: Sequence[Word]) -> Effect:
    found = parse(words, "b", ("initial-branch", "template", "separate-git-dir"))
    return Effect(writes=found.operands[:1] or [Word(text=".git")])


def _exports(words: Sequence[Word]) -> Effect:
    found = parse(words, "o", ("output", "output-directory"))
    for name in ("o", "output", "output-directory"):
        if name in found.values:
            return Effect(writes=found.values[name])
    return unknown("git writes a file whose name is not known")


_COMMANDS: dict[str, Callable[[Sequence[Word]], Effect]] = {
    "mv": _moves,
    "rm": _removes,
    "restore": _restores,
    "checkout": _checks_out,
    "clean": _cleans,
    "stash": _stashes,
    "reset": _resets,
    "apply": _applies,
    "worktree": _worktrees,
    "clone": _clones,
    "init": _inits,
    "archive": _exports,
    "bundle": _exports,
    "format-patch": _exports,
}
