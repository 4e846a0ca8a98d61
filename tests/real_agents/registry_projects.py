"""Real projects from the registries, as git repositories with a tag: downloaded once into the cache
of the tests."""

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from installing import FOLDER, Unavailable

CACHE = FOLDER.parent / "projects"
SECONDS = 600.0
# What building an archive adds to the files of a project.
GENERATED = ("PKG-INFO", "*.egg-info", "src/*.egg-info", "src/*/_version.py", ".cargo*.json")


def from_pypi(folder: Path, name: str, version: str) -> None:
    """Unpack the source archive of a Python package into a folder."""
    archive = CACHE / f"{name}-{version}.tar.gz"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    _download(archive, [*pip, "--dest", str(CACHE), f"{name}=={version}"])
    _unpack(archive, folder)


def from_npm(folder: Path, name: str, version: str) -> None:
    archive = CACHE / f"{name}-{version}.tgz"
    npm = ["npm", "pack", "--silent", "--pack-destination", str(CACHE), f"{name}@{version}"]
    _download(archive, npm)
    _unpack(archive, folder)


def from_debian(folder: Path, package: str) -> None:
    """Copy a crate, which Debian has as a package of its sources."""
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise Unavailable("crates are taken from packages of Debian, and there is no apt-get")
    archive = CACHE / f"{package}.deb"
    fetch = 'apt-get -qq download "$1" && mv "$1"_*.deb "$2"'
    _download(archive, ["sh", "-c", fetch, "sh", package, str(archive)])
    unpacked = folder.with_name(f"{folder.name}-package")
    subprocess.run(["dpkg", "-x", archive, unpacked], check=True)
    (crate,) = unpacked.glob("usr/share/cargo/registry/*")
    shutil.copytree(crate, folder, dirs_exist_ok=True)
    _remove_generated(folder)


def _download(archive: Path, command: Sequence[str]) -> None:
    if archive.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{archive.name} cannot be downloaded: {error}") from error
    if done.returncode or not archive.exists():
        raise Unavailable(f"{archive.name} cannot be downloaded: {done.stderr.strip()[-300:]}")


def _unpack(archive: Path, folder: Path) -> None:
    """Into the folder itself: the archive has one folder around all of its files."""
    with tarfile.open(archive) as opened:
        opened.extractall(folder.with_name(f"{folder.name}-archive"), filter="data")
    (inner,) = folder.with_name(f"{folder.name}-archive").iterdir()
    shutil.copytree(inner, folder, dirs_exist_ok=True)
    _remove_generated(folder)


def _remove_generated(folder: Path) -> None:
    for pattern in GENERATED:
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
