# question: How does a server run constrained decoding for many requests?

# %% [markdown]
# # Lab 13 · In production
#
# **Question.** How does a server run constrained decoding for many requests, and what makes it slow?
#
# **Goal.** You can send a schema to any front end, write the packed mask and the cache key of a server, read a
# timeline, and say which request delayed all others.
#
# **Time.** {minutes} minutes, three exercises. [Lab 12](12_when_it_goes_wrong.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **front end** | the names and types with which a user sends a request |
# | **logits processor** | a function of a framework that may change the logits before each draw |
# | **packed mask** | one bit per token, in 32-bit words |
# | **continuous batching** | requests join and leave the batch between two forward passes |
# | **TPOT** | time per output token, after the first; **TTFT** is the time to the first token |
# | **compile cache** | compiled grammars, kept for later requests |

# %%
import json

import numpy as np
import torch
from pydantic import BaseModel
from transformers import AutoModelForCausalLM
from transformers.utils import logging

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.serving import Costs, Policy, Request, make_requests, simulate

clerk = gv.load_model("clerk")

# %% [markdown]
# ## 1 · One schema, many front ends
#
# A shop reads orders. The schema is a Pydantic class. Each front end takes it under another name, and the names change:
# vLLM ignores its old ones since version 0.12, and the reply is then not constrained.


# %%
class Order(BaseModel):
    product: str
    color: str
    price: float


ends = gv.serving.front_ends(Order, "The lamp is pink and costs $12.50.")
print(*ends[0].requests)  # to vLLM, as it is sent
gv.views.draw_front_ends(ends)

# %% [markdown]
# Here transformers runs `clerk`. `gv.LogitsProcessor` gets the ids of all rows and the logits, and sets the illegal
# ones to −∞. Beam search reorders the rows, so the processor finds the state of a row by its tokens.

# %%
logging.disable_progress_bar()
network = AutoModelForCausalLM.from_pretrained(shipped("models/clerk/config.json").parent, dtype=torch.float32)
prompt = "The lamp is pink and costs $12.50.\nJSON with product, color, price:\n"
ids = torch.tensor([clerk.encode(prompt)])
guide = gv.guide(gv.json_schema(Order), clerk.vocabulary)
written = network.generate(ids, logits_processor=[gv.LogitsProcessor(guide)], do_sample=False, max_new_tokens=60)

# %% [question]
gv.predict(
    "transformers computes in another library than `gv.decode`. Is the greedy text the same?",
    choices=["yes", "no"],
    answer="yes",
    reveal=[
        lambda: print(b"".join(clerk.vocabulary.pieces[i] for i in written[0, ids.shape[1] : -1]).decode()),
        lambda: print(gv.record(clerk, prompt, guide, temperature=0).text),
        """The logits differ in the fifth digit, and the largest one is the same at each step. Two runs whose two best
        logits are nearly equal can differ.""",
    ],
)

# %% [markdown]
# Other frameworks bring masks of their own. Four frameworks and three engines ran with `clerk` on orders with items, of
# which each may be counted from 1 to 99. One prompt asks for 120 lamps.

# %% [question]
gv.predict(
    "How many of the seven write 120, although the schema forbids it?",
    number=3,
    reveal=[
        lambda: gv.views.draw_frameworks(),
        """Outlines, its engine outlines-core, and lm-format-enforcer ignore the bound. The others write 12. Only our
        processor has our mask at all 54 steps; the reasons stand on the right. Most are a choice, such as white space.
        Some are faults, such as bytes that are no UTF-8.""",
    ],
)

# %% [markdown]
# ## 2 · Four calls
#
# All engines have the same four calls: **compile** a grammar for a vocabulary, compute the **mask** of a state,
# **apply** it to the logits, and **advance** the state by the drawn token. This is their code for a time of day.

# %%
gv.views.draw_verbs()

# %% [markdown]
# Each line of the table runs. `run_verbs` executes the code of an engine along a text, and counts the logits that are
# left before each token and at the end.

