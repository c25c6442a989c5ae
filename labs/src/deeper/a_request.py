# %% [markdown]
# # Deeper · A request, end to end
#
# **Question.** You use a server that somebody else runs. How do you ask for a constraint, what comes back, and how
# do you learn what the mask changed?
#
# **Goal.** You can send any constraint to a server, pin its engine, use a reply before it is complete, and bound Z from
# the log-probabilities that a server sends.
#
# **Time.** {minutes} minutes, one exercise. [Lab 14](../14_in_production.ipynb) comes before this page.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **structured outputs** | the providers' name for constrained decoding |
# | **strict** | the provider enforces the schema; without it, the schema is only a hint for the model |
# | **structural tag** | free text in which some marked parts are constrained (lab 12: `gv.tagged`) |
# | **tool-call parser** | finds tool calls in the text that was written; it is no mask |
# | **reasoning parser** | separates the reasoning from the answer; the mask begins after it |
# | **log-probability** | the natural logarithm of a probability: −0.69 for 0.5 |

# %%
import importlib
import json

import numpy as np
from pydantic import BaseModel
from pydantic_core import from_json

import guidedviz as gv
from guidedviz.host.here import start_host

try:
    import openai
except ImportError:  # urllib sends the same requests
    openai = None

clerk = gv.load_model("clerk")

# %% [markdown]
# ## 1 · Ask
#
# A shop reads orders. The schema is a Pydantic class. The server is a host of `clerk` in this notebook: it takes the
# fields of OpenAI, vLLM and SGLang, as the command `guidedviz host` does. It needs the extra `classroom`; without it,
# and in a browser tab, the same functions answer without a socket.


# %%
class Order(BaseModel):
    product: str
    color: str
    price: float


schema, text = Order.model_json_schema(), "The lamp is pink and costs $12.50."

# %%
host, client = start_host(clerk), None
if openai and host.address:
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key="none")

# %% [markdown]
# The client of OpenAI sends a request to any server with the same interface. In Python a field that OpenAI does not
# have goes into `extra_body`. `host.ask` sends the same body with urllib.

# %%
content = f"{text}\nJSON with product, color, price:"
asked = {"model": "clerk", "temperature": 0, "seed": 0, "messages": [{"role": "user", "content": content}]}


def ask(fields):
    if client:
        return client.chat.completions.create(**asked, extra_body=fields).model_dump()
    return host.ask(asked | fields)


# %%
price, colors = r"\$[0-9]+\.[0-9]{2}", ["red", "pink", "blue"]
strict = {"name": "order", "schema": schema, "strict": True}
bodies = {
    "OpenAI, a schema": {"response_format": {"type": "json_schema", "json_schema": strict}},
    "vLLM, a schema": {"structured_outputs": {"json": schema}},
    "vLLM, a choice": {"structured_outputs": {"choice": colors}},
    "vLLM, a regex": {"structured_outputs": {"regex": price}},
    "SGLang, a regex": {"regex": price},
    "SGLang, a grammar": {"ebnf": 'root ::= "red" | "pink" | "blue"'},
    "SGLang, a schema": {"json_schema": json.dumps(schema)},
}

# %%
replies = {name: ask(fields) for name, fields in bodies.items()}
for name, reply in replies.items():
    least = min(step.mass for step in host.trace(reply).steps)
    print(f"{name:18} least Z {least:<8.2g} {reply['choices'][0]['message']['content']}")

# %% [markdown]
# vLLM and SGLang take the `response_format` of OpenAI, too. The prompt asks for JSON. So Z, the part of
# the model's probability that is legal, is almost 0 where the constraint wants a color or a price.
#
# **Open a run.** The host keeps the run of each answer. `print(reply["guidedviz"]["run"])` gives the address of its
# page, which a browser on this machine opens; it also says what a diagnosis finds. The stage plays the same run. It
# opens before the first token: look at what the model wanted there.

# %%
gv.stage(host.trace(replies["vLLM, a choice"]), show=0)

# %% [markdown]
# **Not run here**: TensorRT-LLM. This is a whole body for it, which the other servers take as well:
#
# ```python
# bodies = {
#     "TensorRT-LLM": {
#         "model": "your-model",
#         "messages": [{"role": "user", "content": "The lamp is pink."}],
#         "response_format": {
#             "type": "json_schema",
#             "json_schema": {
#                 "name": "lamp",
#                 "schema": {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]},
#             },
#         },
#     },
# }
# ```

