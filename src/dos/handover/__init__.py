"""Taking over the commits of an untrusted repository: what may come in, and how it is checked."""
