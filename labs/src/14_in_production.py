# question: How does a server run constrained decoding for many requests?

# %% [markdown]
# # Lab 14 · In production
#
# **Question.** How does a server run constrained decoding for many requests, and what makes it slow?
#
# **Goal.** You can read a timeline and say which request delayed all others, tell what masks cost beside the forward
# pass, and write the key of a compile cache.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 13](13_when_it_goes_wrong.ipynb)
# comes before this one.

# %% [markdown]
# ## Five words
#
# | word | meaning |
# | --- | --- |
# | **TTFT**, **TPOT** | the *time to first token*; the *time per output token*, the mean for all later tokens |
# | **p50, p99** | 50, or 99, of 100 requests take at most this time; p50 is the median |
# | **packed mask** | one bit per token: 16,032 bytes for Llama 3, not 128,256 (section 5, at home) |
# | **compile cache** | compiled grammars, kept for later requests |
# | **front end** | the API of a server: the fields of a request |
#
# **Lost?** What is compiled before the first token, and what is computed at each step, is in
# [lab 10](10_walk_the_trie.ipynb). What a mask does to the logits is in [lab 02](02_static_masks.ipynb).

# %%
import json

import numpy as np

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.host.here import start_host
from guidedviz.serving import Costs, Policy, Request, simulate
from guidedviz.serving.simulation import percentile

try:
    import openai
except ImportError:  # urllib sends the same request
    openai = None

gv.views.draw_loop("server")

# %% [markdown]
# ## 1 · Who waits for whom
#
# A server decodes many requests in one **batch**: each forward pass gives every request of the batch its next token. A
# request in the batch is called a *row*. Requests join and leave between two passes. This section is a simulation. Its
# costs are set by hand, as for a model of 8 billion weights on one GPU (the *device*). A forward pass takes 8 ms, and a
# little more per row and per token of a prompt. Before each pass the CPU chooses the rows. This is called *scheduling*,
# and takes 1.5 ms (`host` in the code).

# %% [markdown]
# Four requests have no schema. The fifth has one, and its compile takes 60 ms. vLLM's first engine, V0, compiled while
# the batch waited.

# %%
# slide: One request must wait for its compile, and the whole batch waits with it.
costs = Costs(forward=8, row=0.02, token=0.02, host=1.5)
four = [Request(3 * n, tokens=12, prompt=40) for n in range(4)]  # the first number says when it arrives
five = [*four, Request(20, tokens=8, schema="order", compile_ms=60, mask_ms=0.1)]
v0 = simulate(five, costs, Policy("blocks"))
print(f"longest TPOT of the four: {max(one.per_token_ms for one in v0.served[:4]):.0f} ms")
gv.views.draw_timeline(v0, title="the batch waits for the compile")

# %% [markdown]
# The first two lines show when the device computes and what it waits for on the CPU. A short gap between two passes is
# the scheduling; the long one is the compile. Below, each request has a line of its own. From 22 to 92 ms no row gets a
# token: first comes the compile, then the next pass. The next engine, V1, compiles in the background. Only the request
# that needs the compiled grammar (its
# *machine*) waits: it is *parked*.


# %%
def show_parked():
    parked = simulate(five, costs, Policy("parks"))
    print(f"longest TPOT of the four: {max(one.per_token_ms for one in parked.served[:4]):.0f} ms")
    return gv.views.draw_timeline(parked, title="the request is parked")


# %% [question]
# slide: Park the request, and the others take their usual time per token.
gv.predict(
    "The request is parked. What is the longest TPOT of the four others? Above it is 15 ms.",
    choices=["about 15 ms: the compile still takes its 60 ms", "about 10 ms: a pass with its scheduling",
             "about 8 ms: the time of a pass"],
    answer="about 10 ms: a pass with its scheduling",
    reveal=[
        show_parked,
        """A token takes a pass of 8 ms, 1.5 ms of scheduling and a little per row. The TPOT is the mean for 11 tokens:
        the wait of 60 ms made it about 5 ms longer. The compile takes as long as before,
        but beside the passes: it is drawn in the line of its request. At 80 ms it is ready and waits for the next
        pass. Its first token comes at 99 ms; above it came at 92.""",
    ],
)  # fmt: skip