# %% [markdown]
# **Not run here**: in TypeScript a foreign field stands beside the others, and the schema can come from the library
# `zod`. This ran on 2026-11-25 against a program that prints the body (openai 6.49, zod 4.6):
#
# ```typescript
# const client = new OpenAI({ baseURL: "http://localhost:8000/v1", apiKey: "none" });
# const Order = z.object({ product: z.string(), color: z.string(), price: z.number() });
# const reply = await client.chat.completions.create({
#   model: "your-model", messages, response_format: zodResponseFormat(Order, "order"),
# });
# const answer = await client.chat.completions.create({
#   model: "your-model", messages,
#   // @ts-expect-error: a field of vLLM
#   structured_outputs: { choice: ["yes", "no"] },
# });
# ```

# %% [markdown]
# The five kinds of constraints, read in November 2026 in the pages of vLLM (0.31 and later), SGLang 0.5 and
# TensorRT-LLM 1.0:
#
# | constraint | vLLM, in `structured_outputs` | SGLang | TensorRT-LLM, offline |
# | --- | --- | --- | --- |
# | one of some texts | `choice` | `regex` | `regex` |
# | regex | `regex` | `regex` | `regex` |
# | JSON Schema | `json` | `json_schema` | `json` |
# | grammar | `grammar` | `ebnf` | `grammar` |
# | free text with parts | `structural_tag` | `structural_tag` | `structural_tag` |

# %% [markdown]
# **Not run here**: offline, vLLM takes the same names in Python:
# `SamplingParams(structured_outputs=StructuredOutputsParams(json=schema))`, and TensorRT-LLM
# `SamplingParams(guided_decoding=GuidedDecodingParams(json=schema))`. Grammars are GBNF (lab 07) where XGrammar reads
# them. llguidance reads a notation like that of **Lark**, a parser for Python, and so does XGrammar since 0.2.8
# (`Grammar.from_lark`). OpenAI's custom tools take a grammar in Lark, or a regex.
#
# | | GBNF | Lark |
# | --- | --- | --- |
# | first rule | `root` | `start` |
# | a rule | `digits ::= [0-9]+` | `digits: /[0-9]+/` |
#
# These two grammars describe the same texts, so they have the same masks:

# %%
gbnf = 'root ::= "$" digits "." [0-9] [0-9]\ndigits ::= [0-9]+'
lark = 'start: "$" digits "." /[0-9][0-9]/\ndigits: /[0-9]+/'
[machine.accepts(b"$12.50") for machine in (gv.grammar(gbnf), gv.lark(lark))]

# %% [markdown]
# ### Free text with parts
#
# A reasoning model ends its thought with the special token `</think>`; then the order follows. A structural tag says
# both:

# %%
thought = {"type": "tag", "begin": "", "content": {"type": "any_text"}, "end": {"type": "token", "token": "</think>"}}
elements = [thought, {"type": "json_schema", "json_schema": schema}]
tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": elements}}
gv.draw_machine(gv.structural_tag(thought))

# %% [markdown]
# The drawing shows our machine for the thought: any text, then the token as one arrow. The begin is empty, because the
# chat template of such a model often ends the prompt with `<think>`: the model is already thinking.
#
# The end may also be a text: `"end": "</think>"`. XGrammar's own tag for Qwen 3 does so
# (`get_model_structural_tag("qwen_3", reasoning=True)`, version 0.2.8). Is this the same? In the vocabulary below, the
# token is id 4096.

# %%
vocabulary = gv.Vocabulary([*clerk.vocabulary.pieces, b"</think>"], eos=clerk.vocabulary.eos, special={0, 4096})
by_text = {"type": "sequence", "elements": [thought | {"end": "</think>"}, elements[1]]}
ends = {name: gv.guide(gv.structural_tag(one), vocabulary) for name, one in (("text", by_text), ("token", tag))}


# %%
def count_after_letters(guide):
    state = guide.initial
    for token in clerk.encode("</think>"):
        state = guide.advance(state, token)
    return guide.mask(state).sum()


# %% [question]
gv.predict(
    "The end in the tag is a text. The model wants to end its thought with the special token. What does our mask say?",
    choices=[
        "legal: it looks like the text",
        "illegal: only the letters end the thought",
        "legal, but the thought goes on",
    ],
    answer="illegal: only the letters end the thought",
    reveal=[
        lambda: [print(f"the end is a {name:6} special token legal: {marked.mask(marked.initial)[4096]!s:6} "
                       f"legal after the letters: {count_after_letters(marked):,}") for name, marked in ends.items()],
        """With the text as the end, our mask forbids the special token; after the letters only `{` and `{"` are legal,
        so the order begins. With the token as the end it is the reverse: the letters are a part of the thought. If a
        model was trained with the token, write the token into the tag.""",
    ],
)  # fmt: skip

