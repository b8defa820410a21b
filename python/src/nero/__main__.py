"""`python -m nero` is the program nero of this interpreter."""

import os
import sys

from nero._find import ProgramMismatch, ProgramNotFound, find_nero


def main() -> None:
    """Becomes the program, with the arguments of this process."""
    try:
        program = find_nero()
    except (ProgramMismatch, ProgramNotFound) as e:
        print(f"nero: {e}", file=sys.stderr)
        sys.exit(2)
    if sys.platform != "win32":
        os.execv(program, [program, *sys.argv[1:]])
    import subprocess

    with subprocess.Popen([program, *sys.argv[1:]]) as p:
        while True:
            try:
                sys.exit(p.wait())
            except KeyboardInterrupt:  # the program got it as well, and ends by itself
                continue


if __name__ == "__main__":
    main()
