"""The verbs that act or print more than a verdict, one file each."""
