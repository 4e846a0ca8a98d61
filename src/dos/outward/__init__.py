"""What leaves the workspace: verdicts on record, exports of them, messages to people."""
