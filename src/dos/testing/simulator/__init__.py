"""A whole fleet on a virtual clock: the real supervisor, worker and journal, with faults."""
