"""Where units come from: plan documents, beads, a command of the user."""
