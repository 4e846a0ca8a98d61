"""How much a lane may hand over at once.

The values are far above what a unit of work needs and below what harms the machine that checks it.
"""

from msgspec import Struct

MEGABYTE = 1_000_000


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of one hand-over. A hand-over that exceeds one is refused with its name."""

    pack_bytes: int = 500 * MEGABYTE
    """size of the pack as it is sent"""
    object_bytes: int = 250 * MEGABYTE
    """size of one file, uncompressed"""
    total_bytes: int = 2_000 * MEGABYTE
    """size of all new objects together, uncompressed"""
    structure_bytes: int = 32 * MEGABYTE
    """size of one commit or folder, uncompressed: these are read into memory"""
    total_structure_bytes: int = 250 * MEGABYTE
    """size of all new commits and folders together, uncompressed"""
    objects: int = 500_000
    """number of new objects"""
    commits: int = 10_000
    """number of commits that the base does not have"""
    paths: int = 500_000
    """number of changed paths; a few small folders that hold one another can stand for billions"""
    parents: int = 2
    """parents of a commit"""
    depth: int = 256
    """folders above a file: some git commands crash at 20,000, and recursive programs at 1,000"""
    path_bytes: int = 1_024
    """length of a path: systems take 4,096, and the folder of a work tree comes before it"""
    name_bytes: int = 255
    """length of one name: the most that file systems take"""
    link_bytes: int = 1_024
    """length of the target of a symbolic link"""
    seconds: float = 300.0
    """time for the whole hand-over, also while nothing is sent"""
    cpu_seconds: int = 120
    """processor time of each git that checks"""
    memory_bytes: int = 1 << 30
    """address space of each git that checks: a delta needs its base, itself and its result, so
    this is four times `object_bytes`. A pack of 231 bytes can ask for gigabytes"""

    @property
    def file_bytes(self) -> int:
        """The largest file that the git that checks may write.

        A thin pack is completed with objects of the repository, so it grows.
        """
        return 2 * self.pack_bytes + 16 * MEGABYTE
