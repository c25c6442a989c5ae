"""The model `clerk` in the frameworks that people use: the same schema, the same prompts; is it the same text?

transformers runs with our processor, Outlines, guidance and lm-format-enforcer with their own masks, and the real
engines in our loop, each from the schema that it compiles itself. The masks are compared along our greedy text.
guidance pins an llguidance that is older than the one of the extra `engines`, so run this in both environments: with
`--json` a row that ran before and cannot run here stays in the file.
"""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.about import describe
from bench.mask_reasons import Difference, Relaxed, compare_masks
from guidedviz.decoding.loop import record
from guidedviz.errors import GuidedVizError, shorten
from guidedviz.extras import installed, need
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.models.load import embedded_folder, load_model
from guidedviz.serving.logits_processor import LogitsProcessor
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines.constraint import ask
from guidedviz.tokens.engines.engine_guide import PREPARE, RealGuide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.machine_guide import guide

CUE = "\nJSON with order, customer (name, city), items (item, count):\n"
PROMPTS = (
    f"Order 4711: 2 lamps and 12 chairs for Ada Lovelace in London.{CUE}",
    f"Order 4712: 120 lamps for Grace Hopper in Lisbon.{CUE}",  # more than the schema allows
)
MOST = 200  # tokens
HOT = 2.0  # the temperature of the sample: at 1, clerk writes its greedy text
TEXT = {"type": "string"}
ORDER: dict[str, Any] = {  # as Pydantic writes the class Order of lab 13, without titles
    "$defs": {
        "Customer": {"type": "object", "properties": {"name": TEXT, "city": TEXT}, "required": ["name", "city"]},
        "Item": {
            "type": "object",
            "properties": {"item": TEXT, "count": {"type": "integer", "minimum": 1, "maximum": 99}},
            "required": ["item", "count"],
        },
    },
    "type": "object",
    "properties": {
        "order": {"type": "integer"},
        "customer": {"$ref": "#/$defs/Customer"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
    },
    "required": ["order", "customer", "items"],
}
Masks = Callable[[Sequence[int]], list[Mask]]


@dataclass(frozen=True)
class Row:
    """What one framework did."""

    name: str
    version: str
    loop: str  # whose loop sampled: two samples are comparable in the same loop only
    said: str = ""  # why it did not run, or what had to be done
    texts: tuple[str, ...] = ()  # greedy, one per prompt; none if it did not run
    same: tuple[bool, ...] = ()  # whether each is ours
    sample: str = ""  # of the first prompt, at temperature 2, with seed 0
    same_sample: bool | None = None  # None if no other row has its loop
    steps: int = 0
    differ: int | None = None  # steps whose mask is not ours; None if it shows no mask
    differences: tuple[Difference, ...] = ()


class Place:
    """The model in NumPy and in torch, our guide, and our texts."""

    def __init__(self) -> None:
        self.model = load_model("clerk", "numpy")
        self.vocabulary = self.model.vocabulary
        self.guide: Guide = guide(json_schema(ORDER), self.vocabulary)
        self.traces = [record(self.model, prompt, self.guide, temperature=0, max_tokens=MOST) for prompt in PROMPTS]
        self.tokens = self.traces[0].tokens

    @cached_property
    def network(self) -> Any:
        """The weights in transformers."""
        need("torch", "hub", "bench frameworks")
        cls = need("transformers", "hub", "bench frameworks").AutoModelForCausalLM
        return cls.from_pretrained(embedded_folder("clerk"), dtype="float32").eval()

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer in transformers."""
        return need("transformers", "hub", "bench frameworks").AutoTokenizer.from_pretrained(embedded_folder("clerk"))

    def generate(self, prompt: str, seed: int | None, **settings: Any) -> str:
        """A text by transformers' generate: greedy, or sampled with a seed."""
        torch = need("torch", "hub", "bench frameworks")
        ids = self.tokenizer(prompt, return_tensors="pt")
        torch.manual_seed(seed or 0)
        out = self.network.generate(**ids, **sampling(seed), **settings)
        return str(self.tokenizer.decode(out[0][ids["input_ids"].shape[1] :], skip_special_tokens=True))


def sampling(seed: int | None) -> dict[str, Any]:
    """The settings of generate, greedy without a seed."""
    drawn = {"do_sample": True, "temperature": HOT, "top_k": 0} if seed is not None else {"do_sample": False}
    return {"max_new_tokens": MOST} | drawn


Write = Callable[[str, int | None], str]  # a prompt and a seed, or None for greedy


def run_ours(place: Place) -> tuple[Write, Masks, str]:
    """Our guide in transformers."""

    def write(prompt: str, seed: int | None) -> str:
        return place.generate(prompt, seed, logits_processor=[LogitsProcessor(place.guide)])

    def masks(tokens: Sequence[int]) -> list[Mask]:
        processor, none = LogitsProcessor(place.guide, 0), np.zeros((1, len(place.vocabulary)), np.float32)
        return [processor(np.array([[*tokens[:end]]], np.int64), none)[0] > -np.inf for end in range(len(tokens))]

    return write, masks, ""


def run_outlines(place: Place) -> tuple[Write, Masks, str]:
    """Outlines with its own backend for JSON."""
    outlines, torch = need("outlines", "frameworks"), need("torch", "hub")
    model = outlines.from_transformers(place.network, place.tokenizer)
    generator = outlines.Generator(model, outlines.json_schema(ORDER))

    def write(prompt: str, seed: int | None) -> str:
        torch.manual_seed(seed or 0)
        return str(generator(prompt, **sampling(seed)))

    def masks(tokens: Sequence[int]) -> list[Mask]:
        processor, size = generator.logits_processor, len(place.vocabulary)
        processor.reset()
        rows = [torch.tensor([[0, *tokens[:end]]]) for end in range(len(tokens))]
        return [(processor(row, torch.zeros(1, size))[0] > -np.inf).numpy() for row in rows]

    return write, masks, ""


def run_guidance(place: Place) -> tuple[Write, Masks, str]:
    """guidance with its transformers model; its sampler draws from NumPy's old global generator."""
    guidance, llguidance = need("guidance", "frameworks"), need("llguidance", "frameworks")

    def write(prompt: str, seed: int | None) -> str:
        np.random.seed(seed or 0)
        model = guidance.models.Transformers(place.network, place.tokenizer, echo=False)
        return str(
            (model + prompt + guidance.json("reply", schema=ORDER, temperature=0 if seed is None else HOT))["reply"]
        )

    def masks(tokens: Sequence[int]) -> list[Mask]:
        inside, size = need("llguidance.numpy", "frameworks"), len(place.vocabulary)
        tokenizer = llguidance.hf.from_tokenizer(place.tokenizer)
        matcher = llguidance.LLMatcher(tokenizer, guidance.json(schema=ORDER).ll_grammar(), log_level=0)
        words, found = inside.allocate_token_bitmask(1, size), []
        for token in tokens:
            inside.fill_next_token_bitmask(matcher, words, 0)
            found.append(np.unpackbits(words[0].view(np.uint8), bitorder="little")[:size].astype(np.bool_))
            matcher.consume_token(token)
        return found

    return write, masks, find_crop_fault(place)


def find_crop_fault(place: Place) -> str:
    """What guidance says when a model reads a second text: it crops the cache in a way that transformers 5 removed."""
    guidance = need("guidance", "frameworks")
    model = guidance.models.Transformers(place.network, place.tokenizer, echo=False)
    try:
        for prompt in PROMPTS:
            str(model + prompt + guidance.gen(max_tokens=1))
    except Exception as error:  # transformers raises it
        why = str(error).partition(". ")[0]
        return f"one text per model; a second text: {shorten(why, 80)}"
    return ""


def run_enforcer(place: Place) -> tuple[Write, Masks, str]:
    """lm-format-enforcer; where its transformers integration cannot be imported, its core with the same token list."""
    need("lmformatenforcer", "frameworks")
    core = import_module("lmformatenforcer.tokenenforcer")
    try:
        data = import_module("lmformatenforcer.integrations.transformers").build_token_enforcer_tokenizer_data(
            place.tokenizer
        )
        said = ""
    except ImportError as error:
        why = str(error.__context__ or error).partition(" from ")[0]
        said = f"its core; its integration: {shorten(why, 80)}"
        data = _token_data(core, place)
    parser = import_module("lmformatenforcer").JsonSchemaParser

    def write(prompt: str, seed: int | None) -> str:
        enforcer = core.TokenEnforcer(data, parser(ORDER))

        def allowed(_row: int, ids: Any) -> Any:
            return enforcer.get_allowed_tokens(ids.tolist()).allowed_tokens

        return place.generate(prompt, seed, prefix_allowed_tokens_fn=allowed)

    def masks(tokens: Sequence[int]) -> list[Mask]:
        enforcer, found = core.TokenEnforcer(data, parser(ORDER)), []
        for end in range(len(tokens)):
            mask = np.zeros(len(place.vocabulary), np.bool_)
            mask[enforcer.get_allowed_tokens([0, *tokens[:end]]).allowed_tokens] = True
            found.append(mask)
        return found

    return write, masks, said


def _token_data(core: Any, place: Place) -> Any:
    """What the integration builds: each token's text after a "0", and whether it begins a word."""
    tokenizer, size = place.tokenizer, len(place.vocabulary)
    zero, texts = tokenizer.encode("0")[-1], []
    for token in sorted(set(range(size)) - set(tokenizer.all_special_ids)):
        after, alone = tokenizer.decode([zero, token])[1:], tokenizer.decode([token])
        texts.append((token, after, len(after) > len(alone)))
    decode = lambda ids: tokenizer.decode(ids).rstrip("\ufffd")  # noqa: E731
    return core.TokenEnforcerTokenizerData(texts, decode, tokenizer.eos_token_id, False, size)


def run_engine(name: str, place: Place) -> tuple[Write, Masks, str]:
    """A real engine in our loop, with the schema that it compiles itself."""
    masked = RealGuide(name, ask(ORDER), place.vocabulary)

    def write(prompt: str, seed: int | None) -> str:
        temperature = 0 if seed is None else HOT
        return record(place.model, prompt, masked, temperature=temperature, seed=seed or 0, max_tokens=MOST).text

    def masks(tokens: Sequence[int]) -> list[Mask]:
        state, found = masked.initial, []
        for token in tokens:
            found.append(masked.mask(state))
            state = masked.advance(state, token)
        return found

    return write, masks, ""


Run = Callable[[Place], tuple[Write, Masks, str]]
FRAMEWORKS: dict[str, tuple[str, Run]] = {
    "transformers, our processor": ("generate", run_ours),
    "outlines": ("generate", run_outlines),
    "lm-format-enforcer": ("generate", run_enforcer),
    "guidance": ("guidance", run_guidance),
    **{name: ("ours", partial(run_engine, name)) for name in PREPARE},
}


def bench(options: Namespace) -> dict[str, Any]:
    """Run every framework that is installed, print the table, and return the record."""
    about = {"date": describe()["date"], "device": f"cpu, {os.cpu_count()} cores"}
    place, relaxed = Place(), Relaxed(ORDER)
    samples = {"ours": record(place.model, PROMPTS[0], place.guide, temperature=HOT, seed=0, max_tokens=MOST).text}
    rows = []
    with TemporaryDirectory() as folder:
        os.environ["OUTLINES_CACHE_DIR"] = folder  # Outlines would read the index of an earlier run
        for name, (loop, run) in FRAMEWORKS.items():
            if options.only in name:
                rows.append(run_one(place, relaxed, Row(name, version_of(name), loop), run, samples))
    old = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    found = keep_old([asdict(row) for row in rows], old.get("rows", []))
    ours = {"texts": [trace.text for trace in place.traces], "sample": samples["ours"], "steps": len(place.tokens)}
    whole = {"about": about, "prompts": PROMPTS, "ours": ours, "rows": found}
    print(show_record(whole))
    return whole


def version_of(name: str) -> str:
    """The version of the framework's package, with the package that computes its masks."""
    package = name.partition(",")[0]
    inner = {"outlines": "outlines-core", "guidance": "llguidance"}.get(package)
    return installed(package) + (f", {inner} {installed(inner)}" if inner and installed(package) else "")


def run_one(place: Place, relaxed: Relaxed, row: Row, run: Run, samples: dict[str, str]) -> Row:
    """The row of a framework; its error, if it cannot run."""
    try:
        write, masks, said = run(place)
        texts = [write(prompt, None) for prompt in PROMPTS]
        sample = write(PROMPTS[0], 0)
        differences = compare_masks(place.guide, relaxed, place.tokens, masks(place.tokens))
    except Exception as error:  # each framework raises its own kinds
        seen = error.seen if isinstance(error, GuidedVizError) and error.seen else str(error) or type(error).__name__
        return replace(row, said=shorten(seen.splitlines()[0], 120))
    ours = [trace.text for trace in place.traces]
    first = samples.get(row.loop)
    samples.setdefault(row.loop, sample)
    return replace(
        row,
        said=said,
        texts=tuple(texts),
        same=tuple(one == other for one, other in zip(texts, ours, strict=True)),
        sample=sample,
        same_sample=None if first is None else sample == first,
        steps=len(place.tokens),
        differ=len({step for each in differences for step in each.steps}),
        differences=tuple(differences),
    )


def keep_old(rows: list[dict[str, Any]], old: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows, but a row that ran before and not now as it was; rows that were not asked for stay, too.

    >>> keep_old([{"name": "a", "texts": ()}], [{"name": "a", "texts": ["x"]}, {"name": "b", "texts": []}])
    [{'name': 'a', 'texts': ['x']}, {'name': 'b', 'texts': []}]
    """
    now, before = ({row["name"]: dict(row) for row in each} for each in (rows, old))
    names = dict.fromkeys([*now, *before])
    return [now[name] if name in now and (now[name]["texts"] or name not in before) else before[name] for name in names]


def show_record(found: Mapping[str, Any]) -> str:
    """The record as a table."""
    lines = [f"{found['about']['date'][:10]}, {found['about']['device']}, {found['ours']['steps']} steps"]
    heads = ("framework", "version", "greedy", "120", "sample", "masks differ", "mostly")
    lines.append(_line(heads))
    return "\n".join([*lines, *(_line(cells_of(row)) for row in found["rows"])])


def _line(cells: Sequence[str]) -> str:
    return f"{cells[0]:28}{cells[1]:30}" + "".join(f"{cell:10}" for cell in cells[2:5]) + f"{cells[5]:14}{cells[6]}"


def cells_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A row in words: name, version, same greedy texts, same sample, masks that differ, and why."""
    if not row["texts"]:
        return row["name"], row["version"] or "not installed", "did not run", "", "", "", row["said"]
    same = ["same" if each else "differs" for each in row["same"]]
    sample = {True: "same", False: "differs", None: "-"}[row["same_sample"]]
    mostly = max(row["differences"], key=lambda each: len(each["steps"]), default={"reason": ""})["reason"]
    return row["name"], row["version"], *same, sample, f"{row['differ']} of {row['steps']}", mostly
