"""What a person changes by a verb is approved: the fleet that runs uses it, and asks nobody."""

from dos.approval.io import approve
from dos.config.load import LoadedConfig
from dos.errors import DosError
from dos.verbs.context import Context, actor


def approved(context: Context, edited: LoadedConfig) -> list[str]:
    """Warnings: why the change is in the file, and not in effect for a fleet that runs."""
    try:
        warning = approve.approve_edit(context.world.workspace, edited, by=actor())
    except DosError as error:
        warning = f"the change is saved, but not approved ({error.message}); the next `dos up` approves it"
    return [warning] if warning else []
