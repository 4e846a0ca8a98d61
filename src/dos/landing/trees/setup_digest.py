"""The digest of all that decides what a setup command makes: the command and the lock files."""

import re
from collections.abc import Iterable
from hashlib import sha256

from dos.git.repository import Reader

# Files that pin what a setup installs, wherever they lie in a tree.
LOCK_FILES = frozenset({
    "Cargo.lock", "Gemfile.lock", "Manifest.toml", "Package.resolved", "Pipfile.lock",
    "Podfile.lock", "bun.lock", "bun.lockb", "cabal.project.freeze", "composer.lock", "conan.lock",
    "conda-lock.yml", "deno.lock", "elm-stuff.lock", "environment.yaml", "environment.yml",
    "flake.lock", "go.sum", "gradle.lockfile", "mix.lock", "npm-shrinkwrap.json",
    "package-lock.json", "packages.lock.json", "paket.lock", "pdm.lock", "pixi.lock",
    "pnpm-lock.yaml", "poetry.lock", "pubspec.lock", "pylock.toml", "rebar.lock", "shard.lock",
    "stack.yaml.lock", "uv.lock", "yarn.lock",
})  # fmt: skip
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)")
LENGTH = 16  # characters of a digest


def is_lock_file(path: str) -> bool:
    """Whether a file pins what a setup installs, by its name."""
    folder, _, name = path.rpartition("/")
    if name in LOCK_FILES or _REQUIREMENTS.fullmatch(name):
        return True
    return folder.rpartition("/")[2] == "requirements" and name.endswith(".txt")


def setup_digest(git: Reader, commit: str, command: str) -> str:
    """Return the digest of a setup command and of the lock files of a commit.

    Without a command it is the same for every commit: there is nothing that a setup could make.
    """
    if not command:
        return digest([])
    listing = git.run("ls-tree", "-r", "-z", "--full-tree", commit)
    entries = []
    for entry in listing.split("\0"):
        if is_lock_file(entry.partition("\t")[2]):
            entries.append(entry)
    return digest([command, *entries])


def digest(texts: Iterable[str]) -> str:
    """Return the digest of some texts, in their order."""
    summed = sha256()
    for text in texts:
        summed.update(text.encode("utf-8", "surrogateescape") + b"\0")
    return summed.hexdigest()[:LENGTH]
