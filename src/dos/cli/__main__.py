"""`python -m dos.cli`: the same as the `dos` command, under the name that dos-kernel gave it."""

from dos.cli.main import main

if __name__ == "__main__":
    main()
