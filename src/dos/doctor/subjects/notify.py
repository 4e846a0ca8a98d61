"""[notify]: messages to people can be sent by what is configured.

Nothing is sent, and no plugin is loaded.
"""

from dos.config import fix_commands
from dos.doctor.subjects.finding import Finding, edit_commands, warning
from dos.errors import BadInput
from dos.text import nearest_names
from dos.world import World

WHY = "`dos notify` exits 2, and nobody is told about open decisions."


def examine(world: World) -> list[Finding]:
    """Return why `dos notify` could not send, by its settings and by this environment."""
    settings = world.config.notify
    if settings == type(settings)():
        return []
    from dos.outward.io.notifiers import BUILT_IN, Target, known_notifiers, open_notifier

    known = known_notifiers()
    if settings.notifier in known and settings.notifier not in BUILT_IN:
        return []  # only its package can tell
    target = Target(
        root=world.workspace.root,
        url=settings.url,
        channel=settings.channel,
        command=settings.command,
        timeout_seconds=settings.timeout_seconds,
    )
    try:
        open_notifier(settings.notifier, target)
    except BadInput as problem:
        fix = edit_commands(world).for_key("notify", "notifier")
        near = nearest_names(settings.notifier, known, 1)
        if settings.notifier not in known and near:
            fix = fix_commands.set_command(("notify", "notifier"), near[0])
        return [warning("NOTIFIER_UNUSABLE", problem.message, f"{WHY} {problem.hint}", fix)]
    return []
