"""The pack that a lane sends, checked in a quarantine folder and moved into the repository."""
