"""Is a file there, with a digest or a text in it? Most files are in reach of whoever claims something about them."""

import os
from hashlib import sha256

from dos.text import quote
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io import writable
from dos.world import World

NAME = "file"
SEPARATOR = "||"
DIGEST, TEXT = "sha256=", "contains="


def witness(world: World, subject: str) -> EvidenceFacts:
    """`PATH`, `PATH||sha256=HEX` or `PATH||contains=TEXT`."""
    name, _, wanted = subject.partition(SEPARATOR)
    if not name.strip():
        return no_signal(NAME, Accountability.AGENT_AUTHORED, subject, "no file is named")
    if wanted and not wanted.startswith((DIGEST, TEXT)):
        why = f"{quote(wanted)} is neither {DIGEST}HEX nor {TEXT}TEXT"
        return no_signal(NAME, Accountability.AGENT_AUTHORED, subject, why)
    path = world.workspace.root / name.strip()
    rung = writable.rung(world, path)
    data = writable.contents(path)
    if isinstance(data, Unknown):
        # pathlib raises for a name that no system can have.
        gone = os.path.isdir(path.parent) and not os.path.lexists(path)  # noqa: PTH112
        said = f"{quote(name)} is not there"
        return (
            refute(NAME, rung, subject, said) if gone else no_signal(NAME, rung, subject, data.why)
        )
    if (
        wanted.startswith(DIGEST)
        and sha256(data).hexdigest() != wanted.removeprefix(DIGEST).strip().lower()
    ):
        return refute(NAME, rung, subject, f"{quote(name)} has another digest")
    if wanted.startswith(TEXT) and wanted.removeprefix(TEXT).encode() not in data:
        return refute(
            NAME, rung, subject, f"{quote(name)} does not hold {quote(wanted.removeprefix(TEXT))}"
        )
    return attest(
        NAME, rung, subject, f"{quote(name)} is there{f' with {wanted}' if wanted else ''}"
    )
