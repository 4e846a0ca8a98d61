"""Generated histories: commits on branches, written as a real repository by one fast-import."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st
from msgspec import Struct, field

from dos.verify.io import verifier
from dos.verify.io.verifier import Ask
from dos.verify.shipped import Verdict
from dos.world import World

Lines = tuple[str, ...]
Tree = dict[str, Lines]  # path -> lines

UNITS = [("AUTH", "AUTH1"), ("AUTH", "AUTH2"), ("PAY", "PAY1")]
PATHS = ("src/a.py", "src/deep/b.py", "lib/c.ts", "tests/test_d.py", "notes.md")
PLAIN_FORMS = (
    "{id}: do it", "{plan}: {id} do it", "{plan} {id} do it", "src/{id}: do it", "{id}:",
    "do it\n\nUnit: {plan}/{id}", "do it\n\nWhy not.\n\nShips: {plan} {id}\nSigned-off-by: A <a@b>",
    "v1.2.3: {id} and more", "v1.2.3: more\n\nIn short:\n- {id} do it\n",
    "[{id}] do it", "{id} - do it", "feat({id}): do it", "do it, closes {id}",
    "do it\n\nCloses {id}",
)  # fmt: skip
FAINT_FORMS = (
    "feat({plan}): {id} do it", "feat: do it ({plan} {id})", "feat: do it ({plan} {id}) (#42)",
    "{id}, ZED9: both",
    "ZED9 + {id}: both", "{plan}: {id}, ZED9", "{plan}: ZED9/{id} both",
    "A branch (#7)\n\n* {id}: do it\n\n* ZED9: it",
    "do it\n\nCloses ZED9, {id}", "[ZED-9][{id}] do it",
)  # fmt: skip
UNFINISHED_FORMS = ("{id}: WIP", "wip/{id}: do it", "{plan}: {id} not done")
FORMS = (*PLAIN_FORMS, *FAINT_FORMS, *UNFINISHED_FORMS)
# They name no unit, and some of them nearly do.
STRANGE = (
    "tidy up",
    "Phase 1: other",
    "ZED9: other",
    "AUTH: other",
    "AUTH11: other",
    "say AUTH1 and PAY1",
    "x\n\nAUTH1",
)


_FAST = ("-c", "core.fsync=none", "-c", "fastimport.unpackLimit=0")


class Node(Struct, frozen=True, kw_only=True):
    message: str
    tree: Tree
    parents: tuple[int, ...] = ()
    reverts: int | None = None


class Move(Struct, frozen=True, kw_only=True):
    """What happens next: the numbers pick from whatever there is by then."""

    kind: str
    branch: int = 0
    pick: int = 0
    amount: int = 1
    message: str = "tidy up"


class Story(Struct):
    """Branches as they grow. The first one is `main`."""

    nodes: list[Node] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)  # the newest node of each
    lines: int = 0
    clock: str = "steady"  # steady, still, backwards: what committer dates are worth

    def __post_init__(self) -> None:
        if not self.nodes:
            self.nodes.append(
                Node(message="begin", tree={"src/a.py": ("start = 1",), "README.md": ("hello",)})
            )
            self.branches.append(0)

    @property
    def tip(self) -> int:
        return self.branches[0]

    def tree(self, branch: int = 0) -> Tree:
        return self.nodes[self.branches[branch]].tree

    def add(
        self,
        message: str,
        tree: Tree,
        *,
        branch: int = 0,
        merged: int | None = None,
        reverts: int | None = None,
    ) -> int:
        parents = (self.branches[branch], *(() if merged is None else (merged,)))
        self.nodes.append(Node(message=message, tree=tree, parents=parents, reverts=reverts))
        self.branches[branch] = len(self.nodes) - 1
        return self.branches[branch]

    def fresh(self, amount: int) -> Lines:
        """Lines that nobody wrote before."""
        self.lines += amount
        return tuple(f"value_{self.lines - each} = {self.lines - each}" for each in range(amount))

    def play(self, move: Move) -> None:
        branch = move.branch % len(self.branches)
        tree = dict(self.tree(branch))
        path = sorted(tree)[move.pick % len(tree)] if tree else PATHS[0]
        match move.kind:
            case "work":
                place = PATHS[move.pick % len(PATHS)]
                tree[place] = (*tree.get(place, ()), *self.fresh(move.amount))
            case "change" if tree:
                tree[path] = (*tree[path][move.amount :], *self.fresh(1))
            case "rewrite" if tree:
                tree[path] = self.fresh(move.amount + 2)
            case "shorten" if tree:
                tree[path] = tree[path][: -move.amount] or ("left = 0",)
            case "delete" if tree:
                del tree[path]
            case "rename" if tree:
                suffix = path.rpartition(".")[2]
                tree[f"moved/{len(self.nodes)}.{suffix}"] = tree.pop(path)
            case "declare":
                unit, place = UNITS[move.pick % len(UNITS)], PATHS[move.amount % len(PATHS)]
                plan = f"docs/{unit[0].lower()}-plan.md"
                tree[plan] = (
                    *tree.get(plan, ())[:9],
                    f"## {unit[0]} {unit[1]}: do it",
                    f"- paths: {place}",
                    "",
                )
            case "configure":
                tree["dos.toml"] = ("[verify]", f'require = "{("live", "named")[move.pick % 2]}"')
            case "fork":
                self.branches.append(self.branches[branch])
                return
            case "merge" | "ours":
                other = self.branches[move.pick % len(self.branches)]
                if other in self.ancestors(self.branches[branch]):
                    return
                merged = tree if move.kind == "ours" else self._merged(self.branches[branch], other)
                self.add("Merge it", merged, branch=branch, merged=other)
                return
            case "revert":
                line = self.first_parents(self.branches[branch])
                self.revert(line[move.pick % len(line)], branch)
                return
        self.add(move.message, tree, branch=branch)

    def revert(self, number: int, branch: int = 0) -> int:
        """Revert as git does: undo in the present tree what the commit did to its parent."""
        node = self.nodes[number]
        before = self.nodes[node.parents[0]].tree if node.parents else {}
        subject = node.message.partition("\n")[0]
        tree = _patched(self.tree(branch), before=node.tree, after=before)
        return self.add(f'Revert "{subject}"', tree, branch=branch, reverts=number)

    def ancestors(self, number: int) -> set[int]:
        found, waiting = set(), [number]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += self.nodes[each].parents
        return found

    def first_parents(self, number: int) -> list[int]:
        found = [number]
        while parents := self.nodes[found[-1]].parents:
            found.append(parents[0])
        return found

    def _merged(self, ours: int, theirs: int) -> Tree:
        shared = max(self.ancestors(ours) & self.ancestors(theirs))
        return _patched(
            self.nodes[ours].tree, before=self.nodes[shared].tree, after=self.nodes[theirs].tree
        )


def _patched(tree: Tree, *, before: Tree, after: Tree) -> Tree:
    """What differs between two trees, done to a third one line by line."""
    found = dict(tree)
    for path in before.keys() | after.keys():
        old, new, now = before.get(path), after.get(path), tree.get(path)
        if old == new:
            continue
        if now == old or (new is None and now is None):
            lines = new
        else:
            taken, put = (
                set(old or ()) - set(new or ()),
                [line for line in new or () if line not in (old or ())],
            )
            lines = (
                *(line for line in now or () if line not in taken),
                *(line for line in put if line not in (now or ())),
            )
            lines = None if not lines and new is None else lines
        if lines is None:
            found.pop(path, None)
        else:
            found[path] = lines
    return found


class Written:
    """A story as a repository."""

    def __init__(self, root: Path, story: Story) -> None:
        self.root, self.story = root, story
        git(root, "init", "--quiet", "--template=", "--initial-branch=main")
        self.shas = _imported(root, story)

    def verify(self, unit: tuple[str, str], at: int | None = None, **ask: object) -> Verdict:
        """The verdict on a unit at a node; without the index, unless it is asked for."""
        ref = self.shas[self.story.tip if at is None else at]
        return verifier.verify(
            World(self.root), [unit], Ask(**{"ref": ref, "uses_index": False, **ask})
        )[0]


def git(root: Path, *words: str, feed: bytes | None = None) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    done = subprocess.run(
        ["git", *words], cwd=root, input=feed, capture_output=True, env=kept | own
    )
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode().strip()


def _imported(root: Path, story: Story) -> list[str]:
    """The name of every node. What a revert says is only known once what it reverts has a name."""
    shas: list[str] = []
    with subprocess.Popen(
        ["git", *_FAST, "fast-import", "--quiet", "--force", "--done"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout
        for number, node in enumerate(story.nodes):
            message = node.message
            if node.reverts is not None:
                message += f"\n\nThis reverts commit {shas[node.reverts]}.\n"
            parents = [
                f"{word} :{each + 1}"
                for word, each in zip(("from", "merge"), node.parents, strict=False)
            ]
            head = [
                "commit refs/heads/work",
                f"mark :{number + 1}",
                f"committer A <a@b> {_time(story, number)} +0000",
            ]
            body = [_data(message), *parents, "deleteall"]
            files = [
                f"M 644 inline {path}\n{_data(_text(lines))}" for path, lines in node.tree.items()
            ]
            process.stdin.write(
                "\n".join([*head, *body, *files, f"get-mark :{number + 1}\n"]).encode()
            )
            process.stdin.flush()
            shas.append(process.stdout.readline().decode().strip())
        refs = [f"reset refs/heads/work\nfrom {'0' * 40}\n"]
        names = ["main", *(f"side{number}" for number in range(1, len(story.branches)))]
        refs += [
            f"reset refs/heads/{name}\nfrom :{node + 1}\n"
            for name, node in zip(names, story.branches, strict=True)
        ]
        process.stdin.write("\n".join([*refs, "done\n"]).encode())
        process.stdin.close()
        assert process.wait() == 0
    return shas


def _text(lines: Lines) -> str:
    return "".join(f"{line}\n" for line in lines)


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}"


def _time(story: Story, number: int) -> int:
    return (
        1_700_000_000 + {"steady": 60 * number, "still": 0, "backwards": -60 * number}[story.clock]
    )


@contextmanager
def written(story: Story) -> Iterator[Written]:
    with tempfile.TemporaryDirectory(prefix="dos-history-") as home:
        yield Written(Path(home), story)


def told(moves: list[Move], clock: str = "steady") -> Story:
    story = Story(clock=clock)
    for move in moves:
        story.play(move)
    return story


def messages(units: list[tuple[str, str]]) -> st.SearchStrategy[str]:
    """Most of them name one of the units, in any of the ways."""
    named = st.builds(
        lambda form, unit: form.format(plan=unit[0], id=unit[1]),
        st.sampled_from(FORMS),
        st.sampled_from(units),
    )
    return named | named | st.sampled_from(STRANGE) if units else st.sampled_from(STRANGE)


KINDS = (
    "work", "work", "work", "change", "rewrite", "shorten", "delete", "rename", "fork", "merge",
    "ours", "revert",
    "claim",
)  # fmt: skip


def moves(
    units: list[tuple[str, str]] = UNITS, kinds: tuple[str, ...] = KINDS
) -> st.SearchStrategy[Move]:
    return st.builds(
        Move,
        kind=st.sampled_from(kinds),
        branch=st.integers(0, 5),
        pick=st.integers(0, 9),
        amount=st.integers(1, 4),
        message=messages(units),
    )


def stories(
    most: int = 14, clocks: tuple[str, ...] = ("steady",), **drawn: object
) -> st.SearchStrategy[Story]:
    return st.builds(
        told, st.lists(moves(**drawn), min_size=3, max_size=most), st.sampled_from(clocks)
    )


# What does not concern any unit: its own files, and messages that name none.
NOISE: st.SearchStrategy[list[Callable[[Story], object]]] = st.lists(
    st.builds(
        lambda kind, message, pick: lambda story: _noise(story, kind, message, pick),
        st.sampled_from(["file", "empty", "branch", "delete", "rename"]), st.sampled_from(STRANGE),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
)  # fmt: skip


def _noise(story: Story, kind: str, message: str, pick: int) -> None:
    tree, path = dict(story.tree()), f"noise/{pick}.py"
    match kind:
        case "delete":
            tree.pop(path, None)
        case "rename" if path in tree:
            tree[f"noise/moved_{len(story.nodes)}.py"] = tree.pop(path)
        case "file" | "branch":
            tree[path] = (*tree.get(path, ()), *story.fresh(2))
    if kind != "branch":
        story.add(message, tree)
        return
    begun = story.tip
    other = story.add(message, tree)
    story.branches[0] = begun
    story.add("Merge a branch", tree, merged=other)
