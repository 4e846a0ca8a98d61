"""Drawing on a terminal: the page of `dos top`, the live table of `dos up`, and progress lines.

Everything here is for people who watch: none of it is used with --json or where stdout is no
terminal, except the page, which `dos top --once` prints as plain text.
"""
