"""What git commands write in a work tree. Commits and refs have a gate of their own."""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from dos.permission.shell.effect import Effect, unknown
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.syntax.tokens import Word

_READS = name_table("""
    annotate blame cat-file check-attr check-ignore check-mailmap check-ref-format cherry
    count-objects describe diff diff-files diff-index diff-tree for-each-ref fsck grep log
    ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse
    shortlog show show-branch show-ref status var verify-commit verify-pack verify-tag version
    whatchanged
    """)
# They change the index, objects or refs, which the commit gate looks at, and no file of the tree.
_GATED = name_table("""
    add branch commit commit-tree config fetch gc hash-object maintenance merge-tree mktag mktree
    notes pack-refs prune push reflog remote repack replace stage symbolic-ref tag update-index
    update-ref write-tree
    """)
# Of these, what only shows something: options of which one must be there and all may be, and
# whether it also does without any.
_SHOWS: dict[str, tuple[str, bool]] = {
    "branch": ("-a -r -v -vv --all --remotes --list --show-current --no-color --verbose", True),
    "tag": ("-l -n --list", True),
    "remote": ("-v --verbose", True),
    "config": ("-l --list --get --get-all --get-regexp --show-origin --global --local", False),
    "reflog": ("--all --oneline", True),
}
_TAKES_OPERANDS = {"config": ("--get", "--get-all", "--get-regexp"), "tag": ("-l", "--list"),
                   "branch": ("--list",)}  # fmt: skip
ASKS_REMOTE = "ls-remote"  # it reads, on another machine
_RUNS = ("ext-diff", "O", "open-files-in-pager", "upload-pack", "exec", "lost-found")
_ADDRESS = "an address can name a program to run"
# Options beside which a command is known to do what another one says: `--no-dry-run` is none.
_QUIET = ("quiet", "force", "verbose", "ignore-unmatch")
_APPLY_VALUED = ("directory", "exclude", "include", "whitespace")
_APPLY_FLAGS = name_table("""
    check stat numstat summary reverse index cached recount unidiff-zero 3way
    """)
_CLONE_VALUED = ("branch", "origin", "depth", "filter", "jobs", "shallow-since", "reference")
_CLONE_FLAGS = name_table("single-branch no-checkout bare mirror no-tags progress sparse")
UNREAD_PATCH = "the patch comes from elsewhere"
_GATE = "the commit gate looks at what git {} changes"
_TREE = "git {} can change any file of the tree"


_FILE_NAME = re.compile(r"[^/]\.[A-Za-z][A-Za-z0-9]{0,7}$")  # unlike v1.2 and release-2.0
_VERSION = re.compile(
    r"(?:^|[/_-])[vV]?[0-9]+(?:\.[0-9]+)*\.(?:[xX]|(?:a|b|rc|alpha|beta|dev|pre|post)[0-9]*)$"
)


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
        folders=found.all_values("C", "work-tree"),
        is_configured=found.has("c", "config-env", "exec-path", "git-dir", "namespace"),
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
    if name in _SHOWS and _only_shows(name, command.words):
        return Effect()
    if name in _GATED:
        return unknown(_GATE.format(name))
    reader = _COMMANDS.get(name)
    if reader is None:
        return unknown(_TREE.format(name))
    return reader(command.words)


def _only_shows(name: str, words: Sequence[Word]) -> bool:
    """Whether a command that can change refs or settings was asked to list them."""
    known, shows_without = _SHOWS[name]
    given = [word.text for word in words if word.text.startswith("-")]
    operands = [word for word in words if not word.text.startswith("-")]
    if not all(word.is_literal for word in words) or not set(given) <= set(known.split()):
        return False
    if operands:
        return any(option in given for option in _TAKES_OPERANDS.get(name, ()))
    return shows_without or bool(given)


def _removes(words: Sequence[Word]) -> Effect:
    found = parse(words, "", ("pathspec-from-file",))
    if found.has("cached"):
        return unknown(_GATE.format("rm --cached"))
    if found.has("n", "dry-run") and found.has_only("nrfq", ("dry-run", *_QUIET)):
        return Effect()
    return _operands_or_tree(found.operands, "rm")


def _moves(words: Sequence[Word]) -> Effect:
    return Effect(writes=parse(words).operands)


