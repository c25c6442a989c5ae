# question: What does a mask change in what a model writes, and what does it cost?

# %% [markdown]
# # Lab 12 · What masks change
#
# **Question.** A mask makes every output legal. What else does it change, and what does that cost?
#
# **Goal.** You can measure how far masked texts are from the legal texts that the model itself prefers, and decide for
# a task whether it needs a mask, a better prompt, or room to think.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 11](11_jump_forward.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **conditioning** | keep the legal texts of a distribution and divide their probabilities by their sum |
# | **target** | the model's distribution over texts, conditioned on the legal ones |
# | **weight** | the product of all legal masses Z of a run |
# | **total variation** | a distance of two distributions: 0 if they are equal, 1 if they share no text |
# | **95% interval** | a range computed so that it holds the true value in 95 of 100 repeated measurements |
# | **trigger** | a text that switches the mask on |

# %%
import json

import numpy as np

import guidedviz as gv
from guidedviz.decoding import distribution as samplers
from guidedviz.files import shipped

clerk = gv.load_model("clerk")
record = json.loads(shipped("traces/format-tax.json").read_text())

# %% [markdown]
# ## 1 · No failure, and a strange title
#
# A service reads announcements of books and writes JSON. Of 100 replies, 4 could not be parsed. Now it uses a mask,
# and every reply parses. Some weeks later users report strange titles. No monitor shows an error.
#
# Here is such a reply. The schema allows 20 characters for the title:

# %%
news = '"The Lantern and the Harbor" was written by Ada Lovelace and has 320 pages.\nJSON with title, pages:\n'


def book(limit):
    title = {"type": "string", "maxLength": limit}
    fields = {"title": title, "pages": {"type": "integer"}}
    return gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})


gv.stage(clerk, news, gv.guide(book(20), clerk.vocabulary), temperature=0, constraint="title: 20 characters", show=8)

# %% [markdown]
# The title has 19 characters here, so one more fits. The model wants to go on with ` Harbor`, which is too long. Z is 1
# in 11,000: the mask forbids nearly everything that the model would write. Of the rest, `7` is the likeliest. The reply
# is valid, and wrong.

# %% [question]
gv.predict(
    "The limit is now 8 characters. Which title does the model write?",
    choices=["`The Lant`", "`The Roy`", "`Lantern`", "no title: an error"],
    answer="`The Roy`",
    reveal=[
        lambda: [print(f"{n:3} characters: {run.text}  least Z {min(step.mass for step in run.steps):.5f}")
                 for n in (30, 20, 12, 8)
                 for run in [gv.record(clerk, news, gv.guide(book(n), clerk.vocabulary), temperature=0)]],
        """`maxLength` does not tell the model to be brief. The model learns of the limit when its next token is masked.
        Then it takes the likeliest token that fits, here ` Roy`. With 30 characters the limit changes nothing.""",
    ],
)

# %% [markdown]
# ## 2 · Whole texts
#
# A mask keeps the ratios of the legal tokens at each step. Does it keep the ratios of whole texts?
#
# The smallest example is a toy model that writes a month in two digits. It gives `19` a high probability, and `19` is
# no month. After `0` it writes `7` or `6`.

# %%
wish = {
    "month ": {"1": 0.9, "0": 0.1},
    "1": {"9": 0.97, "0": 0.01, "1": 0.01, "2": 0.01},
    "0": {"7": 0.8, "6": 0.2},
}
pieces = [*"0123456789", "month "]


def rule(tokens):
    return np.log([wish.get(pieces[tokens[-1]], {}).get(piece, 1e-9) for piece in pieces])

# %%
toy = gv.ToyModel([piece.encode() for piece in pieces], rule)
months = samplers.Task(toy, "month ", gv.guide(gv.regex("0[1-9]|1[0-2]"), toy.vocabulary))
texts = samplers.all_texts(months)
print(len(texts), "months; a text without a mask is one with probability", round(sum(t.free for t in texts), 3))

