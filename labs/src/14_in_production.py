# question: How does a server run constrained decoding for many requests?

# %% [markdown]
# # Lab 14 · In production
#
# **Question.** How does a server run constrained decoding for many requests, and what makes it slow?
#
# **Goal.** You can send a schema to any front end, write the packed mask and the cache key of a server, read a
# timeline, and say which request delayed all others.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 13](13_when_it_goes_wrong.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **front end** | the names and types with which a user sends a request |
# | **packed mask** | one bit per token, in 32-bit words |
# | **continuous batching** | requests join and leave the batch between two forward passes |
# | **TPOT** | time per output token, after the first; **TTFT** is the time to the first token |
# | **p50, p99** | the time that 50 or 99 of 100 requests do not exceed; p50 is the median |
# | **compile cache** | compiled grammars, kept for later requests |
#
# This is the loop of lab 00 with what production adds. The state is *rolled back* where tokens are taken back, as in
# lab 11.

# %%
import json
import time

import numpy as np
from pydantic import BaseModel

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.serving import Costs, Policy, Request, make_requests, simulate

try:
    import xgrammar
except ImportError:  # one answer is measured with it
    xgrammar = None

# %%
clerk = gv.load_model("clerk")
gv.views.draw_loop("production")

# %% [markdown]
# ## 1 · One schema, many front ends
#
# A shop reads orders. The schema is a Pydantic class. Each front end takes it under another name, and the names change.
# vLLM removed `guided_json` in version 0.12. It ignores the old name without an error: the reply is not constrained.


# %%
class Order(BaseModel):
    product: str
    color: str
    price: float


messages = [{"role": "user", "content": "The lamp is pink and costs $12.50."}]
request = {"model": "your-model", "messages": messages, "structured_outputs": {"json": Order.model_json_schema()}}
print("POST /v1/chat/completions", json.dumps(request, indent=2), sep="\n")  # to vLLM

# %% [markdown]
# The names, as we read them in November 2026 in the sources:
#
# | front end | where the schema goes | with the schema |
# | --- | --- | --- |
# | [vLLM] 0.33 | `structured_outputs` | XGrammar |
# | [SGLang] 0.5.23 | `json_schema`, `regex`, `ebnf` | XGrammar |
# | [TensorRT-LLM] | `GuidedDecodingParams(json=)` | XGrammar or llguidance |
# | [llama.cpp] | `json_schema`, `grammar` | a grammar of its own |
# | [OpenAI] | `response_format` | strict: all keys required |
# | [Anthropic] | `output_config`, `tools` | bounds become a description |
# | [Gemini] | `responseJsonSchema` | some keywords only |
#
# [vLLM]: https://docs.vllm.ai/en/latest/features/structured_outputs/
# [SGLang]: https://docs.sglang.io/advanced_features/structured_outputs.html
# [TensorRT-LLM]: https://nvidia.github.io/TensorRT-LLM/features/guided-decoding.html
# [llama.cpp]: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
# [OpenAI]: https://developers.openai.com/api/docs/guides/structured-outputs
# [Anthropic]: https://platform.claude.com/docs/en/build-with-claude/structured-outputs
# [Gemini]: https://github.com/googleapis/python-genai

# %% [markdown]
# Libraries that mask a model in your process:
#
# | library | call | keys and spaces | bounds of numbers |
# | --- | --- | --- | --- |
# | transformers, ours | `logits_processor=` | in order, one optional space | enforced |
# | [guidance] 0.3.1 | `guidance.json(schema=)` | other keys too, one space | enforced |
# | [Outlines] 1.3.3 | `model(prompt, type)` | in order, one optional space | ignored |
# | [lm-format-enforcer] 0.11.3 | `JsonSchemaParser` | any order, 12 spaces | ignored |
#
# [guidance]: https://github.com/guidance-ai/guidance
# [Outlines]: https://github.com/dottxt-ai/outlines
# [lm-format-enforcer]: https://github.com/noamgat/lm-format-enforcer