def _cleans(words: Sequence[Word]) -> Effect:
    found = parse(words, "e", ("exclude",))
    if found.has("n", "dry-run") and found.has_only("ndfxXeq", ("dry-run", "exclude", *_QUIET)):
        return Effect()
    return _operands_or_tree(found.operands, "clean")


def _reads(words: Sequence[Word]) -> Effect:
    found = parse(words, "", ("output",))
    if found.has(*_RUNS):
        return unknown("an option of git runs a program or writes files")
    return Effect(writes=found.all_values("output"))


def _asks_remote(words: Sequence[Word]) -> Effect:
    """`git ls-remote` reads, unless its address names a program."""
    if any("::" in word.text for word in words):
        return unknown(_ADDRESS)
    return _reads(words)


def _helps(words: Sequence[Word]) -> Effect:
    """`git help` starts a browser by some options, and by some settings."""
    if any(word.text.startswith("-") and word.text not in ("-a", "--all", "-g") for word in words):
        return unknown("an option of git starts a program")
    return Effect()


def _operands_or_tree(operands: list[Word], name: str) -> Effect:
    """What the operands name; without any, git chooses the files."""
    if any(word.text.startswith(":") for word in operands):
        return unknown("what a pattern of git matches is not known")
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
    if found.has("b", "B", "orphan", "t", "track", "detach", "d"):
        return unknown(_TREE.format("checkout"))
    effect = unknown(_TREE.format("checkout"))
    if len(found.operands) > 1:  # a commit and paths, or only paths
        effect = Effect(writes=found.operands[1:])
    if found.operands and _looks_like_path(found.operands[0].text):
        effect.writes = [found.operands[0], *effect.writes]
    return effect


def _looks_like_path(text: str) -> bool:
    """Whether an operand of `git checkout` is rather a path than a branch or a commit."""
    if text in (".", "..") or text.endswith("/") or text.startswith(("./", "../", "/")):
        return True
    if _VERSION.search(text):  # 4.x, release-1.x, v2.0.rc1
        return False
    return bool(_FILE_NAME.search(text)) and ".." not in text


def _stashes(words: Sequence[Word]) -> Effect:
    if words and words[0].text in ("list", "show"):
        return _reads(words[1:])
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
    found = parse(words, "pC", (*_APPLY_VALUED, "build-fake-ancestor"))
    shows = found.has("check", "stat", "numstat", "summary")
    if shows and found.has_only("pCvqRz", (*_APPLY_VALUED, *_APPLY_FLAGS, *_QUIET)):
        return Effect()
    if found.has("cached"):
        return unknown(_GATE.format("apply --cached"))
    if found.operands:
        return unknown("what a patch changes is not in the command")
    return unknown(UNREAD_PATCH)


def _worktrees(words: Sequence[Word]) -> Effect:
    action = words[0].text if words else ""
    if action == "list":
        return Effect()
    found = parse(words[1:], "bB", ("reason",))
    match action:
        case "add":
            return Effect(writes=found.operands[:1], unknown=_GATE.format("worktree"))
        case "remove" | "move":
            return Effect(writes=found.operands, unknown=_GATE.format("worktree"))
    return unknown(_GATE.format("worktree"))


def _clones(words: Sequence[Word]) -> Effect:
    found = parse(words, "bocuj", _CLONE_VALUED)
    if len(found.operands) < 2:
        return unknown("the name of the cloned folder is not known")
    effect = Effect(writes=found.operands[1:2])
    if not found.has_only("bojnqv", (*_CLONE_VALUED, *_CLONE_FLAGS, *_QUIET)):
        effect.unknown = "an option of git runs a program or writes files"
    if "::" in found.operands[0].text:
        effect.unknown = _ADDRESS
    return effect


def _inits(words: Sequence[Word]) -> Effect:
    found = parse(words, "b", ("initial-branch", "template", "separate-git-dir"))
    return Effect(
        writes=found.operands[:1] or [Word(text=".git")],
        unknown="git copies a template",
    )


def _exports(words: Sequence[Word]) -> Effect:
    found = parse(words, "o", ("output", "output-directory"))
    for name in ("o", "output", "output-directory"):
        if values := found.all_values(name):
            return Effect(writes=values, unknown="git can run a program for it")
    return unknown("git writes a file whose name is not known")


_COMMANDS: dict[str, Callable[[Sequence[Word]], Effect]] = {
    ASKS_REMOTE: _asks_remote,
    "help": _helps,
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