# %% [markdown]
# A slow mask is another reason to wait. Here the CPU fills the masks of a batch during the pass, one after the other.
# There are 64 requests. 63 of them have masks of 0.04 ms; for the masks of the other one we choose the time.


# %%
def serve_64(mask_ms, tokens):
    dates = [Request(0, tokens, "date", mask_ms=0.04)] * 63
    return simulate([Request(0, tokens, "slow", mask_ms=mask_ms), *dates], costs, Policy(overlap="masks"))


def compare_tpot():
    for mask_ms in (0.04, 40.0):
        times = [one.per_token_ms for one in serve_64(mask_ms, tokens=60).served]
        print(f"one mask takes {mask_ms:5} ms: p50 of the TPOT {percentile(times, 0.5):.1f} ms")


# %% [question]
# slide: One slow mask makes each token of all 64 requests slow.
gv.predict(
    "64 requests share a batch, and each of their masks takes 0.04 ms. Then one request gets a grammar whose masks "
    "take 40 ms. What happens to the TPOT?",
    choices=["only this request becomes slower", "the median of all becomes four times as long",
             "the median hardly changes: the pass hides the masks"],
    answer="the median of all becomes four times as long",
    reveal=[
        compare_tpot,
        lambda: gv.views.draw_timeline(serve_64(40, tokens=4), "one mask takes 40 ms"),
        """All rows of a batch get their tokens together, so all wait for the last mask. The masks take 63 · 0.04 + 40 =
        42.5 ms. The pass hides 9.3 ms of them, and all 64 requests wait for the other 33.2. Try it: in `compare_tpot`,
        put other times for 40.0. Up to about 6.8 ms the median stays as it is: 63 · 0.04 + 6.8 = 9.3 ms.""",
    ],
)  # fmt: skip

# %% [markdown]
# Why was a pass slow? A server can record the parts of each pass. Here are three passes:

# %%
# slide: Three passes with their parts: the model, the masks, and a compile for which all wait.
three = [Request(0, tokens=3, prompt=40), Request(2, tokens=2, schema="list", mask_ms=12)]
three += [Request(15, tokens=1, prompt=200, schema="order", compile_ms=14, mask_ms=1)]
parts = simulate(three, costs, Policy("blocks", overlap="masks"))
gv.views.draw_timeline(parts, title="three passes and their parts")

# %% [markdown]
# Look at the third pass, from 24 to 52 ms. First comes the compile of request 2. Then the forward pass takes 12 ms.
# Beside it the CPU fills the masks of requests 1 and 2, in 12 and 1 ms. Three parts can *delay* a pass:
#
# * `compile`: all wait for it, here 14 ms.
# * `masks`: one after the other beside the forward pass. Only the time beyond it is a delay, here 12 + 1 − 12 = 1 ms.
# * `prompt`: a new prompt is read inside the forward pass, here in 4 ms. Without it the pass would be shorter.

# %% [markdown]
# So the compile delayed this pass most. The length of a pass is `forward`, plus the compiles, plus the masks beyond
# `forward`, here 12 + 14 + 1 = 27 ms. (The scheduling, 1.5 ms, is not counted.)

# %% [markdown]
# ## Exercise 1 · Which request was it? ★★
#
# Write `slow_pass(passes)`. Each pass is a dict of milliseconds; `compile`, `masks` and `prompt` have one number per
# request. Find the longest pass. Return a pair: the name of its largest delay, and the request that took most time in
# this delay. For the first timeline of this section this is `("compile", 4)`. For the pass below it is `("masks", 3)`:
# the masks delay it by 31 − 20 = 11 ms.
#
#     {"forward": 20, "compile": {}, "masks": {3: 30, 4: 1}, "prompt": {4: 2}}

# %% [markdown]
# hint: The delays: the sum of `compile`; the sum of `masks` minus `forward`, at least 0; the sum of `prompt`. A pass
# takes `forward` plus the first two.
#
# hint: Write `delays(one)`, a dict of the three. Then `max(passes, key=...)`, `max` over the dict, and
# `max(slowest[part], key=slowest[part].get)`.


# %%
# slide: Exercise 1: find the request that made a pass slow.
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
# ## 2 · Masks beside the forward pass
#
# The state is known as soon as the last token is chosen. So the CPU can fill the next mask while the device runs the
# pass. Here is a measurement on a text of 35 tokens of Llama 3, with masks by a walk of the trie (lab 10). No GPU took
# part: one thread ran the passes of a small network, another filled the masks, on one processor with one memory. First
# we ran them one after the other, each mask after its pass:

# %%
overlap = gv.decoding.Overlap.load(shipped("traces/overlap-cpu.json"))
one_by_one, beside = overlap.pair("trie")
print(f"{overlap.source} {one_by_one.per_token:.2f} ms per token; the logits wait {one_by_one.overhead:.2f} ms of them")

# %% [question]
# slide: Side by side a token takes 0.3 ms less and not 1.1, because the two share one processor.
gv.predict(
    "Side by side, the logits never waited. How much less time did a token take?",
    choices=["about 1.1 ms: the wait is gone", "about 0.3 ms: the pass becomes longer", "nothing: it is one processor"],
    answer="about 0.3 ms: the pass becomes longer",
    reveal=[
        lambda: gv.views.draw_overlap(overlap, "trie"),
        """One by one a token takes 13.70 ms for the pass, 1.08 for the wait and 0.44 for the rest: 15.22 ms. (Of the
        wait, the mask takes 0.89 ms; the rest passes until its thread begins.) Side by side it takes 14.26, 0 and 0.65:
        14.91 ms. The wait is gone, but pass and rest are 0.77 ms longer, probably because the two threads share a
        processor. On a GPU the pass has a processor of its own. (The numbers are means of all 35 tokens; the picture
        shows six of them.)""",
    ],
)

# %% [markdown]
# Others measured it on a GPU. A pull request of vLLM ([#26866](https://github.com/vllm-project/vllm/pull/26866)) gives
# the *throughput* of a server with 800 requests at a time: how much the whole server does per second. The masks are
# filled after the pass, or during it. Each way was measured twice: no request has a constraint, then all
# have one. The pull
# request names no unit, so look at the ratios only.

# %%
# slide: In a large batch masks are not free: a third of the throughput is lost, or a sixth with overlap.
published = {"masks after the pass": (103.16, 69.36), "masks during it": (103.19, 85.28)}
free, constrained = zip(*published.values(), strict=True)
for way, before, after in zip(published, free, constrained, strict=True):
    print(f"{way:20} {after / before - 1:4.0%}")
gv.draw_bars([*published], {"no constraint": free, "all constrained": constrained}, title="throughput, PUBLISHED")

# %% [markdown]
# So in a large batch masks are not free: a third of the throughput is lost if they are filled after the pass, and a
# sixth if they are filled during it.
#
# **Measure it yourself.** Send the same prompts with the schema and without it, at your load. The TPOT shows what the
# masks cost, the TTFT what the compile costs.

# %% [markdown]
# ## 3 · Compile once
#
# A compile cache keeps compiled machines up to a number of bytes. The one that was not used for the longest time is
# removed first. Here our engine served 1,000 requests for 200 schemas on the 128,256 tokens of Llama 3; one
# schema was asked for in 17% of the requests. Each time is that of one request, from its schema to its first mask.
# *Warmed up* means that the 50 schemas that are asked for most were compiled before the first request.

# %%
# slide: A cache makes the median small; the slowest requests still wait for a compile.
measured = json.loads(shipped("traces/serving.json").read_text())
runs = measured["cache"]
print("RECORDED", measured["date"], "·", measured["device"])
print("hits:", " · ".join(f"{run['name']} {run['hit_rate']:.0%}" for run in runs))
times = {name: [run[f"{name}_ms"] for run in runs] for name in ("p50", "p99")}
gv.draw_bars([run["name"] for run in runs], times, title="milliseconds from the schema to the first mask")

# %% [markdown]
# Warming up saves compiles, but the p99 stays. About 150 of the 200 schemas were asked for at all, and 50 were warmed
# up. So about 100 of the 1,000 requests are the first for their schema, and that is more than 1%. In the last pair of
# bars a service writes the user's name into the schema, so each request compiles. (We do not know why its p99 is higher
# than with no cache; the medians are nearly equal.)

# %% [markdown]
# How long a compile takes depends on the engine. RECORDED 2026-11-21, one core, one schema of four fields on Llama 3:
#
# | engine | compile and first mask | a later mask, median |
# | --- | --- | --- |
# | xgrammar 0.2.8 splits the vocabulary before decoding | 13.3 ms | 1.6 µs |
# | llguidance 1.9.1 walks the trie at each step | 1.4 ms | 4.8 µs |
# | outlines-core 0.2.14 makes an index of all states | 249 ms | 1.4 µs |