# %% [markdown]
# XGrammar reads special tokens as text, too: the token is legal in each row. RECORDED 2026-11-28, xgrammar 0.2.8:
#
# | the end in the tag | legal after the token | after the letters |
# | --- | --- | --- |
# | text | 2: the order begins | 2 |
# | token | 4,019: the thought may go on | 4,019 |
# | token, and `any_text` has `"excludes": ["</think>"]` | 2 | the last letter is illegal |
#
# In the second row the token is also text of the thought, so the order need not begin.

# %% [markdown]
# What a hosted service offers, as its pages say:
#
# | | OpenAI | Anthropic |
# | --- | --- | --- |
# | strict mode | JSON Schema; all keys required, no others | JSON Schema; bounds become a description |
# | other grammars | a custom tool takes a Lark grammar or a regex (since GPT-5) | none |
# | `logit_bias` | in chat completions, not for all models | none |
# | log-probabilities | up to 20 per token, not for all models | none |
# | choice of the engine | none | none |

# %% [markdown]
# Google takes a schema, too (`response_json_schema`: [a part of the
# keywords](https://ai.google.dev/gemini-api/docs/structured-output), with `anyOf`, `$ref` and bounds). Fireworks takes
# a schema, and a [grammar in GBNF](https://docs.fireworks.ai/structured-responses/structured-output-grammar-based).
#
# So a grammar of your own, the choice of the engine and Z are reasons to run the model yourself. Others are open
# weights, the price of many requests, and a model that does not change.

# %% [markdown]
# ## 2 · Pin
#
# **Not run here**: options of the commands that launch a server, from the pages of both.
#
# | | vLLM | SGLang |
# | --- | --- | --- |
# | engine | `--structured-outputs-config.backend xgrammar` | `--grammar-backend xgrammar` |
# | whitespace | `disable_any_whitespace`, in the same config | `--constrained-json-disable-any-whitespace` |
# | size of the cache | `VLLM_XGRAMMAR_CACHE_MB`, 512 | no limit was merged |
# | tool calls | `--tool-call-parser`, `--enable-auto-tool-choice` | `--tool-call-parser` |
# | reasoning | `--reasoning-parser` | `--reasoning-parser` |
#
# vLLM's default engine is `auto`: it chooses one per request, and the choice may change with the release. A named
# engine refuses what it cannot compile. (In version 0.12 `disable_fallback` forbade another engine; the pages of the
# current release do not have it any more.) In TensorRT-LLM the configuration file says
# `guided_decoding_backend: xgrammar`.

# %% [question]
gv.predict(
    "A vLLM server has a tool-call parser, and a request lists tools with schemas. `tool_choice` is `auto`: the model "
    "may call a tool or answer. Are the arguments of a call sure to obey the schema?",
    choices=["yes: the server knows the schema", "no: the parser only finds the call",
             "yes: the mask begins with the call"],
    answer="no: the parser only finds the call",
    reveal="""The words table says it: a parser reads what was written, and is no mask. vLLM's page: with a named tool
    or `required` the schema becomes a mask; with `auto` only if a tool says `strict: true`.""",
)  # fmt: skip

# %% [markdown]
# ## 3 · Read the reply while it grows
#
# With `stream=True` the reply comes in pieces. `json.loads` fails until the last bracket. Pydantic's parser can stop
# early: `from_json(text, allow_partial=True)` returns what is there.

# %%
run = host.trace(replies["OpenAI, a schema"])
for end in (5, 6, 11, 16):
    piece = b"".join(step.piece for step in run.steps[:end])
    print(f"{piece.decode():42} {from_json(piece, allow_partial=True)}")

# %% [markdown]
# A string is shown when its closing quote is there. (`allow_partial="trailing-strings"` shows it as it grows.)

# %% [question]
gv.predict(
    "The price 12.5 comes in the tokens `1`, `2`, `.` and `5`. What does the parser return as `price` after `1`?",
    choices=["nothing: a number is shown when it ends", "1: this is a number", "1.0: the schema says `float`"],
    answer="1: this is a number",
    reveal=[
        lambda: [print(f"after {run.steps[end - 1].piece.decode()}:", from_json(
                     b"".join(step.piece for step in run.steps[:end]), allow_partial=True).get("price", "no price"))
                 for end in range(17, 22)],
        """A string says where it ends, a number does not: `1` is a complete JSON number, `12.` is none. The parser does
        not know the schema. So use a number only after the comma or bracket behind it. A reply that ends at
        `max_tokens` looks the same: test `finish_reason` before you parse.""",
    ],
)  # fmt: skip

