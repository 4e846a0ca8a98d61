"""A commit of a person's own files, made when a person says so."""

import os
from collections.abc import Sequence
from pathlib import Path

from dos.git.repository import Writer


def commit(root: Path, paths: Sequence[str], message: str) -> str:
    """Commit these files alone, as the user; the new commit. Ignored ones are added too."""
    git = Writer(root)
    git.run("add", "--force", "--", *paths)
    git.run(*_identity(), "commit", "--quiet", "-m", message, "--", *paths)
    return git.commit_of("HEAD") or ""


def _identity() -> list[str]:
    """Who commits, where only the environment says so: git is started without it."""
    known = (("user.name", "GIT_AUTHOR_NAME"), ("user.email", "GIT_AUTHOR_EMAIL"))
    return [
        word
        for key, name in known
        if (value := os.environ.get(name))
        for word in ("-c", f"{key}={value}")
    ]
