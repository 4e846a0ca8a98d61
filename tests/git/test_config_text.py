"""Values that dos writes into git's configuration files are read back by git as they were."""

import os
import subprocess

import pytest

from dos.git.config_text import quoted

VALUES = [
    "plain", "two words", " at the edges ", "Grüße an Åsa", "日本", 'a "quoted" word',
    "back\\slash", "# no comment; nor this", "tab\tand\nline", os.fsdecode(b"\xff\xfe"), "",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_git_reads_a_value_back_as_it_was(tmp_path, value):
    file = tmp_path / "config"
    file.write_bytes(os.fsencode(f"[a]\n\tb = {quoted(value)}\n"))
    words = ["git", "config", "--file", str(file), "--null", "--get", "a.b"]
    read = subprocess.run(words, check=True, capture_output=True)
    assert os.fsdecode(read.stdout) == f"{value}\0"
