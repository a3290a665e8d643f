"""The command line. Commands make the same calls as the pages: results go to files or stdout, progress to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

from .commands.catalogue import COMMANDS, overview
from .commands.printable import Printable
from .environment import program, use_one_thread
from .errors import CrubricError

NAME = "crubric"
INTERRUPTED = "Query interrupted"  # message of the error that DuckDB raises on Ctrl-C
SERVERS = "dashboard"  # the commands of this module leave the terminal to Streamlit
CLOSED = 141  # exit code of a command whose reader closed the pipe (128 + SIGPIPE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    arguments: by default those of the process. 0: success. 2, with one line on stderr: the input, a file or the disk is
    at fault. 130: interrupted. CLOSED, without a message: the reader of the output stopped early (``| head``).
    """
    use_one_thread()
    words = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr: a terminal may lack a character
    for word in words:
        if word.encode("utf-8", "replace").decode() != word:
            print(
                f"{NAME}: {word!a} is not UTF-8: rename it, or set a UTF-8 locale (LC_ALL).",
                file=sys.stderr,
            )
            return 2
    first = next((word for word in words if not word.startswith("-")), "")
    if first in COMMANDS and COMMANDS[first].module == SERVERS:
        return _run(first, words)
    with redirect_stdout(Printable(sys.stdout)), redirect_stderr(Printable(sys.stderr)):
        return _run(first, words)


def _run(first: str, words: Sequence[str]) -> int:
    try:
        args = build_parser([first] if first in COMMANDS else []).parse_args(words)
        run: Callable[[argparse.Namespace], None] = args.run
        run(args)
        sys.stdout.flush()
    except CrubricError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        _discard_output()
        return CLOSED
    except OSError as error:
        print(f"{NAME}: {error.filename or 'the output'}: {error.strerror or error}.", file=sys.stderr)
        _discard_output()
        return 2
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and str(error) != INTERRUPTED:
            raise
        print(f"{NAME}: stopped; no partial output remains.", file=sys.stderr)
        return 130
    return 0


def _discard_output() -> None:
    """Discard output that is still buffered, which Python would try to write again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser(names: Iterable[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """A parser for the commands ``names``, whose modules are loaded; other commands are registered by name only."""
    start, *rest = program()
    name = " ".join([Path(start).stem, *rest])  # without the folders, for short lines
    parser = _Parser(
        prog=name,
        usage="%(prog)s [-h] [--version] COMMAND ...",
        description="Compact rubric banks and tiered leaderboards from judge labels.",
        epilog=f"{overview()}\n\n`{name} COMMAND --help` describes the options of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", help=argparse.SUPPRESS, prog=name, parser_class=_Command
    )
    for module in dict.fromkeys(COMMANDS[name].module for name in names):
        import_module(f".commands.{module}", __package__).add(commands)
    for other in COMMANDS:
        if other not in commands.choices:
            commands.add_parser(other, add_help=False)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose error message is one line that refers to --help, instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with code 2."""
        self.exit(2, f"{NAME}: {message}. See `{self.prog} --help`.\n")


class _Command(_Parser):
    """A parser that accepts positional arguments anywhere between the options."""

    _mixing = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse options and positional arguments in any order, or in argparse's usual way if there is a ``--``.

        The intermixed parsing of argparse drops ``--``, and it calls this method again, once for the options and once
        for the rest.
        """
        if self._mixing or "--" in args:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


class _Version(argparse.Action):
    """Print the version and exit. The version is looked up only when the option is used."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and stop")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(NAME, version("calibrated-rubric"))
        except PackageNotFoundError:
            print(NAME, "(a checkout that is not installed)")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
