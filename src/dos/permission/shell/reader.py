"""Read what a shell text writes, without running it.

Conditions are not evaluated: every command counts as run, and `cd` as successful. Where that is not
certain, what is written is named and called unknown at once. What the shell expands is not known,
so such a path makes the rest unknown; known paths beside it stay known.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, field, structs

from dos.permission.shell import patches, prefixes, shells, tree_paths
from dos.permission.shell.effect import Effect
from dos.permission.shell.git_commands import ASKS_REMOTE, git_effect, split_command
from dos.permission.shell.name_table import name_table
from dos.permission.shell.options import parse
from dos.permission.shell.programs import PROGRAMS
from dos.permission.shell.readers import ACTS, READERS
from dos.permission.shell.syntax import expansion
from dos.permission.shell.syntax.grammar import parse_commands
from dos.permission.shell.syntax.scanner import read_script
from dos.permission.shell.syntax.tokens import (
    NotReadable,
    Operator,
    Redirect,
    Script,
    Token,
    Word,
)
from dos.permission.shell.variables import Variables, takes_names

MOST_PATHS = 2_000
DEEPEST = 6  # shells inside one another
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_PIPES = ("|", "|&")
_GOES_ON = ("&&", "|", "|&", "(")  # after which `cd` has succeeded, or nothing follows
_LOOPS = name_table("for while until select function case")
_MOVES_LINKS = name_table("mv cp ditto ln rsync tar unzip")
_OWN_PROGRAM = "a program of its own can write files"


class _Reading(Struct, kw_only=True):
    """What was found so far."""

    root: str
    writes: dict[str, None] = field(default_factory=dict)
    unknown: str = ""
    acts: bool = False
    variables: Variables = field(default_factory=Variables)
    has_moved_links: bool = False  # a link may lie where none was, so that paths lead elsewhere

    def add_unknown(self, why: str) -> None:
        self.unknown = self.unknown or why

    def add_path(self, path: str) -> None:
        if self.has_moved_links:
            self.add_unknown("a link that was moved or copied can lead elsewhere")
        if len(self.writes) >= MOST_PATHS:
            self.add_unknown(f"more than {MOST_PATHS} paths are named")
        else:
            self.writes.setdefault(path)


class _Command(Struct, kw_only=True):
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read of it yet."""
        return not self.words and not self.redirects


class _Folder(Struct, frozen=True, kw_only=True):
    """The current folder, as far as it is known."""

    path: str | None  # None: unknown
    has_moved: bool = False
    is_certain: bool = True  # False: a `cd` may have failed, or may not have run


class Written(Struct, frozen=True, kw_only=True):
    """The paths that a command writes, and why there may be more."""

    paths: tuple[str, ...]
    unknown: str
    acts: bool = False  # on processes or on other machines


def read_command(text: str, *, base: str, root: str) -> Written:
    """Return what a shell text writes. `base` is the folder that it starts in. Never raises."""
    reading = _Reading(root=root)
    _read_text(text, base, reading, 0)
    reading.add_unknown(reading.variables.why_unknown())
    return Written(paths=tuple(reading.writes), unknown=reading.unknown, acts=reading.acts)


def _read_text(text: str, base: str | None, reading: _Reading, depth: int) -> None:
    if depth >= DEEPEST:
        reading.add_unknown("too many shells start one another")
        return
    try:
        script = read_script(text)
    except NotReadable as error:
        reading.add_unknown(str(error))
        return
    _Walk(reading, base, depth).script(script)