# %% [question]
# slide: After 3,700 tokens with one schema the compile has paid for itself.
gv.predict(
    "After how many tokens with one schema has xgrammar taken less time in all than llguidance?",
    number=3_700,
    within=300,
    reveal="""(13.3 − 1.4) ms / (4.8 − 1.6) µs ≈ 3,700 tokens, or 37 requests of 100 tokens. A service whose requests
    share schemas gets there soon, one with a schema per request never. The two differ in more than their method, and
    other schemas give other numbers.""",
)

# %% [markdown]
# ## Exercise 2 · The key of the cache ★
#
# The cache above finds a compiled machine by its key. Write `cache_key(request)`, which returns this key as a text.
# `request` is a dict with `schema` (a JSON text), `vocabulary` (a *fingerprint*: a text that differs if the
# vocabularies do), `engine`, `version`, `options` (a dict), `prompt` and `seed`.
#
# * Requests that may need different masks must have different keys.
# * A part that changes no mask must not change the key.
# * Blanks in the JSON text, and the order of the options, must not change it either.

# %% [markdown]
# hint: Prompt and seed change no mask. Parse the schema and write it again, unsorted: the order of the properties is
# the order of the keys in the output.
#
# hint: `json.dumps([json.loads(request["schema"]), sorted(request["options"].items()), ...])` with the vocabulary, the
# engine and its version.


# %%
# slide: Exercise 2: write the key of the cache.
def cache_key(request):
    # solution:
    schema, options = json.loads(request["schema"]), sorted(request["options"].items())
    return json.dumps([schema, options, request["vocabulary"], request["engine"], request["version"]])
    # open:
    # ...  # which parts change a mask?
    # end


gv.checks.cache_key(cache_key)

# %% [markdown]
# ### One keyword · home
#
# (In class go on with section 4.) The time depends on the keywords of the schema, too. We add a fifth field, `bio`. Its
# schema is `{"type": "string"}`, or a `maxLength` is added.

# %% [question]
# slide: A single keyword can make a compile a hundred times as long.
gv.predict(
    'xgrammar 0.2.8 compiles the five fields in about 16 ms. Now `bio` gets `"maxLength": 64`. How long does it take?',
    choices=["about 16 ms: a count is only a number", "about 30 ms: one of five fields becomes harder",
             "more than a second: each of the 64 places is compiled"],
    answer="more than a second: each of the 64 places is compiled",
    reveal=[
        lambda: print(
            "RECORDED 2026-11-25, one core, one thread, Llama 3",
            "bio             xgrammar 0.2.8   llguidance 1.9.1   guidedviz",
            "a string              16 ms             0.9 ms         6 ms",
            "maxLength 64       1,603 ms             0.9 ms        12 ms",
            sep="\n",
        ),
        """With `maxLength` 64 the compiled grammar has 523 nodes, without it 73, and each node gets its table. This is
        no property of the method. xgrammar 0.2.9 gives 82 nodes, and its compile took twice as long as without the
        bound (2026-11-28). So measure the schemas that you use with the version that you run, and pin it.""",
    ],
)  # fmt: skip

# %% [markdown]
# ## 4 · Is the mask on?
#
# A client asks for a mask in a field of its request, and each front end has a field of its own. For one schema:
#
# | front end | the field |
# | --- | --- |
# | OpenAI | `"response_format": {"type": "json_schema", "json_schema": {"name": "order", "schema": {...}}}` |
# | Anthropic | `"output_config": {"format": {"type": "json_schema", "schema": {...}}}` |
# | vLLM | `"structured_outputs": {"json": {...}}` |

# %% [question]
# slide: A server that ignores an old field answers with status 200 and free text.
gv.predict(
    "vLLM removed the field `guided_json` in version 0.12. Many clients send fields that a server does not know, so "
    "vLLM accepts unknown fields. An old client sends `guided_json`. What comes back?",
    choices=["status 400: the field was removed", "status 200, and JSON of any form", "status 200, and free text"],
    answer="status 200, and free text",
    reveal="""The old name is now an unknown field, and nothing else asks for a mask. Users reported this for versions
    0.23 to 0.27. Newer versions warn once in their log, and the reply is the same. If the prompt asks for JSON, the
    model often writes JSON without a mask, and nobody notices. A test must send a prompt that invites prose, and check
    that the reply obeys the schema.""",
)

