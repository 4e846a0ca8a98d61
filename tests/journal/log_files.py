"""Lane logs of released versions, and our own lines, as files that tests write and read."""

import io
import json

from dos.journal.transfer.transfer import export


def rec(op, lane="api", loop_ts="t1", **fields):
    return {"op": op, "lane": lane, "loop_ts": loop_ts, **fields}


def acquire(lane="api", loop_ts="t1", **body):
    lease = {
        "lane": lane,
        "loop_ts": loop_ts,
        "lane_kind": "cluster",
        "tree": [f"{lane}/**"],
        **body,
    }
    return rec("ACQUIRE", lane, loop_ts, lease=lease)


def written(path, records, end="\n"):
    lines = [
        record if isinstance(record, str) else json.dumps(record, sort_keys=True)
        for record in records
    ]
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


def keys(live):
    return [(lease.get("loop_ts"), lease.get("lane")) for lease in live]


K = ("t1", "api")


def exported(store, **options):
    text = io.StringIO()
    count = export(store, text, **options)
    lines = text.getvalue().split("\n")[:-1]
    assert len(lines) == count
    assert lines == text.getvalue().splitlines()
    return [json.loads(line) for line in lines]


def moved(tmp_path, source, name="export.jsonl"):
    with (tmp_path / name).open("w", encoding="utf-8") as file:
        export(source, file)
    return tmp_path / name
