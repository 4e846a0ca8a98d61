"""`python -m dos`: the same as the `dos` command."""

from dos.cli.main import main

if __name__ == "__main__":
    main()
