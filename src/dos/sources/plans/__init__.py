"""Where units come from: plan documents, beads, a command of the user; and the packets made of them."""