# %% [markdown]
# ### Where the constraint goes · home
#
# Read in November 2026, in documentation and sources:
#
# | front end | constraint | engine |
# | --- | --- | --- |
# | [vLLM] | `structured_outputs`, `response_format` | XGrammar, llguidance or Outlines; `auto` chooses |
# | [SGLang] | `response_format`, `regex`, `ebnf` | XGrammar, llguidance or Outlines |
# | [TensorRT-LLM] | `response_format`, `GuidedDecodingParams` | XGrammar or llguidance |
# | [OpenAI] | `response_format`, strict | llguidance since May 2025, says [its README][llguidance] |
# | [Anthropic] | `output_config`, strict tools | not named |
#
# "vLLM uses Outlines, SGLang uses XGrammar" is what older articles say: both have several engines now. The strict modes
# of the last two take JSON Schema only. [A request, end to end](deeper/a_request.ipynb) has clients, flags and replies.
#
# [vLLM]: https://docs.vllm.ai/en/latest/features/structured_outputs/
# [SGLang]: https://docs.sglang.io/advanced_features/structured_outputs.html
# [TensorRT-LLM]: https://nvidia.github.io/TensorRT-LLM/features/guided-decoding.html
# [OpenAI]: https://developers.openai.com/api/docs/guides/structured-outputs
# [llguidance]: https://github.com/guidance-ai/llguidance
# [Anthropic]: https://platform.claude.com/docs/en/build-with-claude/structured-outputs

# %% [markdown]
# ### Send a request, open its run · home
#
# Here the server is a host of `clerk` in this notebook. The client of OpenAI sends the request if it is installed.
# Otherwise urllib does.

# %%
clerk = gv.load_model("clerk")
order = {"product": {"type": "string"}, "color": {"type": "string"}, "price": {"type": "number"}}
schema = {"type": "object", "properties": order, "required": list(order)}

# %%
host = start_host(clerk)
strict = {"type": "json_schema", "json_schema": {"name": "order", "schema": schema, "strict": True}}
prompt = "The lamp is pink and costs $12.50.\nJSON with product, color, price:"
asked = [{"role": "user", "content": prompt}]
body = {"model": "clerk", "messages": asked, "temperature": 0, "seed": 0, "response_format": strict}
if openai and host.address:
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key="none")
    reply = client.chat.completions.create(**body).model_dump()
else:
    reply = host.ask(body)
print(reply["choices"][0]["message"]["content"])

# %% [markdown]
# The host keeps the run of each answer. `print(reply["guidedviz"]["run"])` gives the address of its
# page, which a browser on this machine opens. The stage plays the same run.

# %%
gv.stage(host.trace(reply), show=10)

# %% [markdown]
# ## 5 · One bit per token · home
#
# Masks are computed on the CPU, and the logits are on the GPU. **Packed** masks are faster to copy: token t is bit
# t % 32 of word t // 32. Here are two masks for the 4,096 tokens of `clerk`, and their words that are not 0.

# %%
guide = gv.guide(gv.json_schema(schema), clerk.vocabulary)
masks = np.stack([guide.mask(guide.initial), guide.mask(guide.advance(guide.initial, clerk.encode('{"')[0]))])
packed = gv.serving.pack_masks(masks)
print(f"{packed.dtype}, rows and words: {packed.shape}; legal ids:", *map(np.flatnonzero, masks))
for row, words in enumerate(packed.view(np.uint32)):
    for word in words.nonzero()[0]:
        print(f"row {row}, word {word:3}: {words[word]:032b}")

# %% [markdown]
# Bit 0 is the last digit. The first line has bit 27 of word 2: this is token 2 · 32 + 27 = 91. A row of Llama 3 takes
# 4,008 words of 32 bits in the engines that we ran, XGrammar and llguidance. These are 16,032 bytes. One byte per token
# would be 128,256.

