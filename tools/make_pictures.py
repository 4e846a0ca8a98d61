#!/usr/bin/env python3
"""Make the pictures of the documentation from a real fleet: `dos top` and the report.

    make_pictures.py [FOLDER]      writes top.svg and report.png (default: docs/pictures)

Runs the fleet of `dos demo` in a temporary folder. Needs tmux for the terminal and Chromium for the
page.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from dos.testing import demo

HOUSE = Path(__file__).parent.parent
WIDTH = 100
HEIGHT = 26
LANDED_IN_THE_PICTURE = 2
AT_WORK_IN_THE_PICTURE = 2
GIVE_UP_SECONDS = 120
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--window-size=1000,1150",
)


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HOUSE / "docs" / "pictures"
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None or shutil.which("tmux") is None:
        print(
            "make_pictures.py needs tmux and Chromium: apt install tmux chromium", file=sys.stderr
        )
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dos-pictures-") as home:
        repository = demo.build(Path(home))
        fleet = dos(repository, "up", "--until-idle", "--plain", "--tick", "0.5")
        screen = picture_of_top(repository, Path(home) / "tmux")
        (folder / "top.svg").write_text(as_svg(screen, "dos top"), encoding="utf-8")
        fleet.wait(GIVE_UP_SECONDS)
        page = Path(home) / "report.html"
        dos(repository, "report", "--html", str(page)).wait(GIVE_UP_SECONDS)
        take_picture(browser, page, folder / "report.png", Path(home) / "browser")
    print(f"wrote {folder / 'top.svg'} and {folder / 'report.png'}")
    return 0


def environment(repository: Path) -> dict[str, str]:
    """Keep the receipt key and the worktrees of this fleet inside the temporary folder."""
    home = repository.parent
    return {
        **os.environ,
        "DOS_RECEIPT_KEY": str(home / "receipt-key"),
        "XDG_STATE_HOME": str(home / "state"),
    }


def dos(repository: Path, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "dos", *words],
        cwd=repository,
        env=environment(repository),
        stdout=subprocess.DEVNULL,
    )


def status(repository: Path) -> Any:
    command = [sys.executable, "-m", "dos", "status", "--json"]
    answer = subprocess.run(
        command, cwd=repository, env=environment(repository), capture_output=True, check=True
    )
    return json.loads(answer.stdout)


def picture_of_top(repository: Path, socket: Path) -> str:
    """Run `dos top` in a terminal until enough has landed, and return its screen with colours."""
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    command = shlex.join([sys.executable, "-m", "dos", "top"])
    size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
    subprocess.run(
        [
            *tmux,
            "new-session",
            "-d",
            *size,
            "-c",
            str(repository),
            f"TERM=screen-256color {command}",
        ],
        env=environment(repository),
        check=True,
    )
    try:
        wait_for_landings(repository)
        time.sleep(0.5)  # the screen follows within a moment
        capture = [*tmux, "capture-pane", "-e", "-p"]
        return subprocess.run(capture, capture_output=True, text=True, check=True).stdout
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def wait_for_landings(repository: Path) -> None:
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        state = status(repository)
        landed = [unit for unit in state["units"] if unit["state"] == "landed"]
        at_work = [worker for worker in state["workers"] if worker["unit"]]
        enough = len(landed) >= LANDED_IN_THE_PICTURE
        if enough and len(at_work) >= AT_WORK_IN_THE_PICTURE:
            return
        time.sleep(0.3)
    raise SystemExit(
        f"the fleet landed fewer than {LANDED_IN_THE_PICTURE} units in {GIVE_UP_SECONDS} s"
    )


def as_svg(screen: str, title: str) -> str:
    """Draw a captured terminal screen; fonts are those of the viewer, nothing is fetched."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen.rstrip()), no_wrap=True, crop=True)
    start = CONSOLE_SVG_FORMAT.index("@font-face")
    end = CONSOLE_SVG_FORMAT.index(".{unique_id}-matrix")
    without_fonts = CONSOLE_SVG_FORMAT[:start] + CONSOLE_SVG_FORMAT[end:]
    return console.export_svg(title=title, code_format=without_fonts, unique_id="dos-top")


def take_picture(browser: str, page: Path, picture: Path, profile: Path) -> None:
    options = [*BROWSER_OPTIONS, f"--user-data-dir={profile}", f"--screenshot={picture.resolve()}"]
    subprocess.run(
        [browser, *options, page.as_uri()],
        check=True,
        stderr=subprocess.DEVNULL,
        timeout=GIVE_UP_SECONDS,
    )


if __name__ == "__main__":
    sys.exit(main())
