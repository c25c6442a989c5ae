"""The model `clerk` in the frameworks that people use: the same schema, the same prompts; is it the same text?

transformers runs with our processor, Outlines, guidance and lm-format-enforcer with their own masks, and the real
engines in our loop, each from the schema that it compiles itself. The masks are compared along our greedy text.
guidance pins an llguidance that is older than the one of the extra `engines`, so the frameworks need an environment of
their own: `pip install -e ".[hub,frameworks]"`. assets/bench/frameworks.json has the rows of both.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np

import guidedviz as gv
from bench import print_about
from guidedviz.errors import shorten
from guidedviz.extras import installed, need
from guidedviz.models.load import embedded_folder
from guidedviz.tokens.build_guide import RealGuide
from guidedviz.tokens.compare import ask
from guidedviz.tokens.engines import PREPARE, prepared

CUE = "\nJSON with order, customer (name, city), items (item, count):\n"
PROMPTS = (
    f"Order 4711: 2 lamps and 12 chairs for Ada Lovelace in London.{CUE}",
    f"Order 4712: 120 lamps for Grace Hopper in Lisbon.{CUE}",  # more than the schema allows
)
MOST = 200  # tokens
HOT = 2.0  # the temperature of the sample: at 1, clerk writes its greedy text
TEXT = {"type": "string"}
ORDER: dict[str, Any] = {  # as Pydantic writes the class Order of lab 14, without titles
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
Masks = Callable[[Sequence[int]], list[Any]]


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
    differ: tuple[str, ...] = ()  # one line per step whose mask is not ours


class Place:
    """The model in NumPy and in torch, our guide, and our texts."""

    def __init__(self) -> None:
        self.model = gv.load_model("clerk", "numpy")
        self.vocabulary = self.model.vocabulary
        self.guide = gv.guide(gv.json_schema(ORDER), self.vocabulary)
        self.traces = [gv.record(self.model, prompt, self.guide, temperature=0, max_tokens=MOST) for prompt in PROMPTS]
        self.sample = gv.record(self.model, PROMPTS[0], self.guide, temperature=HOT, seed=0, max_tokens=MOST).text

    @cached_property
    def network(self) -> Any:
        """The weights in transformers."""
        cls = need("transformers", "hub", "bench frameworks").AutoModelForCausalLM
        return cls.from_pretrained(embedded_folder("clerk"), dtype="float32").eval()

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer in transformers."""
        return need("transformers", "hub", "bench frameworks").AutoTokenizer.from_pretrained(embedded_folder("clerk"))

    def generate(self, prompt: str, seed: int | None, **settings: Any) -> str:
        """A text by transformers' generate: greedy, or sampled with a seed."""
        ids = self.tokenizer(prompt, return_tensors="pt")
        need("torch", "hub", "bench frameworks").manual_seed(seed or 0)
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
        return place.generate(prompt, seed, logits_processor=[gv.LogitsProcessor(place.guide)])

    def masks(tokens: Sequence[int]) -> list[Any]:
        processor, none = gv.LogitsProcessor(place.guide), np.zeros((1, len(place.vocabulary)), np.float32)
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

    def masks(tokens: Sequence[int]) -> list[Any]:
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

    def masks(tokens: Sequence[int]) -> list[Any]:
        inside, size = need("llguidance.numpy", "frameworks"), len(place.vocabulary)
        tokenizer = llguidance.hf.from_tokenizer(place.tokenizer)
        matcher = llguidance.LLMatcher(tokenizer, guidance.json(schema=ORDER).ll_grammar(), log_level=0)
        words, found = inside.allocate_token_bitmask(1, size), []
        for token in tokens:
            inside.fill_next_token_bitmask(matcher, words, 0)
            found.append(np.unpackbits(words[0].view(np.uint8), bitorder="little")[:size].astype(np.bool_))
            matcher.consume_token(token)
        return found

    return write, masks, ""