# %% [markdown]
# ## 4 · Z from outside
#
# Z tells how much of the model's wish the mask refused (lab 02). No server sends it. Servers send log-probabilities
# (`logprobs=True, top_logprobs=20`): of each token, and of the likeliest ones. Are they from before the mask, or after?
#
# | | what is read | where |
# | --- | --- | --- |
# | vLLM | after the grammar's mask, in every mode | model runner and sampler, sources of 2026 |
# | SGLang | after the mask, also with `SGLANG_RETURN_ORIGINAL_LOGPROB` | sampler, sources of 2026 |
# | OpenAI | not said | reference of chat completions |
#
# vLLM's default mode is called `raw_logprobs`. It means before temperature and penalties; the mask was applied earlier.

# %% [markdown]
# After the mask the sum of the likeliest says nothing about Z. But a token has two probabilities, p before the mask and
# p / Z after it. Their quotient is Z. So ask twice: once with the constraint, once for the finished text *without* it.
# vLLM scores a given text with `prompt_logprobs`, SGLang with `return_logprob` and `logprob_start_len`. Send token ids:
# a text may be cut into other tokens.

# %% [question]
gv.predict(
    "Lab 13 had an umbrella that became `pear`, because `maxLength` was 6. In the constrained reply the token `pear` "
    "has the log-probability −1.83; without the constraint it has −8.08. What is Z at this step?",
    number=0.0019,
    within=0.0004,
    reveal="""exp(−8.08) / exp(−1.83) = exp(−6.25) = 0.0019: the mask refused 99.8% of what the model wanted. Both
    requests need temperature 1, and two passes round in different ways: do not read more than two digits.""",
)

# %% [markdown]
# The same on `clerk`: the quotient at four steps of this run, and the Z that our record holds.

# %%
limits = {"product": {"type": "string", "maxLength": 6}, "price": {"type": "integer"}}
short = gv.json_schema({"type": "object", "properties": limits, "required": list(limits)})
umbrella = "The umbrella is red and costs $12.50.\nJSON with product, price:\n"
pear = gv.record(clerk, umbrella, gv.guide(short, clerk.vocabulary), temperature=0)
for step in pear.steps[2:6]:
    print(f"{step.piece.decode():8} p / masked p = {step.raw / step.masked:.4f}   Z = {step.mass:.4f}")

# %% [markdown]
# A server that lists the likeliest tokens *before* the mask needs no second request. The legal ones of the list are a
# part of Z, and what the illegal ones have cannot be in Z.

# %% [markdown]
# ## Exercise 1 · Bounds of Z ★
#
# Write `z_bounds(top, legal)`. `top` is a dict from the likeliest tokens to their log-probabilities before the mask,
# `legal` the set of legal tokens. Return the lower and the upper bound of Z. If `a` has the probability 0.5, `b`
# has 0.2, and `b` and `c` are legal, the bounds are 0.2 and 0.5.
#
# hint: `np.exp` of a log-probability is the probability. Sum those of the legal tokens in `top`.
#
# hint: The upper bound is 1 minus the sum of the illegal tokens in `top`. A legal token that is not listed says
# nothing.


# %%
def z_bounds(top, legal):
    # solution:
    low = sum(np.exp(top[one]) for one in top if one in legal)
    illegal = sum(np.exp(top[one]) for one in top if one not in legal)
    return low, 1 - illegal
    # open:
    # ...  # two sums
    # end


gv.checks.z_bounds(z_bounds)

# %% [markdown]
# Here is the step at which the umbrella became a pear. The cell gives its twelve likeliest tokens to your function. Z
# is 0.0019; with more tokens the bounds come closer.

# %%
shown = pear.steps[4].candidates
bounds = z_bounds({c.token: np.log(c.raw) for c in shown}, {c.token for c in shown if c.masked})
print(*(f"{bound:.4f}" for bound in bounds or ()))
gv.draw_distribution(pear.steps[4])

# %% [markdown]
# ## 5 · In your own process
#
# Without a server every engine has the same calls: compile, mask, advance, and one that applies the mask to the logits.
# The first three ran in November 2026 along the time `07:30`. Each engine leaves as many tokens as ours, and EOS alone
# at the end:
#
# | engine | compile | mask | advance |
# | --- | --- | --- | --- |
# | ours | `gv.guide(machine, vocabulary)` | `guide.mask(state)` | `guide.advance(state, token)` |
# | outlines-core | `Guide(Index(regex, tokens))` | `get_tokens()` | `advance(token)` |
# | xgrammar | `compile_regex(regex)`, `GrammarMatcher` | `fill_next_token_bitmask(words)` | `accept_token(token)` |
# | llguidance | `LLMatcher(tokenizer, grammar)` | `fill_next_token_bitmask(matcher, words)` | `consume_token(token)` |