# %% [markdown]
# In transformers a *logits processor* is a function that may change the logits before each draw. Ours gets the tokens
# of all texts in the batch, and sets the illegal logits to −∞. With the extra `hub` installed, this runs `clerk` there
# under the schema:
#
# ```python
# network = transformers.AutoModelForCausalLM.from_pretrained(FOLDER, dtype=torch.float32)  # assets/models/clerk
# ids = torch.tensor([clerk.encode(prompt)])
# network.generate(ids, logits_processor=[gv.LogitsProcessor(guide)], do_sample=False, max_new_tokens=60)
# ```

# %%
RECORDED = '{"product": "lamp", "color": "pink", "price": 12.5}'
prompt = "The lamp is pink and costs $12.50.\nJSON with product, color, price:\n"
guide = gv.guide(gv.json_schema(Order), clerk.vocabulary)

# %% [question]
gv.predict(
    "transformers computes in another library than `gv.decode`. Is the greedy text the same?",
    choices=["yes", "no: the logits are never equal in all digits", "no: `generate` draws at temperature 1"],
    answer="yes",
    reveal=[
        lambda: print("RECORDED 2026-11-25, transformers 5.24 and torch 2.13, CPU:", RECORDED, sep="\n"),
        lambda: print("LIVE, gv.record:", gv.record(clerk, prompt, guide, temperature=0).text, sep="\n"),
        """The logits differ in the fifth digit, and the largest one is the same at each step. Two runs whose two best
        logits are nearly equal can differ. `do_sample=False` is greedy.""",
    ],
)

# %% [markdown]
# Other frameworks bring masks of their own. Seven programs ran with `clerk`: transformers with our processor, Outlines,
# lm-format-enforcer, guidance, and the engines xgrammar, llguidance and outlines-core. The schema allows a count from 1
# to 99. One prompt asks for 120 lamps.

# %% [question]
gv.predict(
    "How many of the seven write 120, although the schema forbids it? The tables above help.",
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
        """Our own loop writes 12. Outlines, its engine outlines-core, and lm-format-enforcer ignore the bound and write
        120. Only our processor has our mask at all 54 steps. The others differ mostly by choice, as in white space, and
        sometimes by a fault, such as bytes that are no UTF-8.""",
    ],
)

# %% [markdown]
# ## 2 · Four calls
#
# All engines have the same four calls: **compile** a grammar for a vocabulary, compute the **mask** of a state,
# **apply** it to the logits, and **advance** the state by the drawn token. Here is our engine on a time of day.

# %%
clock = gv.guide(gv.regex("[0-9]{2}:[0-9]{2}"), clerk.vocabulary)  # compile
state, logits = clock.initial, np.zeros(len(clerk.vocabulary), np.float32)
for token in [*clerk.encode("07:30"), None]:
    kept = np.where(clock.mask(state), logits, -np.inf)  # mask, apply
    print(f"{np.isfinite(kept).sum()} tokens are left", end=", " if token else ".")
    state = clock.advance(state, token) if token else state  # advance

# %% [markdown]
# The same calls in the other engines, as they ran in November 2026:
#
# | engine | compile | mask | advance |
# | --- | --- | --- | --- |
# | outlines-core | `Guide(Index(regex, tokens))` | `get_tokens()` | `advance(token)` |
# | xgrammar | `compile_regex(regex)`, `GrammarMatcher` | `fill_next_token_bitmask(words)` | `accept_token(token)` |
# | llguidance | `LLMatcher(tokenizer, grammar)` | `fill_next_token_bitmask(matcher, words)` | `consume_token(token)` |
#
# They leave as many tokens as ours along `07:30`. At the end EOS is the only one: it is legal exactly where the text is
# complete. Our states are values, so going back needs no call.

# %% [markdown]
# ## 3 · One bit per token
#
# A *batch* has one *row* per text. Its masks are computed on the CPU, and its logits are on the GPU. Packed masks are
# faster to copy: token t is bit t % 32 of word t // 32. Here are two masks for the 4,096 tokens of `clerk`.

