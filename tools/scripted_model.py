#!/usr/bin/env python3
"""A scripted language model on loopback, so that real agent programs can be run offline.

    scripted_model.py --script steps.json [--port 8970] [--log requests.jsonl]

Its first line of output is the address that it listens on; without --port that is a free one.
The steps of a script are described in src/dos/testing/scripted_model.py.
"""

import argparse
import json
from pathlib import Path

from dos.testing.scripted_model import ScriptedModel


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--script", required=True, help="a JSON file: the steps")
    parser.add_argument("--log", help="append one JSON line per request here")
    args = parser.parse_args()
    script = json.loads(Path(args.script).read_text(encoding="utf-8"))
    model = ScriptedModel(script, log=Path(args.log) if args.log else None, port=args.port)
    print(model.url, flush=True)
    model.serve()


if __name__ == "__main__":
    main()