# %%
for engine in gv.serving.FOUR_VERBS:
    print(f"{engine.engine:14}", gv.serving.run_verbs(engine, clerk.vocabulary, clerk.encode("07:30")))

# %% [markdown]
# At the end four engines leave one logit: EOS is legal exactly where the text is complete. The FSM knows no EOS; its
# loop asks `is_complete()`.

# %% [markdown]
# ## 3 · One bit per token
#
# The masks of a batch are computed on the CPU, and the logits are on the GPU. So the masks are packed: token t is bit
# t % 32 of word t // 32. One copy brings the words of all rows to the device.

# %%
masks = np.stack([guide.mask(guide.initial), guide.mask(guide.advance(guide.initial, clerk.encode('{"')[0]))])
packed = gv.serving.pack_masks(masks)
logits = np.zeros(masks.shape, np.float32)
print(packed.dtype, packed.shape, np.isfinite(gv.serving.apply_packed(logits, packed)).sum(1), masks.sum(1))

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
# the row. Bit 31 is the sign of an int32, so the words can be negative.
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
# A server decodes many requests in one batch. This is the loop of lab 00 with what production adds. Where a draft is
# rejected, the state is rolled back.

# %%
gv.views.draw_loop("production")

# %% [markdown]
# A simulation shows who waits for whom. The costs are set by hand, as for a model of 8 billion weights on one GPU. Four
# requests have no schema; the fifth has a schema whose compile takes 60 ms. vLLM's V0 engine compiled while the batch
# waited.

# %%
costs = Costs(forward=8, row=0.02, token=0.02, host=1.5, apply=0.005)
five = [*(Request(3 * n, tokens=12, prompt=40) for n in range(4)), Request(20, 8, "order", compile_ms=60, mask_ms=0.1)]
v0 = simulate(five, costs, Policy("blocks"))
gv.views.draw_timeline(v0, title="the batch waits for the compile")

# %% [markdown]
# Its V1 engine compiles in the background. Only the request that needs the machine waits: it is *parked*.

# %% [question]
gv.predict(
    "With a parked request, what is the longest time per output token of the four others? Above it is 15 ms.",
    choices=["about 15 ms", "about 10 ms", "about 5 ms"],
    answer="about 10 ms",
    reveal=[
        lambda: gv.views.draw_timeline(simulate(five, costs, Policy("parks")), title="the request is parked"),
        """A pass takes 8 ms and 1.5 ms of scheduling. The request with the schema gets its first token at nearly the
        same time as above.""",
    ],
)

# %% [markdown]
# Masks cost time in each pass. A pull request of vLLM ([#26866](https://github.com/vllm-project/vllm/pull/26866))
# measured 800 requests at a time, with 0 to 100% of them constrained: masks after the forward pass (*none*), beside it
# (*masks*), and scheduling beside it, too (*all*). Four of the twelve numbers give the costs of our simulation; it
# predicts the others.

