"""Which unit may be offered now, and why one is not worked on."""
