"""The logs of released versions: their records, their runs, and what an import of one is written as."""