# %%
published = {
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
# The first two lines are within 6% of the published numbers. In the third each pass with a constrained request takes 9
# ms longer than our model says, whatever their share. With the executor in a process of its own, 5 to 8 ms were left
# (114.67, 96.08 and 93.42). So an overlap is never complete. The pull request names no unit. At 800 requests of 128
# tokens, 103 tokens per second would be one token per request in 8 seconds; these are requests per second.

# %% [markdown]
# Now 400 requests for 20 schemas, 100 per second, on the server with the costs set by hand. 26% of the tokens are
# forced, and a draft of 4 is accepted with 3.5 tokens on average, as `python -m guidedviz.bench speculation` measured
# for `clerk`.

# %%
asked = make_requests(400, per_second=100, tokens=60, prompt=100, schemas=[(60, 0.04)] * 20, forced=0.26)
others = make_requests(63, per_second=400, tokens=60, schemas=[(0, 0.04)])
ways = {"the batch waits": Policy("blocks"), "parked": Policy(), "masks beside": Policy(overlap="masks")}
ways |= {"scheduling beside": (best := Policy(overlap="all")), "and jump-forward": Policy(overlap="all", jump=True)}
ways["and a draft of 4"] = Policy(overlap="all", draft=4, accepted=3.5)
for name, policy in ways.items():
    run = simulate(asked, costs, policy)
    tpot = f"TPOT p50 {run.per_token(0.5):4.1f} ms, p99 {run.per_token(0.99):4.1f} ms"
    print(f"{name:18} {tpot}, TTFT p99 {run.first_token(0.99):6,.0f} ms, {run.tokens_per_second:,.0f} tokens/s")

# %% [question]
gv.predict(
    "Now each of the 400 requests has a schema of its own. With scheduling beside the TTFT p99 is 441 ms above. What "
    "will it be?",
    choices=["about 0.5 s", "about 2 s", "about 20 s"],
    answer="about 20 s",
    reveal=[
        lambda: print(simulate(make_requests(400, per_second=100, tokens=60, prompt=100, schemas=[(60, 0.04)],
                                             unique=True), costs, best)),
        """100 compiles of 60 ms per second need six workers, and there is one. So the compiles queue. The TPOT is good,
        because the batch is nearly empty: look at both times.""",
    ],
)  # fmt: skip

# %% [question]
gv.predict(
    "64 requests share a batch. Masks take 0.04 ms, but one request has a grammar whose masks take 40 ms. How does the "
    "median TPOT of all requests change?",
    choices=["hardly", "it doubles", "it becomes four times as long"],
    answer="it becomes four times as long",
    reveal=[
        lambda: [
            print(f"{ms:5} ms:", simulate([*others, Request(50, 60, "other", mask_ms=ms)], costs, ways["masks beside"]))
            for ms in (0.04, 40.0)
        ],
        """All rows of a batch get their tokens together, so all wait for the slowest mask. The forward pass hides the
        first 10 ms of it.""",
    ],
)

# %% [markdown]
# A record has the parts of each pass in milliseconds: `forward`, which contains the prompts that were read, and for
# each request its `compile` while the batch waited, its `masks` and its `prompt`. The batch waits for all compiles.
# Masks are filled during the forward pass; only the time beyond it delays the pass.

# %% [markdown]
# ## Exercise 2 · Which request was it? ★★
#
# Write `slow_pass(passes)`. Find the pass that took longest. Return the part that delayed it most and the request with
# the largest time in this part, such as `("masks", 3)`.
#
# hint: The delays of a pass: the sum of `compile`; the sum of `masks` minus `forward`, but at least 0; the sum of
# `prompt`. A pass takes `forward` plus the first two.
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
# `gv.serving.CompileCache` keeps compiled machines up to a number of bytes; what was used longest ago leaves first.
# Here our engine served 1,000 requests for 200 schemas on the 128,256 tokens of Llama 3. The most popular schema was
# asked for in 17% of the requests.

# %%
measured = gv.serving.Measured.load(shipped("traces/serving.json"))
print(measured.date, "·", measured.device)
for run in measured.cache:
    times = f"p50 {run.p50_ms:7.1f} ms  p99 {run.p99_ms:7.1f} ms"
    print(f"{run.name:24} {run.hit_rate:4.0%} hits  {times}  {run.megabytes:5.1f} MB")

# %% [markdown]
# The last line is a service that writes the user's name into the schema: no request finds its machine. An engine can be
# chosen for this case. Of the 40 schemas that were timed, the record has the compile with its first mask, and one mask.

# %% [question]
gv.predict(
    "Each request has a schema of its own and writes 100 tokens. Which engine's method needs the least CPU time?",
    choices=["split the vocabulary before decoding (xgrammar)", "walk the trie at each step (llguidance)"],
    answer="walk the trie at each step (llguidance)",
    reveal=[
        lambda: print(measured),
        """A walk prepares nothing, and its masks cost more. The split pays when one machine writes many tokens.
        An index (Outlines) prepares every state: for these schemas on 128,256 tokens it takes seconds.""",
    ],
)

# %% [markdown]
# ## Exercise 3 · The key of the cache ★
#
# Write `cache_key(request)`. A request is a dict with `schema` (a JSON text), `vocabulary` (a fingerprint), `engine`,
# `version`, `options` (a dict), `prompt` and `seed`. Return a text. Two requests must have the same key exactly if one
# compiled machine serves both.
#
# hint: Prompt and seed change no mask. Blanks between the parts of the schema change nothing, and the options have no
# order. But the order of the properties is the order of the keys in the output.
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
# Several replicas have a cache each. *Round robin* sends requests to one replica after the other, a *hash* of the
# schema sends equal schemas to the same one. A *bounded* hash goes to the next replica when one has 1.25 times the mean
# load.

# %%
asked = make_requests(2000, per_second=50, schemas=[(400, 0)] * 300, skew=1.2, tokens=100, seed=3)
for route in ("round robin", "hash"):
    print(f"{route:12}", gv.serving.simulate_routing(asked, 8, route, rows=8, kept=30))

# %% [question]
gv.predict(
    "The hash has more hits and a far longer p99. What will the bounded hash have?",
    choices=["more hits than the hash", "hits near the hash and a p99 near round robin", "the p99 of the hash"],
    answer="hits near the hash and a p99 near round robin",
    reveal=[
        lambda: print(gv.serving.simulate_routing(asked, 8, "bounded hash", rows=8, kept=30)),
        """One schema has a third of all requests. The hash sends them all to one replica, where they queue. With the
        bound some go to other replicas, which compile the schema once each.""",
    ],
)

# %% [markdown]
# ## A policy
#
# | rule | reason | lab |
# | --- | --- | --- |
# | pin the engine and its version; forbid the fallback | each engine has masks of its own | 09, 12 |
# | compile known schemas at the start | the first request waits otherwise | 13 |
# | give schemas a version; no user data in them | each new text compiles anew | 13 |
# | limit the compile time and the size of schemas | one slow grammar delays a batch | 05, 12 |
# | count legal tokens, Z and finish reasons | a fallback shows there first | 12 |
# | constrain only what a program parses | elsewhere the model writes better free text | 11 |
# | host the model yourself for regexes, grammars, or Z per step | hosted APIs take a part of JSON Schema | 13 |

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
# | "Beside the forward pass, masks are free." | 85 instead of 103 requests per second in vLLM's own table. | 4 |
# | "Sort the schema before you hash it." | Then two orders of keys share one machine. | 5 |

# %% [markdown]
# ## Recap
#
# * All engines: compile, mask, apply, advance. The front ends only name them.
# * A packed mask has one bit per token; the batch has one row of words per request.
# * A compile must park its request, not the batch. The slowest mask sets the pace of all.
# * The cache key: grammar, vocabulary, engine, version, options, and nothing else.
# * Route by schema, with a bound on the load.
#
# This was the last lab. The pages in `labs/deeper` go on.

# %% [markdown]
# ## How the production engines do it
#
# * **vLLM** parks a request while its grammar compiles, and fills the masks of more than 128 rows in threads
#   ([source of 0.14](https://docs.vllm.ai/en/v0.14.0/api/vllm/v1/structured_output/)). A cache on disk is proposed
#   ([#45948](https://github.com/vllm-project/vllm/pull/45948)): a new replica starts with an empty one.
# * **SGLang** compiles in a thread, and the request joins the queue when its grammar is ready
#   ([#1996](https://github.com/sgl-project/sglang/pull/1996)). Its cache had no limit; one was proposed
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
# A draft of 4 tokens is accepted with 3.5 tokens on average. For 8 rows it makes the server 4 times as fast; for 256
# constrained rows only 1.3 times, although a free batch of 256 gains 1.8 times. Why? Check with
# `Policy(overlap="masks", draft=4, accepted=3.5)`.
#
# hint: How many masks does a row need per pass with a draft of 4?
#
# hint: 256 rows times 5 masks of 0.04 ms: compare with the forward pass.
