"""Which text of a plan or of `dos.toml` counts, and what approves one."""