# %% [markdown]
# transformers calls a *logits processor* before each draw. With `record=True` ours keeps what it saw, and gives a trace
# for the stage. Where the extra `hub` is installed, the cell runs `clerk` in transformers. Elsewhere it shows the run
# of our own loop from above: its text is the same, although the logits differ in the fifth digit.

# %%
processor = gv.LogitsProcessor(gv.guide(short, clerk.vocabulary), record=True)
try:
    network = gv.load_model("clerk", device="torch").network.network  # as transformers' from_pretrained gives it
except (gv.ModelError, ImportError):  # without the extra `hub`
    seen = pear
else:
    torch = importlib.import_module("torch")  # only here: it takes seconds
    ids = torch.tensor([clerk.encode(umbrella)])
    settings = {"attention_mask": torch.ones_like(ids), "do_sample": False, "max_new_tokens": 60, "pad_token_id": 0}
    [seen] = processor.read(network.generate(ids, logits_processor=[processor], **settings))
print(seen.text)
print(" ".join(f"{step.mass:.2f}" for step in seen.steps))

# %% [markdown]
# The second line is Z at each step. `do_sample=False` is greedy; two runs can differ where the best logits are nearly
# equal.

# %% [markdown]
# Frameworks bring masks of their own. Here a schema allowed a count from 1 to 99, and a prompt asked for 120 lamps.
#
# | program | whose mask | a bound on a number is |
# | --- | --- | --- |
# | transformers, our processor | ours | enforced |
# | [guidance] 0.3.1 | llguidance | enforced |
# | [Outlines] 1.3.3 | outlines-core | ignored |
# | [lm-format-enforcer] 0.11.3 | its own | ignored |
#
# The engines xgrammar 0.2.8 (which enforces it), llguidance and outlines-core ran alone, too: seven programs.
#
# [guidance]: https://github.com/guidance-ai/guidance
# [Outlines]: https://github.com/dottxt-ai/outlines
# [lm-format-enforcer]: https://github.com/noamgat/lm-format-enforcer

# %% [question]
gv.predict(
    "How many of the seven wrote 120, although the schema forbids it?",
    number=3,
    reveal=[
        lambda: print(
            "RECORDED 2026-11-23      120 lamps  masks that differ from ours, of 54 steps",
            "transformers, ours       12          0",
            "Outlines 1.3.3           120        20: not UTF-8, white space, bounds",
            "lm-format-enforcer       120        41: white space, not JSON, order of keys",
            "guidance 0.3.1           12         46: forced tokens, white space, other keys",
            "xgrammar 0.2.8           12         15: white space",
            "llguidance 1.9.1         12         27: white space, other keys",
            "outlines-core 0.2.14     120        20: white space, bounds",
            sep="\n",
        ),
        """Outlines, its engine outlines-core, and lm-format-enforcer. Only our processor has our mask at all 54 steps.
        The others differ mostly by choice, as in white space, and sometimes by a fault, such as bytes that are no
        UTF-8. So validate the reply, whatever made the mask.""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * One body, several names: `response_format` for a schema, a field of the server for everything else.
# * Pin the engine. A parser is no mask.
# * A growing reply: strings and objects say where they end, numbers do not.
# * Z is p before the mask divided by p after it. The likeliest tokens before the mask bound it.

# %% [markdown]
# ## How the production engines do it
#
# * **vLLM**: [structured outputs](https://docs.vllm.ai/en/latest/features/structured_outputs/), and
#   [tool calling](https://docs.vllm.ai/en/latest/features/tool_calling/) with its table of what is enforced.
# * **SGLang**: [structured outputs](https://docs.sglang.io/advanced_features/structured_outputs.html), and those of
#   reasoning models, which stay free up to the end of their reasoning.
# * **TensorRT-LLM**: [guided decoding](https://nvidia.github.io/TensorRT-LLM/features/guided-decoding.html).
# * **OpenAI**: [structured outputs](https://developers.openai.com/api/docs/guides/structured-outputs), and
#   [grammars for custom tools](https://cookbook.openai.com/examples/gpt-5/gpt-5_new_params_and_tools). Microsoft says
#   that OpenAI switched to [llguidance](https://github.com/guidance-ai/llguidance) by May 2025.
# * **Anthropic**: [structured outputs](https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
# * **llama.cpp**: `json_schema` and `grammar` in the request
#   ([grammars](https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md)).