# %%
masks = np.stack([guide.mask(guide.initial), guide.mask(guide.advance(guide.initial, clerk.encode('{"')[0]))])
packed = gv.serving.pack_masks(masks)
logits = np.zeros(masks.shape, np.float32)
print(f"{packed.dtype}, rows and words: {packed.shape}")
print("legal:", masks.sum(1), "· logits that are left:", np.isfinite(gv.serving.apply_packed(logits, packed)).sum(1))

# %% [question]
gv.predict(
    "Llama 3 has 128,256 tokens. How many bytes does the packed mask of one row have?",
    number=16_032,
    reveal="""128,256 / 8 = 16,032 bytes, or 4,008 words. One byte per token takes 128,256 bytes, and the float32 logits
    of the row take 513,024.""",
)

# %% [markdown]
# ## Exercise 1 · Fill the packed mask ★
#
# Write `packed_row(ids, size)`. `ids` are the legal tokens of a vocabulary of `size` tokens. Return the int32 words of
# the row: token *t* is bit `t % 32` of word `t // 32`. For example, the ids `[0, 33]` of 40 tokens give `[1, 2]`. Bit
# 31 is the sign of an int32, so a word can be negative.
#
# hint: Count the words: `-(-size // 32)`. Make zeros of the type `np.uint32`, in which bit 31 is a number like the
# others.
#
# hint: For each token: `words[token // 32] |= np.uint32(1 << token % 32)`. At the end `words.view(np.int32)`.


