"""Does a command that was chosen for it pass? How it ended is the system's word."""

import shlex

from dos.machine import commands
from dos.text import quote
from dos.unknown import Unknown
from dos.witness.accountability import Accountability
from dos.witness.commands import cannot_fail
from dos.witness.fact import EvidenceFacts, attest, no_signal, refute
from dos.witness.io.writable import standing
from dos.world import World

NAME, RUNG = "exit", Accountability.OS_RECORDED
TIMEOUT_SECONDS = 120.0


def witness(world: World, subject: str, timeout_seconds: float = TIMEOUT_SECONDS) -> EvidenceFacts:
    try:
        words = shlex.split(subject)
    except ValueError as error:
        return no_signal(NAME, RUNG, subject, f"{quote(subject)} is not a command: {error}")
    if not words:
        return no_signal(NAME, RUNG, subject, "no command is given")
    if cannot_fail(words):
        return no_signal(
            NAME, RUNG, subject, f"{quote(subject)} cannot fail, so it witnesses nothing"
        )
    ran = commands.run(words, standing(world.workspace), timeout_seconds)
    if isinstance(ran, Unknown):
        return no_signal(NAME, RUNG, subject, ran.why)
    said = f"{quote(subject)} ended with {ran.code}"
    if ran.code == 0:
        return attest(NAME, RUNG, subject, said)
    return refute(NAME, RUNG, subject, f"{said}: {ran.complaint}" if ran.complaint else said)
