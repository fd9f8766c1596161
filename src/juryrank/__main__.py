"""``python -m juryrank``: the command line, also where its command is not on the path."""

from juryrank.cli import main

if __name__ == "__main__":
    main()