class _Walk:
    """Goes through the commands of a script in their order, and follows `cd`."""

    def __init__(self, reading: _Reading, base: str | None, depth: int) -> None:
        self._reading = reading
        self._folder = _Folder(path=base)
        self._depth = depth
        self._outer: list[_Folder] = []  # those of the shells around a subshell
        self._pushed: list[str | None] = []
        self._in_loop = False
        self._special: dict[str, Callable[[Sequence[Word], Sequence[Redirect]], None]] = {
            "cd": self._change_folder,
            "chdir": self._change_folder,
            "pushd": self._push_folder,
            "popd": self._pop_folder,
            "git": self._git,
            "eval": self._eval,
            "apply_patch": self._apply_patch,
            "applypatch": self._apply_patch,
            "patch": self._patch,
        }

    def script(self, script: Script) -> None:
        """Read all commands, and those of the substitutions in their words."""
        for nested in script.substitutions:
            self._reading.add_unknown("the result of a command substitution is not known")
            _Walk(self._reading, self._folder.path, self._depth).script(nested)
        self._reading.variables.read_script(script)
        self._reading.add_unknown(script.unknown)
        parsed = parse_commands(script.tokens)
        self._reading.add_unknown(parsed.unknown)
        self._reading.variables.evaluate(frozenset(parsed.evaluated))
        before = ""
        command = _Command()
        for token in [*parsed.tokens, Operator(text="\n")]:
            if not isinstance(token, Operator):
                _add(command, token)
                continue
            if token.text == "\n" and command.is_empty:
                continue  # a line may end after an operator
            self._run(
                command,
                is_in_pipe=before in _PIPES or token.text in (*_PIPES, "&"),
                is_alternative=before == "||",
            )
            self._after(token.text, command)
            command = _Command()
            before = token.text

    def _after(self, operator: str, command: _Command) -> None:
        """Note what an operator says of the folder of the commands that follow."""
        if operator == "(":
            self._in_loop = self._in_loop or bool(command.words)  # or a function
            self._outer.append(self._folder)
        elif operator == ")" and self._outer:
            self._folder = self._outer.pop()
        elif operator not in _GOES_ON and self._folder.has_moved:
            self._folder = structs.replace(self._folder, is_certain=False)

    def _run(self, command: _Command, *, is_in_pipe: bool, is_alternative: bool) -> None:
        """Read one command. In a pipe it has a process of its own, and changes no folder here."""
        self._in_loop = self._in_loop or any(word.text in _LOOPS for word in command.words)
        keywords = prefixes.leading_keywords(command.words)
        if keywords and keywords[-1].text in ("for", "select"):
            self._reading.variables.loop(command.words[len(keywords) :])
        is_negated = any(word.text == "!" for word in keywords)  # what follows it has failed
        words = self._expanded(prefixes.without_keywords(command.words))
        for redirect in command.redirects:
            self._redirect(redirect)
        folder = self._folder
        self._command(words, command.redirects)
        if is_in_pipe and not keywords:
            self._folder = folder
        elif (is_in_pipe or is_alternative or is_negated) and self._folder != folder:
            self._folder = _Folder(path=None, has_moved=True)  # also for a block in a pipe

    def _expanded(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words with their braces expanded; of programs that only read they may be unknown."""
        expanded = expansion.expand_words(words)
        name = expanded[0].text if expanded else ""
        if any(map(expansion.may_be_several, expanded)) and (
            name not in READERS or takes_names(name)
        ):
            self._reading.add_unknown("what the shell expands may be an option")
        return expanded

    def _redirect(self, redirect: Redirect) -> None:
        if redirect.variable:
            self._reading.variables.assign(redirect.variable, is_text=False)
        target = redirect.target
        if tree_paths.is_network(target.text) or not target.is_literal:
            self._reading.acts = True  # the shell itself opens a connection
        if redirect.operator not in _WRITING:
            if not redirect.body_is_data:
                self._reading.add_unknown("a heredoc holds what the shell expands")
            return
        if target.text == "!":
            self._reading.add_unknown("not every shell writes to the file !")
        if not redirect.is_stream and (target.text or not target.is_literal):
            self._write(target)

    def _command(self, words: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        folder = self._folder
        command = prefixes.without_wrappers(words)
        if command.unknown:
            self._reading.add_unknown(command.unknown)
        self._reading.variables.assign_words(command.assigned)
        for written in command.writes:
            self._write(written)
        if command.script:
            _read_text(command.script.text, folder.path, self._reading, self._depth + 1)
        words = command.words
        if not words:
            return
        is_pattern = words[0].has_glob and words[0].text not in ("[", "[[")
        if not words[0].is_literal or is_pattern or words[0].has_brace:
            self._reading.add_unknown("a variable names the program")
            return
        if command.folder is not None:
            self._enter(command.folder)
        self._program(words, redirects)
        if command.folder is not None or command.is_child:
            self._folder = folder

    def _program(self, words: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        text = words[0].text
        name = text.rpartition("/")[2]
        arguments = words[1:]
        if "/" in text and not prefixes.is_of_system(text):
            self._reading.add_unknown(_OWN_PROGRAM)
        self._reading.acts = self._reading.acts or name in ACTS
        special = self._special.get(name)
        self._reading.variables.builtin(name, arguments)
        if special is not None:
            special(arguments, redirects)
        elif name in shells.SHELLS:
            self._shell(name, arguments, redirects)
        elif name in PROGRAMS:
            self._add(PROGRAMS[name](arguments))
            self._doubt_options(arguments)
            self._reading.has_moved_links = self._reading.has_moved_links or name in _MOVES_LINKS
        elif name not in READERS:
            self._reading.add_unknown(f"{name[:40]} can write files")

    def _doubt_options(self, arguments: Sequence[Word]) -> None:
        """Words that the shell makes may be options, which decide what a program writes."""
        for word in arguments:
            is_pattern = word.has_glob and word.text[:1] in ("*", "?", "[")
            if not word.is_literal or is_pattern:
                self._reading.add_unknown("what the shell expands may be an option")

    def _git(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        command = split_command(arguments)
        before = self._folder
        for folder in command.folders:
            self._enter(folder)
        effect = git_effect(command)
        self._doubt_heredocs(redirects, is_read=command.name == "apply")
        self._reading.acts = self._reading.acts or command.name == ASKS_REMOTE
        if command.name == "apply":
            effect = patches.with_heredoc(effect, command.words, redirects, default_strip=1)
        self._add(effect)
        certain = {id(folder) for folder in command.folders if not folder.is_split}
        self._doubt_options([word for word in arguments if id(word) not in certain])
        self._folder = before

    def _shell(self, name: str, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        """A shell in the shell: a literal script is read, a file is not."""
        found = parse(arguments, "oO", ("rcfile", "init-file"), stops=True)
        if not shells.reads_as_told(found, arguments):
            self._reading.add_unknown("an option of the shell runs or reads other commands")
        if found.has("c"):
            script = found.operands[0] if found.operands else Word()
            if not shells.is_plain(name, script.text):
                self._reading.add_unknown("not every shell has braces and (( ))")
            if script.is_literal:
                _read_text(script.text, self._folder.path, self._reading, self._depth + 1)
            else:
                self._reading.add_unknown("a variable is part of a script")
            return
        self._doubt_heredocs(redirects, is_read=True)
        bodies = [redirect.body for redirect in redirects if redirect.body is not None]
        if bodies and not found.operands:
            _read_text(bodies[-1], self._folder.path, self._reading, self._depth + 1)
            return
        if not found.has("version", "help"):
            self._reading.add_unknown("a script can write files")

    def _doubt_heredocs(self, redirects: Sequence[Redirect], *, is_read: bool) -> None:
        """A heredoc that is read here as a script or a patch must be what the program gets."""
        if is_read and not all(redirect.is_verbatim for redirect in redirects):
            self._reading.add_unknown("the shell expands what is in a heredoc")

    def _patch(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        self._doubt_heredocs(redirects, is_read=True)
        effect = PROGRAMS["patch"](arguments)
        self._add(patches.with_heredoc(effect, arguments, redirects, default_strip=None))
        self._doubt_options(arguments)

    def _eval(self, arguments: Sequence[Word], _redirects: Sequence[Redirect]) -> None:
        self._reading.add_unknown("eval runs what its words become")
        if all(word.is_literal for word in arguments):
            text = " ".join(word.text for word in arguments)
            _read_text(text, self._folder.path, self._reading, self._depth + 1)

    def _apply_patch(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        self._doubt_heredocs(redirects, is_read=True)
        if any(redirect.operator == "<" for redirect in redirects):
            self._reading.add_unknown("what a patch changes is not in the command")
        texts = [word.text for word in arguments]
        texts += [redirect.body or redirect.target.text for redirect in redirects]
        named = patches.patched_paths("\n".join(texts))
        for path in named:
            self._write(Word(text=path))
        if not named:
            self._reading.add_unknown("what a patch changes is not in the command")

    def _push_folder(self, arguments: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        self._pushed.append(self._folder.path)
        self._change_folder(arguments or [Word(text="+1")], redirects)

    def _pop_folder(self, _arguments: Sequence[Word], _redirects: Sequence[Redirect]) -> None:
        path = self._pushed.pop() if self._pushed else None
        self._folder = _Folder(path=path, has_moved=True, is_certain=self._folder.is_certain)

    def _change_folder(self, arguments: Sequence[Word], _redirects: Sequence[Redirect]) -> None:
        operands = [word for word in arguments if word.text[:1] not in ("-", "+")]
        others = [word.text for word in arguments if word.text[:1] in ("-", "+")]
        if any(text not in ("--", "-L") for text in others):
            self._folder = _Folder(path=None, has_moved=True)
        else:
            self._enter(operands[0] if operands else Word(text="~", has_tilde=True))
        if self._in_loop:
            self._folder = structs.replace(self._folder, is_certain=False)

    def _enter(self, folder: Word) -> None:
        path = tree_paths.enter(self._folder.path, folder)
        self._folder = structs.replace(self._folder, path=path, has_moved=True)

    def _add(self, effect: Effect) -> None:
        if effect.unknown:
            self._reading.add_unknown(effect.unknown)
        for word in effect.writes:
            self._write(word)

    def _write(self, word: Word) -> None:
        """Note a path that is written, for each word that its braces stand for."""
        if not word.is_literal:
            self._reading.add_unknown("a variable is part of a path")
            return
        names = expansion.expand_braces(word)
        if names is None:
            self._reading.add_unknown("a pattern names too many paths")
            return
        for name in names:
            self._write_path(name, word)

    def _write_path(self, name: str, word: Word) -> None:
        if not name or tree_paths.is_stream(name):
            return
        if word.has_glob and expansion.starts_anywhere(name):
            self._reading.add_unknown("a pattern can match in any folder")
            return
        if word.has_tilde and not name.startswith("~/") and name != "~":
            self._reading.add_unknown("the home of another user is not known")
            return
        if word.has_glob:
            self._reading.add_unknown("a pattern can match more than one path")
        is_absolute = name.startswith("/") or word.has_tilde
        folder = self._folder.path
        if not is_absolute and folder is None:
            self._reading.add_unknown("the current folder is not known")
            return
        if not is_absolute and not self._folder.is_certain:
            self._reading.add_unknown("whether cd has changed the folder is not known")
        if not word.has_tilde and name.startswith("~"):
            name = f"./{name}"
        if not is_absolute and folder is not None and folder.startswith("~"):
            path = f"{folder}/{name}"
        else:
            base = folder or self._reading.root
            path = tree_paths.from_tree(name, base=base, root=self._reading.root)
        self._reading.add_path(path)


def _add(command: _Command, token: Token) -> None:
    if isinstance(token, Redirect):
        command.redirects.append(token)
    elif isinstance(token, Word):
        command.words.append(token)
