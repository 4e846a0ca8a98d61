"""What a worker or a supervisor does before it takes a lease: check its settings, import its modules.

An upgrade replaces the files of the package under a running fleet. A process that began with one version finishes with
it; a module imported at use would be of another version, or be gone.
"""

from importlib import import_module

from dos.agents import registry
from dos.config.schema import Config
from dos.errors import BadInput

MODULES = (
    "dos.config.explain",
    "dos.config.past_errors",
    "dos.config.toml_text",
    "dos.git.drivers",
    "dos.journal.backends.memory",
    "dos.journal.backends.sqlite",
    "dos.journal.events.catalog",
    "dos.journal.events.catalog",
    "dos.reasons.table",
    "dos.units.io.beads",
    "dos.units.io.command",
    "dos.verify.io.corroborate",
    *(f"dos.agents.{name}" for name in registry.NAMES),
)


def load() -> None:
    """Import them all. PostgreSQL's backend is imported as the journal is opened: before a lease is taken, too."""
    for name in MODULES:
        import_module(name)


def check_settings(config: Config) -> None:
    """What each for itself is right, and together is not."""
    workers = config.workers
    if workers.isolation == "shared" and (workers.landing == "branch" or workers.remote):
        other = (
            'landing = "branch"' if workers.landing == "branch" else f"remote = {workers.remote!r}"
        )
        raise BadInput(
            f'[workers] isolation = "shared" works on the target branch of the one tree, and {other} lands elsewhere',
            hint="dos config unset workers.isolation",
        )
