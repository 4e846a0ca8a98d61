"""The verbs that read and tend the journal."""
