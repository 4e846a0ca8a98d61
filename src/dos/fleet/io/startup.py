"""What a worker or a supervisor does before it takes a lease: check settings, import modules.

An upgrade replaces the files of the package under a running fleet. A process that began with one
version finishes with it; a module that is imported later would be of the other version, or gone.
"""

from importlib import import_module

from dos.agents import registry
from dos.config.schema import Config
from dos.errors import BadInput

MODULES = (
    "dos.config.explain",
    "dos.config.toml_text",
    "dos.git.drivers",
    "dos.journal.backends.memory",
    "dos.journal.backends.sqlite",
    "dos.journal.events.kinds",
    "dos.reasons.table",
    "dos.units.io.beads",
    "dos.units.io.command",
    "dos.verify.io.corroborate",
    *(f"dos.agents.{name}" for name in registry.NAMES),
)


def load() -> None:
    """Import all modules that may be needed later.

    The PostgreSQL backend is imported as the journal is opened, which is before a lease, too.
    """
    for name in MODULES:
        import_module(name)


def check_settings(config: Config) -> None:
    """Raise BadInput for settings of [workers] that contradict one another."""
    workers = config.workers
    if workers.isolation != "shared":
        return
    if workers.landing == "branch":
        other = 'landing = "branch"'
    elif workers.remote:
        other = f"remote = {workers.remote!r}"
    else:
        return
    raise BadInput(
        f'[workers] isolation = "shared" works in the one tree of the target branch,'
        f" and {other} lands elsewhere",
        hint="dos config unset workers.isolation",
    )