# %% [markdown]
# What *should* a masked model write? If we draw texts without a mask and keep only the months, we get the **target**.

# %% [markdown]
# ## Exercise 1 · Conditioning ★
#
# Write `conditioned(chances, legal)`. `chances` is a dict from texts to probabilities, `legal` a set of texts. Return a
# dict with the probability of each legal text among the legal texts. For `{"a": 0.2, "b": 0.3, "c": 0.5}` and
# `{"a", "b"}` it is `{"a": 0.4, "b": 0.6}`.
#
# hint: All legal texts are divided by the same number.
#
# hint: This number is `sum(chances[text] for text in legal)`.

# %%
def conditioned(chances, legal):
    # solution:
    whole = sum(chances[text] for text in legal)
    return {text: chances[text] / whole for text in legal}
    # open:
    # ...
    # end


gv.checks.conditioned(conditioned)

# %% [question]
gv.predict(
    "The free model writes `07` with probability 0.08, and each of `10`, `11`, `12` with 0.009. Which months does "
    "masked decoding write most often?",
    choices=["`07`", "`10`, `11` and `12`", "all twelve equally often"],
    answer="`10`, `11` and `12`",
    reveal=[
        lambda: gv.views.draw_text_tree(months),
        """The width of a box is a probability. In the target 63% of the months are `07`. Masked decoding writes `07`
        in 8%. In 90% it begins with `1`, which is legal and likely. Then `9` is illegal, and there is no way back. A
        mask looks one token ahead. It does not know how much of the probability will stay legal.""",
    ],
)

# %% [markdown]
# ## 3 · The warning light
#
# Z tells when this happens. In the free model a run has the probability of the masked run *times* the product of its
# Zs. This product is the **weight** of the run. If all runs have the same weight, masked decoding draws from the
# target.

# %%
draws = [samplers.Masked(months).draw(seed) for seed in range(500)]
weights = {draw.text.decode(): round(draw.weight, 3) for draw in draws}
print(weights)

# %% [markdown]
# ## Exercise 2 · A distance from weights ★
#
# The weights alone tell how far masked decoding is from the target. Write `distance(weights)` for the weights of many
# masked draws: divide each weight by the mean weight, take the distance of each result from 1, and return *half* of the
# mean of these distances. For `[0.1, 0.3]` it is 0.25. This estimates the total variation.
#
# hint: The mean is `sum(weights) / len(weights)`.
#
# hint: `sum(abs(1 - weight / mean) for weight in weights)` is the sum of all distances.

# %%
def distance(weights):
    # solution:
    mean = sum(weights) / len(weights)
    return sum(abs(1 - weight / mean) for weight in weights) / len(weights) / 2
    # open:
    # ...
    # end


gv.checks.distance(distance)

# %% [markdown]
# For the months the distance is also known exactly. Both agree:

# %%
target, masked = ({t.tokens: share(t) for t in texts} for share in (lambda t: t.conditioned, lambda t: t.masked))
print(f"exact {samplers.total_variation(target, masked):.2f}, from 500 draws {samplers.total_variation_of(draws)}")

# %% [markdown]
# Now a real model. `clerk` reads one sentence and writes JSON under a mask. It gets the same sentence three times: with
# a line that asks for JSON, with a greeting before it, and without that line. We draw 60 texts each. Many of them begin
# alike, and `remember` keeps the logits, so that the model reads no text twice.

