"""What mypy says of a few lines that use the package."""

import re
from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[1]
MARK = "# refused"


def check(lines: str, folder: Path) -> None:
    """mypy --strict refuses each line that ends with the mark, and no other."""
    file = folder / "snippet.py"
    file.write_text(lines)
    # With the cache that lint has filled: else it looks at the whole package first.
    words = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    said, _, _ = api.run([*words, "--no-error-summary", str(file)])
    marked = {number for number, line in enumerate(lines.splitlines(), 1) if line.endswith(MARK)}
    assert {int(number) for number in re.findall(r"snippet\.py:(\d+): error", said)} == marked, said
