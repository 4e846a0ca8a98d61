"""Every flag that the contract of dos-kernel names still parses, and where a verb is gone, the page
on compatibility says why."""

import re
from pathlib import Path

import pytest

from dos.verbs import lookup
from dos.verbs.listing.table import VERBS

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
# Of every verb: `dos --help` lists them.
GLOBAL = {"--json", "--output", "--explain", "--pretty", "--workspace"}
# verb, and the flags of its own that dos-kernel has; `<X>` is a positional.
RELEASED = """
verify <PAIRS> --no-ci
commit-audit <REF> --warn-only --docs-ok --sweep
verify-result --transcript
coverage --declared --transcript --transcripts-glob --states --min-quorum
liveness --run-id --start-sha --lane --loop-ts --last-heartbeat-age-ms --pid --host-id --no-proc
  --now-ms
productivity --deltas --min-steps --floor
efficiency --work --tokens --min-tokens --floor
improve --suite-passed --truth-clean --work --baseline-work --tokens --consecutive-reverts
  --max-reverts --efficiency-floor --min-tokens --narrated
complete --run-id --diverged
test-witness --baseline --candidate --forgeable
reconcile <UNIT> --claimed-done --oracle-shipped --no-oracle-shipped --plan --phase
reward --claim --no-claim --witness --forgeable --narrated
answer-shape --text --file --min-chars --non-answer --markers
attest --claim --narrated --accept-cmd --before --after --third-party --key-file --timestamp
verify-receipt --receipt --key-file
arg-provenance --tool --args --prior --prior-file --task-text --new-key --read
memory-recall <NAME> --store
memory-verify --store --route
arbitrate --lane --kind --tree --leases --force --class-budget
lease-lane-acquire --lane --kind --tree --owner --run-id --loop-ts --leases --retries
  --retry-interval
lease-lane-release --lane --owner --loop-ts
lease-lane-heartbeat --lane --owner --loop-ts --coalesce-within-s
lease-lane-spawn --lane --owner --loop-ts --run-id --reason
lease-lane-live
scope-gate --lane --file --staged --base --head
pickable <UNIT> --state --now-ms
enumerate <PLAN_DOC> --series --shipped
cooldown <UNIT> --now-ms --attempts
pick-priority <UNIT> --attempts
gate <SIDECAR> --picks-json
breaker --consecutive --total --max-consecutive --max-total --on-trip
exec-capability --command --extra
health --lane --tree --leases-json --own-lease-ts --window --git-log-file
scout --state-json
lint --strict
run-id-mint <PROCESS> --parent --root
status <RUN_ID> --start-sha --lane --loop-ts --last-heartbeat-age-ms --now-ms --stopped --live
resume --run-id --diverged --no-record
rewind --run-id --fire
trace <RUN_ID>
journal-tail <NUMBER>
journal-replay
journal-seq
journal-compact
lease-acquire <OWNER> --retries --retry-interval --ttl-seconds
lease-release <OWNER> --force
lease-status --ttl-seconds
halt --handle --lane --loop-ts --owner --reason --run-id --command --resumable --resume-sha
id-alloc-allocate <SCOPE> --start
id-alloc-peek <SCOPE>
init <DIRECTORY> --force --example --skills --skill --all --hooks --with-hooks --dry-run
quickstart --keep
doctor --check
exit-codes <VERB>
man <SECTION>
decisions <NUMBER> --all --no-tui
top --once --interval
plan <PAIRS> --source --once --interval
helped --session --since
observe --run --syscall --by --tail
notify-decisions --notifier --channel --url --token --dry-run --all --top
notify-top --notifier --channel --url --token --dry-run
export --to --path --host --port --endpoint --since --tail --follow --follow-interval --follow-max
  --dry-run
reap --apply --journal
judge-eval --cases
overlap-eval --cases
intervention-eval --cases
tool-stream-eval --cases
precursor-gate-eval --cases
reindex --prune
projects --stale
learn <AXIS>
loop --target --max-concurrency --watch --interval --now-ms
watch --track --discover --budget-ms --command --repropose-ms --watch --max-ticks --interval
  --now-ms
guard <COMMAND> --no-mcp --verify-on-stop --claim-prompt --strict-mcp --print-config
hook-pretool --handler --dialect --debug
hook-posttool --session-id --dialect --debug
hook-stop --transcript --plan --phase --last-turns --strict --force --dialect
hook-marker --session-id --loop --reset --max-markers --debug
hook-exit --code --map
"""
ROWS = re.sub(r"\n  +", " ", RELEASED).strip().splitlines()
NAMES = {name.replace(" ", "-"): name for name in VERBS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split()[0])
def test_a_released_verb_takes_its_flags_or_the_page_says_why_not(row):
    name, *words = row.split()
    left_out = PAGE.read_text().partition("## Refused")[2]
    verb = VERBS.get(NAMES.get(name, ""))
    if verb is None:
        assert f"`{name}`" in left_out, f"there is no verb {name}, and the page does not say why"
        return
    assert f"| `{name}`" not in left_out, "the page says that it is left out"
    fields = lookup.load_module(verb)
    arguments = lookup.fields(fields.Args)
    flags = {flag for each in arguments for flag in (each.flag, *each.option.flags)} | GLOBAL
    missing = [word for word in words if word.startswith("--") and word not in flags]
    stated = [word for word in missing if f"`{name} {word}`" in left_out]
    assert missing == stated, "these flags are gone, and the page does not say why"
    if any(word.startswith("<") for word in words):
        assert any(each.option.positional for each in arguments)
