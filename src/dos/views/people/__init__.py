"""What a person is asked, and what a person paid."""