def run_enforcer(place: Place) -> tuple[Write, Masks, str]:
    """lm-format-enforcer's core, with the list of tokens that its transformers integration builds."""
    need("lmformatenforcer", "frameworks")
    core = import_module("lmformatenforcer.tokenenforcer")
    data = _token_data(core, place)  # its integration does not import with transformers 5
    parser = import_module("lmformatenforcer").JsonSchemaParser

    def write(prompt: str, seed: int | None) -> str:
        enforcer = core.TokenEnforcer(data, parser(ORDER))

        def allowed(_row: int, ids: Any) -> Any:
            return enforcer.get_allowed_tokens(ids.tolist()).allowed_tokens

        return place.generate(prompt, seed, prefix_allowed_tokens_fn=allowed)

    def masks(tokens: Sequence[int]) -> list[Any]:
        enforcer, found = core.TokenEnforcer(data, parser(ORDER)), []
        for end in range(len(tokens)):
            mask = np.zeros(len(place.vocabulary), np.bool_)
            mask[enforcer.get_allowed_tokens([0, *tokens[:end]]).allowed_tokens] = True
            found.append(mask)
        return found

    return write, masks, "its core, with our list of tokens"


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
    asked = ask(ORDER)
    masked = RealGuide(name, asked.machine, place.vocabulary, prepared(name, place.vocabulary)(asked))

    def write(prompt: str, seed: int | None) -> str:
        temperature = 0 if seed is None else HOT
        return gv.record(place.model, prompt, masked, temperature=temperature, seed=seed or 0, max_tokens=MOST).text

    def masks(tokens: Sequence[int]) -> list[Any]:
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
    about, place = print_about(), Place()
    samples = {"ours": place.sample}
    rows = [
        run_one(place, Row(name, installed(name.partition(",")[0]), loop), run, samples)
        for name, (loop, run) in FRAMEWORKS.items()
        if options.only in name
    ]
    print(show_rows(rows, len(place.traces[0].tokens)))
    ours = {"texts": [trace.text for trace in place.traces], "sample": place.sample}
    return {"about": about, "prompts": PROMPTS, "ours": ours, "rows": [asdict(row) for row in rows]}


def run_one(place: Place, row: Row, run: Run, samples: dict[str, str]) -> Row:
    """The row of a framework; its error, if it cannot run."""
    try:
        write, masks, said = run(place)
        texts = [write(prompt, None) for prompt in PROMPTS]
        sample = write(PROMPTS[0], 0)
        differ = compare_masks(place.guide, place.traces[0].tokens, masks(place.traces[0].tokens))
    except Exception as error:  # each framework raises its own kinds
        return replace(row, said=shorten((str(error) or type(error).__name__).splitlines()[0], 120))
    first = samples.setdefault(row.loop, sample)
    return replace(
        row,
        said=said,
        texts=tuple(texts),
        same=tuple(text == trace.text for text, trace in zip(texts, place.traces, strict=True)),
        sample=sample,
        same_sample=sample == first,
        differ=differ,
    )


def compare_masks(guide: Any, tokens: Sequence[int], masks: Sequence[Any]) -> tuple[str, ...]:
    """One line per step of our text whose mask is not ours: how many tokens more and fewer, and the first one."""
    state, lines = guide.initial, []
    for step, (token, theirs) in enumerate(zip(tokens, masks, strict=True)):
        ours = guide.mask(state)
        if (other := np.flatnonzero(ours != theirs)).size:
            counts = f"+{(theirs & ~ours).sum():,} -{(ours & ~theirs).sum():,}"
            lines.append(f"step {step}: {counts}, {guide.vocabulary.display(int(other[0]))}")
        state = guide.advance(state, token)
    return tuple(lines)


def show_rows(rows: Sequence[Row], steps: int) -> str:
    """The rows as a table."""
    lines: list[tuple[str, ...]] = [("framework", "version", "greedy", "120", "sample", "masks differ", "first")]
    for row in rows:
        if row.texts:
            same = ["same" if each else "differs" for each in (*row.same, row.same_sample)]
            lines.append((row.name, row.version, *same, f"{len(row.differ)} of {steps}", " ".join(row.differ[:1])))
        else:
            lines.append((row.name, row.version or "not installed", "", "", "", "did not run", row.said))
    wide = (28, 30, 10, 10, 10, 14, 0)
    return "\n".join("".join(f"{cell:{size}}" for cell, size in zip(line, wide, strict=True)) for line in lines)