# %% [markdown]
# ## Exercise 3 · Fill the packed mask ★ · home
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
# slide: Exercise 3: pack a row of the mask into bits.
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
# ## A policy · home
#
# | rule | reason | lab |
# | --- | --- | --- |
# | name the engine, pin its version | each engine has masks of its own; `auto` may choose another | 10, 13 |
# | version schemas like an API | order and names of the keys are a contract | 06 |
# | new grammar: measure the quality again | the mask changes what is written | 12 |
# | retry, or fine-tune, for wrong content | the mask knows the form only | 12, 13 |
# | compile known schemas at the start | the first request waits | 14 |
# | write no user data into a schema | each text compiles anew | 14 |
# | limit the size of schemas | one slow grammar delays all | 14 |
# | count legal tokens, Z and finish reasons | a fallback shows there first | 13 |

# %% [markdown]
# Two more rules. Use the masks of the server's engine, and write none of your own: it has the batch, the cache and the
# tests. And before a grammar is used, check that each state that does not accept has a legal token with *this*
# vocabulary: lab 13 had a regex that fails with `bard`.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we found
#
# | said | found | how | section |
# | --- | --- | --- | --- |
# | "A slow schema only hurts who sends it." | One mask of 40 ms makes every TPOT four times as long. | simulated | 1 |
# | "During the forward pass, masks are free." | In one measurement the throughput falls by a sixth. | published | 2 |
# | "A `maxLength` costs nothing." | 1,603 ms instead of 16 in one version, twice the time in the next. | measured | 3 |

# %% [markdown]
# ## Recap
#
# * A compile must park its request, not the batch. The masks of a batch are filled one after the other, so one slow
#   mask delays all.
# * Masks that are filled during the pass hide the wait. They are not free: both may share a processor.
# * The cache key: grammar, vocabulary, engine, version, options, and nothing else.
# * The field for a schema has another name in each front end. Test that the constraint is on.
#
# Next: one model that thinks, calls tools and answers, in [lab 15](15_think_then_call.ipynb).

# %% [markdown]
# ## How the production engines do it
#
# * **vLLM** parks a request while its grammar compiles ([#12388](https://github.com/vllm-project/vllm/pull/12388)), and
#   fills the masks of more than 128 rows in threads
#   ([source of 0.14](https://docs.vllm.ai/en/v0.14.0/api/vllm/v1/structured_output/)). Compiles in the background use
#   the CPU, too: in a container with 6 cores many new schemas at once made the time per token 68 to 93 ms instead of 7
#   to 9 ([#49460](https://github.com/vllm-project/vllm/issues/49460)).
# * **The old field**: vLLM ignores `guided_json` with status 200
#   ([#53975](https://github.com/vllm-project/vllm/issues/53975)), and now warns in its log
#   ([#54285](https://github.com/vllm-project/vllm/pull/54285)).
# * **SGLang** compiles in threads, and the request joins the queue when its grammar is ready
#   ([#16820](https://github.com/sgl-project/sglang/pull/16820)). A limit for its cache was proposed, and not merged
#   ([#22196](https://github.com/sgl-project/sglang/pull/22196)).

# %% [markdown]
# * **XGrammar** keeps compiled grammars ([#243](https://github.com/mlc-ai/xgrammar/pull/243)). Without a limit this was
#   a vulnerability: each new schema took memory until there was none. vLLM sets a limit of 512 MB
#   ([#16283](https://github.com/vllm-project/vllm/pull/16283)). With a `maxLength` its masks are slow, too
#   ([#852](https://github.com/mlc-ai/xgrammar/issues/852)); a change was merged in August 2026
#   ([#853](https://github.com/mlc-ai/xgrammar/pull/853)). 0.2.8 compiles as slowly as measured above, 0.2.9 does not.

# %% [markdown]
# * **XGrammar-2** shares the tables of tools between requests, and is used in products of AI companies, says [its
#   announcement](https://blog.mlc.ai/2026/05/04/xgrammar-2-fast-customizable-structured-generation).
# * **Overlap**: with scheduling during the pass, too, vLLM's throughput is 133 without a constraint and 90 with one
#   ([#26866](https://github.com/vllm-project/vllm/pull/26866), in the unit of section 2). It names no reason.
# * **Bounded loads**: send equal schemas to the same server, up to a limit on its load, since each has a cache of its
#   own: consistent hashing ([1608.01350](https://arxiv.org/abs/1608.01350)).

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
