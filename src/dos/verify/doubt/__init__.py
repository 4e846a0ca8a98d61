"""By what grammar a commit message says that its work is not done."""
