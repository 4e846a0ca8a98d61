"""Imports what a worker or a supervisor may need later, before it takes a lease.

An upgrade replaces the files of the package under a running fleet. A process that began with one version finishes with
it; a module imported at use would be of another version, or be gone.
"""

from importlib import import_module

from dos.agents import registry

MODULES = (
    "dos.config.explain",
    "dos.config.past_errors",
    "dos.config.toml_text",
    "dos.git.drivers",
    "dos.journal.backends.memory",
    "dos.journal.backends.sqlite",
    "dos.journal.events.catalog",
    "dos.journal.events.upgrades",
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