# %%
def packed_row(ids, size):
    # solution:
    words = np.zeros(-(-size // 32), np.uint32)
    for token in ids:
        words[token // 32] |= np.uint32(1 << token % 32)
    return words.view(np.int32)
    # open:
    # ...  # one word per 32 tokens
    # end


gv.checks.packed_row(packed_row)

# %% [markdown]
# ## 4 · A batch
#
# A server decodes many requests in one batch. A simulation shows who waits for whom. Its costs in milliseconds are set
# by hand, as for a model of 8 billion weights on one GPU: 8 per forward pass, a little more per row and per token of a
# prompt, and 1.5 per pass for *scheduling*, in which the CPU (`host`) chooses the rows. Four requests have no schema.
# The fifth has one, and its compile takes 60 ms. vLLM's first engine, V0, compiled while the batch waited.

# %%
costs = Costs(forward=8, row=0.02, token=0.02, host=1.5, apply=0.005)
five = [*(Request(3 * n, tokens=12, prompt=40) for n in range(4)), Request(20, 8, "order", compile_ms=60, mask_ms=0.1)]
v0 = simulate(five, costs, Policy("blocks"))
print(f"longest TPOT of the four: {max(one.per_token_ms for one in v0.served[:4]):.0f} ms")
gv.views.draw_timeline(v0, title="the batch waits for the compile")

# %% [markdown]
# In the white gap from 22 to 82 ms no row gets a token. The next engine, V1, compiles in the background. Only the
# request that needs the machine waits: it is *parked*.

# %% [question]
gv.predict(
    "The request is parked. What is the longest TPOT of the four others? Above it is 15 ms.",
    choices=["about 15 ms", "about 10 ms", "about 5 ms"],
    answer="about 10 ms",
    reveal=[
        lambda: gv.views.draw_timeline(simulate(five, costs, Policy("parks")), title="the request is parked"),
        """A pass takes 8 ms and 1.5 ms of scheduling. The request with the schema gets its first token at nearly the
        same time as above.""",
    ],
)

# %% [markdown]
# Masks take CPU time. A server can fill them before the pass (*none*), during it (*masks*), or also schedule during it
# (*all*). A pull request of vLLM ([#26866](https://github.com/vllm-project/vllm/pull/26866)) measured all three on 800
# requests at a time, with 0 to 100% of them constrained: the dots. The lines are our simulation, with costs from four
# of the dots.

# %%
published = {  # the pull request names no unit; as tokens per second the numbers would be far too small
    "none": {0: 103.16, 0.2: 92.57, 0.8: 70.68, 1: 69.36},
    "masks": {0: 103.19, 0.2: 99.67, 0.8: 87.90, 1: 85.28},
    "all": {0: 132.72, 0.2: 106.08, 0.8: 93.59, 1: 90.34},
}
server = Costs(forward=47.09, host=13.49, apply=0.0159, rows=800)


def rate(share, how):
    requests = make_requests(800, constrained=share, per_second=1e12, schemas=[(0, 0.021)])
    return simulate(requests, server, Policy(overlap=how)).requests_per_second


gv.views.draw_throughput({how: {x: rate(x, how) for x in row} for how, row in published.items()}, published)

# %% [markdown]
# The first two lines are within 6% of the dots. The third is too high: in vLLM each pass with a constrained request
# took about 9 ms longer than our simulation says. So the overlap was not complete.

# %% [question]
gv.predict(
    "On the server with the costs set by hand, 400 requests for 20 schemas come at 100 per second. One thread compiles "
    "each in 60 ms, and the p99 of the TTFT is 0.4 s. Now each request has a schema of its own. What is the p99?",
    choices=["about 0.5 s", "about 2 s", "about 20 s"],
    answer="about 20 s",
    reveal=[
        lambda: [
            print(schemas, "schemas:", simulate(make_requests(400, per_second=100, tokens=60, prompt=100,
                  schemas=[(60, 0.04)] * 20, unique=schemas == 400), costs, Policy(overlap="all")))
            for schemas in (20, 400)
        ],
        """100 compiles of 60 ms are 6 seconds of work per second for one thread. So the compiles queue. The
        TPOT (`per token`) is good, because the batch is nearly empty: look at both times.""",
    ],
)  # fmt: skip

# %% [question]
gv.predict(
    "64 requests share a batch. A mask takes 0.04 ms. Then one of them gets a grammar whose masks take 40 ms. How does "
    "the median TPOT of all requests change?",
    choices=["hardly", "it doubles", "it becomes four times as long"],
    answer="it becomes four times as long",
    reveal=[
        lambda: [
            print(f"{ms:5} ms:", simulate([*make_requests(63, per_second=400, tokens=60, schemas=[(0, 0.04)]),
                  Request(50, 60, "other", mask_ms=ms)], costs, Policy(overlap="masks")))
            for ms in (0.04, 40.0)
        ],
        """All rows of a batch get their tokens together, so all wait for the slowest mask. The forward pass hides
        only the first 9 ms of it.""",
    ],
)  # fmt: skip

# %% [markdown]
# A server can record each pass in milliseconds. `forward` is the forward pass. `compile`, `masks` and `prompt` have one
# number per request:
#
# * `compile`: the batch waits for all of them before the forward pass.
# * `masks`: one after the other *during* the forward pass. Only their time beyond it delays the pass.
# * `prompt`: how long a new prompt was read. This is a part of `forward`.

# %% [markdown]
# ## Exercise 2 · Which request was it? ★★
#
# Write `slow_pass(passes)`. Find the pass that took longest. Return the part that delayed it most and the request with
# the largest time in this part. This pass takes 31 ms, masks delay it by 11, so the answer is `("masks", 3)`:
#
#     {"forward": 20, "compile": {}, "masks": {3: 30, 4: 1}, "prompt": {4: 2}}
#
# hint: The delays of a pass: the sum of `compile`; the sum of `masks` minus `forward`, at least 0; the sum of `prompt`.
# A pass takes `forward` plus the first two.
#
# hint: Write `delays(one)` that returns a dict of the three. Then `max(passes, key=...)`, `max` over the dict, and
# `max(slowest[part], key=slowest[part].get)`.


# %%
def slow_pass(passes):
    # solution:
    def delays(one):
        beyond = max(0.0, sum(one["masks"].values()) - one["forward"])
        return {"compile": sum(one["compile"].values()), "masks": beyond, "prompt": sum(one["prompt"].values())}

    slowest = max(passes, key=lambda one: one["forward"] + delays(one)["compile"] + delays(one)["masks"])
    part = max(delays(slowest), key=delays(slowest).get)
    return part, max(slowest[part], key=slowest[part].get)
    # open:
    # ...  # first the slowest pass
    # end


print(slow_pass([{"forward": one.forward[1] - one.forward[0], **one.parts} for one in v0.passes]))
gv.checks.slow_pass(slow_pass)

# %% [markdown]
# ## 5 · Compile once
#
# A compile cache keeps compiled machines up to a number of bytes. The one that was not used for the longest time is
# removed first. Here our engine served 1,000 requests for 200 schemas on the 128,256 tokens of Llama 3; one
# schema was asked for in 17% of the requests. The times end at the first mask.

# %%
measured = json.loads(shipped("traces/serving.json").read_text())
print("RECORDED", measured["date"], "·", measured["device"])
for run in measured["cache"]:
    print("{name:24} {hit_rate:.0%} hits, p50 {p50_ms:7.1f} ms, p99 {p99_ms:7.1f} ms, {megabytes:.0f} MB".format(**run))

# %% [markdown]
# The last line is a service that writes the user's name into the schema: each request compiles. RECORDED 2026-11-21,
# one core, one schema of four fields on Llama 3:
#
# | engine | compile and first mask | a later mask, median |
# | --- | --- | --- |
# | xgrammar 0.2.8 splits the vocabulary before decoding | 13.3 ms | 1.6 µs |
# | llguidance 1.9.1 walks the trie at each step | 1.4 ms | 4.8 µs |
# | outlines-core 0.2.14 makes an index of all states | 249 ms | 1.4 µs |

# %% [question]
gv.predict(
    "After how many tokens with one schema has xgrammar taken less time in all than llguidance?",
    number=3_700,
    within=300,
    reveal="""(13.3 − 1.4) ms / (4.8 − 1.6) µs ≈ 3,700 tokens, or 37 requests of 100 tokens. A service whose requests
    share schemas gets there at once, one with a schema per request never. The two differ in more than their method, and
    on other schemas the numbers are others.""",
)

# %% [markdown]
# A fifth field `bio` is a string. Its schema is `{"type": "string"}`, or a `maxLength` is added. With the extra
# `engines` installed the next cell measures it here.

# %%
fields = {"name": {"type": "string"}, "age": {"type": "integer"}, "paid": {"type": "boolean"}, "size": {"enum": [1, 2]}}


def compile_ms(bio):
    properties = fields | {"bio": bio}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    began = time.process_time()
    compiler.compile_json_schema(json.dumps(schema), any_whitespace=False)
    return 1000 * (time.process_time() - began)


# %%
# NBVAL_IGNORE_OUTPUT
if xgrammar is None:
    print("xgrammar is not installed; the recorded times are below")
else:
    llama = gv.Vocabulary.llama3()
    tokens = xgrammar.TokenizerInfo(list(llama.pieces), stop_token_ids=sorted(llama.eos))
    compiler = xgrammar.GrammarCompiler(tokens, max_threads=1, cache_enabled=False)
    print(f"LIVE: {compile_ms({'type': 'string'}):.0f} ms")

# %% [question]
gv.predict(
    'xgrammar 0.2.8 compiles the five fields in about 16 ms. Now `bio` gets `"maxLength": 64`. How long does it take?',
    choices=["less: there are fewer texts", "about 16 ms", "about 30 ms", "more than a second"],
    answer="more than a second",
    reveal=[
        lambda: print(
            "RECORDED 2026-11-25, one core, one thread, Llama 3",
            "bio             xgrammar 0.2.8   llguidance 1.9.1   guidedviz",
            "a string              16 ms             0.9 ms         6 ms",
            "maxLength 16         346 ms             1.2 ms        29 ms",
            "maxLength 64       1,603 ms             0.9 ms        12 ms",
            "maxLength 256      5,147 ms             1.0 ms        10 ms",
            "maxLength 4096     5,555 ms             1.0 ms        10 ms",
            sep="\n",
        ),
        """This is no property of the split: it is this bound in this version. A counted repetition becomes many nodes,
        and the vocabulary is sorted for each. So with xgrammar 0.2.8 leave a `maxLength` out, check the length
        afterwards, and bound the output with `max_tokens`.""",
    ],
)

# %% [markdown]
# ## Exercise 3 · The key of the cache ★
#
# Write `cache_key(request)`. A request is a dict with `schema` (a JSON text), `vocabulary` (a fingerprint), `engine`,
# `version`, `options` (a dict), `prompt` and `seed`. Return a text. Requests that may need different masks must have
# different keys. A part that changes no mask must not change the key; nor may blanks in the JSON text, or the order of
# the options.
#
# hint: Prompt and seed change no mask. Parse the schema and write it again, unsorted: the order of the properties is
# the order of the keys in the output.
#
# hint: `json.dumps([json.loads(request["schema"]), sorted(request["options"].items()), ...])` with the vocabulary, the
# engine and its version.


# %%
def cache_key(request):
    # solution:
    schema, options = json.loads(request["schema"]), sorted(request["options"].items())
    return json.dumps([schema, options, request["vocabulary"], request["engine"], request["version"]])
    # open:
    # ...  # which parts change a mask?
    # end


gv.checks.cache_key(cache_key)

# %% [markdown]
# ## A policy
#
# | rule | reason | lab |
# | --- | --- | --- |
# | pin the engine and its version; forbid the fallback | each engine has masks of its own | 09, 12 |
# | compile known schemas at the start | the first request waits otherwise | 13 |
# | write no user data into a schema | each new text compiles anew | 13 |
# | limit the size of schemas | one slow grammar delays a batch | 13 |
# | send equal schemas to the same server, up to a bound on its load | each server has a cache of its own | 13 |
# | count legal tokens, Z and finish reasons | a fallback shows there first | 12 |

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "A slow schema only hurts who sends it." | A mask of 40 ms makes the TPOT of 64 requests four times as long. | 4 |
# | "During the forward pass, masks are free." | 85 instead of 103 requests per second in vLLM's own table. | 4 |
# | "Sort the schema before you hash it." | Then two orders of keys share one machine. | 5 |

# %% [markdown]
# ## Recap
#
# * All engines: compile, mask, apply, advance. The same schema has other names and other masks in other front ends.
# * A packed mask has one bit per token; the batch has one row of words per request.
# * A compile must park its request, not the batch. The slowest mask sets the pace of all.
# * The cache key: grammar, vocabulary, engine, version, options, and nothing else.
#
# This was the last lab. The pages in `labs/deeper` go on.

# %% [markdown]
# ## How the production engines do it
#
# * **vLLM** parks a request while its grammar compiles, and fills the masks of more than 128 rows in threads
#   ([source of 0.14](https://docs.vllm.ai/en/v0.14.0/api/vllm/v1/structured_output/)). A user found that it ignores
#   `guided_json` with status 200 ([#53975](https://github.com/vllm-project/vllm/issues/53975)).
# * **SGLang** compiles in a thread, and the request joins the queue when its grammar is ready
#   ([#1996](https://github.com/sgl-project/sglang/pull/1996)). A limit for its cache was proposed, and not merged
#   ([#22196](https://github.com/sgl-project/sglang/pull/22196)).
# * **XGrammar** keeps compiled grammars ([#243](https://github.com/mlc-ai/xgrammar/pull/243)). Without a limit this was
#   a vulnerability: each new schema took memory until there was none. vLLM sets a limit of 512 MB
#   ([#16283](https://github.com/vllm-project/vllm/pull/16283)).
# * **Bounded loads**: consistent hashing with a limit per server ([1608.01350](https://arxiv.org/abs/1608.01350)).

# %% [markdown]
# ## Further reading
#
# * [XGrammar](https://arxiv.org/abs/2411.15100): masks beside the forward pass, in an engine and in a whole server.
# * [vLLM on structured outputs](https://docs.vllm.ai/en/latest/features/structured_outputs/): the request in all forms.
# * [Continuous batching](https://www.anyscale.com/blog/continuous-batching-llm-inference): why requests join between
#   two passes, with measurements.

# %% [markdown]
# ## A puzzle
#
# On the server with the costs set by hand, one thread fills all masks during the pass, 0.04 ms each. From how many
# constrained rows on do the masks take longer than the pass? And with eight threads?
#
# hint: A pass of `r` rows takes 8 + 0.02 `r` ms, and its masks take 0.04 `r` ms.
#
# hint: With eight threads the masks of a row take 0.005 ms. The pass takes 0.02 ms per row.
