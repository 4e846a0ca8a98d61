"""This machine: its processes, commands and filesystems."""
