"""The fence of a lane in git: a ref that names the newest lease of the lane.

The journal decides who holds a lane. The ref lets git itself refuse a worker whose lease was taken
over: a branch moves in one ref transaction that also verifies the fence.
"""

from dos.errors import Fenced
from dos.git.repository import Reader, Writer
from dos.text import slug

PREFIX = "refs/dos/fence/"


def fence_ref(lane: str) -> str:
    """Return the ref that holds a lane's fence."""
    return f"{PREFIX}{slug(lane)}"


def raise_fence(git: Writer, lane: str, fence: int) -> None:
    """Write the fence of a new lease to git. From then on an older one cannot move a branch.

    Raises Fenced if git has a newer fence: a fence only goes up.
    """
    ref = fence_ref(lane)
    new = git.run("hash-object", "-w", "--stdin", feed=_text(fence)).strip()

    def raised(old: str | None) -> str:
        if old and _fence_in(git, old) > fence:
            raise Fenced(
                f"git has a newer fence for lane {lane!r} than {fence}",
                hint="If the journal was deleted on purpose: "
                f"git -C {git.tree} update-ref -d {ref}",
            )
        return new

    git.change_ref(ref, raised)


def is_newest(git: Writer, lane: str, fence: int) -> bool:
    """Whether git still has this fence for the lane."""
    return git.object_of(fence_ref(lane)) == _object(git, fence)


def verify_line(git: Writer, lane: str, fence: int) -> str:
    """Return the line of `git update-ref --stdin` that demands that this fence is the newest."""
    return f"verify {fence_ref(lane)} {_object(git, fence)}\n"


def newest_fence(git: Reader, lane: str) -> int | None:
    """Return the fence that git has for a lane; None if it has none, or the ref holds another text.

    An agent can write any object to the ref, so its text is not trusted to be a number.
    """
    answer = git.run("cat-file", "--batch", feed=f"{fence_ref(lane)}\n").split()
    for word in answer:
        number = word.removeprefix("fence=")
        if number != word and number.isdecimal():
            return int(number)
    return None


def _text(fence: int) -> str:
    return f"fence={fence}\n"


def _object(git: Writer, fence: int) -> str:
    """Return the name of the blob that a fence is stored as, without writing it."""
    return git.run("hash-object", "--stdin", feed=_text(fence)).strip()


def _fence_in(git: Writer, blob: str) -> int:
    return int(git.run("cat-file", "blob", blob).strip().removeprefix("fence="))
