"""One table of stops, holds and refusals.

`find` in `table` looks a reason up by its token; `policy` is the table [reasons] of `dos.toml`.
"""
