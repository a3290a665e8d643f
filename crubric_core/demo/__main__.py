"""``python -m crubric_core.demo FOLDER`` writes the small CSV sample into FOLDER."""

from __future__ import annotations

import argparse
from pathlib import Path

from .writing import write_sample


def main() -> None:
    """Read the command line and write the files."""
    parser = argparse.ArgumentParser(
        prog="python -m crubric_core.demo", description="Write the small CSV sample."
    )
    parser.add_argument("folder", type=Path, help="where the sample files go, such as data")
    parser.add_argument("--seed", type=int, default=0, help="seed of the simulation (default 0)")
    arguments = parser.parse_args()
    for path in write_sample(arguments.folder, arguments.seed):
        print(path)


if __name__ == "__main__":
    main()