# %%
schema = {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer"}}
person = gv.json_schema({"type": "object", "properties": schema, "required": list(schema)})
guide = gv.guide(person, clerk.vocabulary)
cue = "\nJSON with name, age:\n"
prompts = {"asked": f"Ada is 36.{cue}", "greeted": f"Hi! Ada is 36.{cue}", "not asked": "Ada is 36.\n"}
known = gv.decoding.remember(clerk)
drawn = {name: [samplers.Masked(samplers.Task(known, text, guide, max_tokens=60)).draw(seed) for seed in range(60)]
         for name, text in prompts.items()}  # fmt: skip

# %% [question]
gv.predict(
    "For which of the three prompts is masked decoding farthest from the target?",
    choices=["asked", "greeted", "not asked"],
    answer="not asked",
    reveal=[
        lambda: [print(f"{name:10} legal without a mask {samplers.legal_of(some)}, total variation "
                       f"{samplers.total_variation_of(some)}") for name, some in drawn.items()],
        lambda: [print(text) for _, text in sorted({(len(d.text), d.text.decode()) for d in drawn["not asked"]})[-3:]],
        """Greeted: only 30% of the free texts are legal, and still masking changes little. Most illegal texts begin
        with prose such as `Sure!`, so they are removed at the first step, and little is distorted later. Not asked: the
        model wants to write something else at every step. What it cannot write outside, it writes inside the string:
        `Hope this helps!` became part of a name. Here a few large weights decide, and 60 draws may miss the largest.
        So 0.91 is probably too low, and its interval too narrow.""",
    ],
)

# %% [markdown]
# ## 4 · Ask, mask, or both?
#
# We measured this on 400 held-out prompts of 14 kinds, at temperature 1: with and without the line that asks for the
# format, with and without a mask. *Parses*: the output has the format. *Right*: it is exactly the right answer. The
# lines on the bars are 95% intervals.

# %%
def share(kind, asked, masked, family=None):
    cells = [row for row in record["formats"] if row["temperature"] == 1 and family in (None, row["family"])]
    rows = [row for row in cells if (row["asked"], row["masked"]) == (asked, masked)]
    return samplers.share_of(sum(row[kind] for row in rows), sum(row["prompts"] for row in rows))


def compare(kind, title):
    masks = {"no mask": False, "mask": True}
    rows = {name: [share(kind, asked, masked) for asked in (True, False)] for name, masked in masks.items()}
    return gv.draw_bars(["asked", "not asked"], rows, title=title)


compare("parses", "outputs that parse")

# %% [question]
gv.predict(
    "Not asked, with a mask: all outputs parse. How many of 100 are right?",
    number=lambda: round(100 * share("right", False, True).value),
    within=12,
    reveal=[
        lambda: compare("right", "outputs that are exactly right"),
        """Fewer than half. With both, 85 of 100 are right, with the prompt alone 71. The intervals do not overlap: for
        this small model the mask is a gain.""",
    ],
)

# %% [markdown]
# The mean hides that the kinds differ. *Not asked, mask*: of 37 tool calls 36 are right, because this mask contains the
# names of the tools and their arguments.

# %% [question]
gv.predict(
    "A mask for dates allows `YYYY-MM-DD`. The prompt says `Born May 3, 1987.` and no more. How many of 13 dates are "
    "right?",
    choices=["0", "about 6", "all 13"],
    answer="0",
    reveal=[
        lambda: gv.draw_bars(
            kinds := ["tool", "price", "record", "sql", "order", "nested", "date"],
            {
                name: [share("right", asked, True, kind) for kind in kinds]
                for name, asked in (("asked", True), ("not asked", False))
            },
            title="right, with a mask",
        ),
        """A mask is a help where its text says what is wanted: names of tools, keys, a dollar sign. The pattern of a
        date has digits only, and `clerk` finds the year only if it was asked for a date. With the line all 13 are
        right.""",
    ],
)

# %% [markdown]
# `clerk` was trained for these tasks. Now SmolLM2, which nobody here trained. It was asked for the mood of 100
# sentences: *Is the sentiment of this sentence positive, negative or neutral? Answer with one word.* About a third of
# the sentences have each mood. Free, it writes *The sentiment of this sentence is neutral.* So a mask allows the three
# words only.

# %%
moods = gv.decoding.Rates.load("smollm2/labels")
print(moods)
print("right with a mask of positive, negative, neutral:", moods.shares("right")["mask"])

# %% [question]
gv.predict(
    "Now the same three words in the mask, with a capital: `Positive`, `Negative`, `Neutral`. The question does not "
    "change. How many of the 100 answers are `Positive`?",
    choices=["about 34, as many as are positive", "about 60", "100"],
    answer="100",
    reveal=[
        lambda: [print(f"{share}  {way}") for way, share in moods.shares("right").items() if way != "free"],
        """All of them. At the first step Z is about 0.1: nine times of ten the model would begin with another word,
        such as `The`. What is left is `Positive` with 0.096 and `Negative` with 0.006, nearly whatever the sentence
        says. The spelling of the labels decides, and so does their order in the question: with *negative, neutral or
        positive* 62 are right. A small Z at the first step is the warning.""",
    ],
)

# %% [markdown]
# What was found on large models? Formats cost accuracy on tasks of reasoning ([Tam et
# al.](https://arxiv.org/abs/2408.02442)). With better prompts they did not ([a
# reply](https://blog.dottxt.ai/say-what-you-mean.html)). Prompt and mask apart, as here: with open models most of the
# loss comes from the line that *asks* for a format, before any mask ([Lee et al.](https://arxiv.org/abs/2604.03616)).
# For `clerk` this line is a gain, because it was trained with it. So measure your own model and task.
#
# `clerk-small`, with a fifth of the weights, gains as much from the mask: 52% of its outputs are right without and 66%
# with it. The order of the keys can cost, too: [lab 06](06_json_schema.ipynb) measures it.

# %% [markdown]
# ## 5 · Room to think
#
# SmolLM2 was asked 50 sums of one step: *Diego has 3 stones and buys 8 more. How many stones does Diego have now?
# Answer with the number only.* Free, it does not obey: *Diego has 3 stones and buys 8 more, so Diego has 3 + 8 = 11
# stones now.* The last number of its answer is right in 17 of 50.

# %%
sums = gv.decoding.Rates.load("smollm2/sums-one")
print(sums)

# %% [question]
gv.predict(
    "A program needs the number only, so a mask allows digits only. How many of 50 are right?",
    choices=["about 17: the model is the same", "more: it can no longer ramble", "3"],
    answer="3",
    reveal=[
        lambda: [print(f"{share}  {way}") for way, share in sums.shares("last number is right").items()],
        """The sum is computed in the words before the number. The mask removes the words. A JSON object with the keys
        `reasoning` and `answer`, in this order, gives them back under a mask: 14 of 50. With `answer` alone none is
        right. Fifty sums are few: the intervals say which differences could be chance.""",
    ],
)

# %% [markdown]
# `clerk` shows the same: it learned to think in words, and of 200 sums 32 are right with a thought, none with the
# number alone. Both models are weak at sums, so this says how a format without room acts. It does not say how much a
# large model would lose.

# %% [markdown]
# The cure is a **window**: free text up to a trigger, here `: `, then the mask. `gv.tagged` builds its machine.

# %%
number = gv.regex("0|[1-9][0-9]{0,2}")
window = gv.tagged(gv.regex("[ -~]*"), begin=": ", machine=number, at_least_one=True, stop_after_first=True)
books = "Ada has 14 books and buys 5 more. How many books are there now?\nThink, then answer:\n"
gv.stage(clerk, books, gv.guide(window, clerk.vocabulary), temperature=0, constraint="thought: number", show=22)

# %% [markdown]
# After the trigger only the ten digits are legal. The answer is valid and false: 14 + 5 is not 21. No mask checks a
# sum.

# %% [markdown]
# ## Exercise 3 · A window ★★
#
# Write one step of a window. In free text the state is `("free", read)`. Here `read` is the beginning of the trigger
# with which the text ends, as long as possible. With the trigger `A:` it is `b"A"` after `Ada A`, and `b""` after
# `Ada`. When the trigger is complete, the state is `("in", machine.initial)`, and then the machine reads. Return the
# new state, or None for an illegal byte. After `A` another `A` gives `("free", b"A")`.
#
# hint: In the window call `machine.step`. In free text append the byte: is that the trigger?
#
# hint: If not, remove bytes from its front until `trigger.startswith(read)` holds; it holds for `b""`.

# %%
def window_step(machine, trigger, state, byte):
    # solution:
    kind, read = state
    if kind == "in":
        after = machine.step(read, byte)
        return None if after is None else ("in", after)
    read += bytes([byte])
    while not trigger.startswith(read):
        read = read[1:]
    return ("in", machine.initial) if read == trigger else ("free", read)
    # open:
    # kind, read = state
    # ...
    # end


gv.checks.window_step(window_step)

# %% [question]
gv.predict(
    "`at_least_one=True` demands a window. What happens if the model never writes the trigger?",
    choices=["the text ends without an answer", "the text cannot end: EOS is illegal", "the mask opens the window"],
    answer="the text cannot end: EOS is illegal",
    reveal=[
        lambda: print(window.accepts(b"Ada has 19."), window.accepts_prefix(b"Ada has 19."),
                      window.accepts(b"Ada has 19. Answer: 19")),
        """The model goes on until it writes the trigger or its tokens run out. So a limit of tokens is needed, and a
        plan for a run that was cut: lab 13. The opposite can happen as well: a trigger *inside* the thought opens the
        window too early. A rare trigger such as a special token prevents it.""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "A mask only removes invalid texts." | The months: total variation 0.69 from the model's own valid texts. | 2 |
# | "With a schema the prompt need not describe the format." | All parse, 42% right; with the prompt 85%. | 4 |
# | "Constrained decoding harms reasoning." | A number alone: 3 of 50 right; after a masked `reasoning`: 14. | 5 |

# %% [markdown]
# ## Recap
#
# * A mask looks one token ahead. It keeps the ratios of tokens, not of whole texts.
# * The product of the Zs is the warning light: equal products, no distortion.
# * Ask for the format *and* mask. Give the thought room, then open a window.
# * A limit in a schema cuts; it does not shorten.
#
# Next: [lab 13](13_when_it_goes_wrong.ipynb), a clinic for runs that fail.

# %% [markdown]
# ## How the production engines do it
#
# * The engines of labs 09 to 11 use plain masks. Park et al. measured the distortion and gave a cure, ASAp ([arXiv
#   2405.21047](https://arxiv.org/abs/2405.21047)); [a page](deeper/samplers.ipynb) of this course compares it with
#   other samplers.
# * **vLLM** starts the mask [after the reasoning](https://docs.vllm.ai/en/latest/features/structured_outputs/) of
#   models that think. **XGrammar** and **SGLang** know windows as [structural
#   tags](https://xgrammar.mlc.ai/docs/tutorials/structural_tag.html).
# * **CRANE** ([arXiv 2502.09061](https://arxiv.org/abs/2502.09061)) switches the mask on and off between delimiters and
#   gains up to 10 points.

# %% [markdown]
# ## Further reading
#
# * [Let Me Speak Freely?](https://arxiv.org/abs/2408.02442): formats that cost accuracy, measured on seven tasks.
# * [Say What You Mean](https://blog.dottxt.ai/say-what-you-mean.html): the reply, with the prompts of both sides.
# * [The Format Tax](https://arxiv.org/abs/2604.03616): prompt and mask apart; think first, format later.

# %% [markdown]
# ## A puzzle
#
# In section 3 the *greeted* prompt has P(legal) = 0.3 and a small total variation. Invent a model with P(legal) = 0.3
# for which the total variation is exactly 0, and one for which it is above 0.5.
#
# hint: The first model loses all of its illegal probability at the first token.
#
# hint: The second one has several equally likely first tokens. After only one of them a legal text is likely.
