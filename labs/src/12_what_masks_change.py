# question: What does a mask change in what a model writes, and what does it cost?

# %% [markdown]
# # Lab 12 · What masks change
#
# **Question.** A mask makes every output legal. What else does it change, and what does that cost?
#
# **Goal.** You can measure how far masked texts are from the legal texts that the model itself prefers. You can say
# what a mask gives, and what needs a better prompt, training, or room to think.
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
# | **total variation** | half the sum of the absolute differences: 0 for equal distributions, 1 if nothing is common |
# | **95% interval** | a range computed so that it holds the true value in 95 of 100 repeated measurements |
# | **window** | a part of a text in which the mask is on; a **trigger**, such as `<<`, opens it |

# %% [markdown]
# **Lost?** Reread [lab 02](02_static_masks.ipynb) for the legal mass Z, and [lab 01](01_logit_bias.ipynb) for
# probabilities and temperature.

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
# An invented example: a service reads announcements of books and writes JSON under a mask. Every reply parses, and no
# monitor shows an error. But users report strange titles.
#
# Here is one. The schema allows a title of at most 20 letters, digits and spaces. The stage stands before
# token 9, the `7`:

# %%
# slide: A title with a limit: step to its last character, and look at Z.
news = '"The Lantern and the Harbor" was written by Ada Lovelace and has 320 pages.\nJSON with title, pages:\n'


def book(limit):
    title = {"type": "string", "pattern": "^[A-Za-z0-9 ]+$", "maxLength": limit}
    fields = {"title": title, "pages": {"type": "integer"}}
    return gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})


reply = gv.record(clerk, news, gv.guide(book(20), clerk.vocabulary), temperature=0, constraint="title: 20 characters")
gv.stage(reply, show=8)

# %% [markdown]
# The title has 19 characters here, so one more fits. The model wants to go on with the token ` Harbor`. Its space leads
# from q46 to q47, and from q47 only the quote leads on: `H` is one character too many. A mask cannot shorten a token:
# it forbids the whole token. Z is 1 in 11,000. `7` is the likeliest legal token. The reply is valid, and wrong.

# %% [markdown]
# In the panel an outline is the model's probability; the number includes the mask and temperature 0: 0 for ` Harbor`, 1
# for the `7`. Step on: below the `7` stands 0.97, its share of the legal probability.

# %% [question]
# slide: The mask does not shorten a title; the model goes on as before until it is cut.
gv.predict(
    "The limit is now 8 characters. Which title does the model write?",
    choices=[
        "`The Lant`: the first 8 characters",
        "`Lantern`: from the start a title that fits",
        "`The Roy`: it begins as before, and then takes a token that fits",
        "`Lovelace`: another word of the sentence",
    ],
    answer="`The Roy`: it begins as before, and then takes a token that fits",
    reveal=[
        lambda: [print(f"{n:3} characters: {run.text}  least Z",
                       gv.sampling.probability(min(step.mass for step in run.steps)))
                 for n in (30, 20, 12, 8)
                 for run in [gv.record(clerk, news, gv.guide(book(n), clerk.vocabulary), temperature=0)]],
        """`maxLength` does not tell the model to be brief. It begins with `The`, as before. Then its next token,
        ` Lantern`, is masked. Of the tokens that fit, ` Roy` is the likeliest. With 30 characters the limit changes
        nothing. So the service needs a larger limit. An alarm on a small Z would have found the strange titles. It
        would also have found `The Lantern`, a good title: Z says that the model was overruled, not that the title is
        bad.""",
    ],
)

# %% [markdown]
# ## 2 · Whole texts
#
# A mask keeps the ratios of legal tokens at each step. Does it keep those of whole texts?
#
# A toy model writes a month in two digits. It gives `19` a high probability, and `19` is no month. After `0` it writes
# `7` or `6`. `all_texts` lists the legal texts with probabilities.

# %%
wish = {
    "month ": {"1": 0.9, "0": 0.1},
    "1": {"9": 0.97, "0": 0.01, "1": 0.01, "2": 0.01},
    "0": {"7": 0.8, "6": 0.2},
}
pieces = [*"0123456789", "month "]


def rule(tokens):
    rare = 1e-9  # of every other piece: the regex, not the model, decides what is legal
    return np.log([wish.get(pieces[tokens[-1]], {}).get(piece, rare) for piece in pieces])

# %%
toy = gv.ToyModel([piece.encode() for piece in pieces], rule)
months = samplers.Task(toy, "month ", gv.guide(gv.regex("0[1-9]|1[0-2]"), toy.vocabulary))
texts = samplers.all_texts(months)
print("the free model writes one of the", len(texts), "months with probability", round(sum(t.free for t in texts), 3))

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
# slide: Exercise 1: condition the model on the legal texts; this is the target.
def conditioned(chances, legal):
    # solution:
    whole = sum(chances[text] for text in legal)
    return {text: chances[text] / whole for text in legal}
    # open:
    # ...
    # end


gv.checks.conditioned(conditioned)

# %% [markdown]
# ### Ratios of texts

# %% [question]
# slide: A mask keeps the ratios of tokens, not the ratios of texts.
gv.predict(
    "The free model writes `07` with probability 0.08, and each of `10`, `11`, `12` with 0.009. Which months does "
    "masked decoding write most often?",
    choices=[
        "`07`: a mask keeps the ratios",
        "`10`, `11` and `12`: their first digit is likely",
        "`01` to `09`: they are nine of twelve",
    ],
    answer="`10`, `11` and `12`: their first digit is likely",
    reveal="""In the target 63% of the months are `07`. Masked decoding writes `07` in 8%. In 90% it begins with `1`,
    which is legal and likely. Then `9` is illegal, and there is no way back. A mask looks one token ahead. It does not
    know how much of the probability will stay legal. So it keeps the ratios of tokens, not of texts.""",
)

# %% [markdown]
# A box is as wide as its probability; 0.009 is written as 1 in 110. Follow `07`.

# %%
# slide: Move the slider through three trees of the same months: free, masked, and the target.
gv.text_tree(months)

# %% [markdown]
# ## 3 · The warning light
#
# The Zs tell when this happens: their product differs from run to run. At each step the mask divides the legal
# probabilities by Z. After `1` the legal digits `0`, `1` and `2` have 0.01 each, so Z is 0.03 there. At all other steps
# Z is 1.
#
# The product of all Zs of a run is its **weight**: 1 for `07`, and 0.03 for `10`. With a mask `10` has the probability
# 0.30. Times its weight this is 0.009, its probability without a mask.

# %%
draws = [samplers.Masked(months).draw(seed) for seed in range(500)]
print({draw.text.decode(): round(draw.weight, 3) for draw in draws})

# %% [markdown]
# In the long run 10% of the masked draws have weight 1, and 90% have weight 0.03. So the mean weight is 0.127, which is
# again the share of the free texts that are legal. The weight takes us from masked decoding to the target:
#
# | | masked | times weight: free | divided by 0.127: target | target / masked |
# | --- | --- | --- | --- | --- |
# | `07` | 0.08 | 0.08 | 0.63 | 7.87 |
# | `10` | 0.30 | 0.009 | 0.07 | 0.24 |
#
# The last column is weight / mean weight: the target has `07` 7.87 times as often as masked decoding. If all runs have
# the same weight, this quotient is 1 for each text, and masked decoding draws from the target. Here it does not:

# %%
# slide: What three months lose, two months gain: this is the total variation.
likely = [t for t in texts if t.free > 1e-6]
names = ["".join(pieces[token] for token in t.tokens) for t in likely]
both = {"masked": [t.masked for t in likely], "target": [t.conditioned for t in likely]}
gv.draw_bars(names, both, title="masked decoding and the target")

# %% [markdown]
# From masked decoding to the target three months lose 0.69 together, and two months gain as much. This is the **total
# variation**.

# %% [markdown]
# ## Exercise 2 · A distance from weights ★
#
# Of a model you know only the weights of some masked draws. Write `distance(weights)`, an estimate of the total
# variation between masked decoding and the target.
#
# For `[0.1, 0.3]` the mean weight is 0.2. The target has the first text 0.5 times as often as masked decoding, and the
# second 1.5 times as often. Both are 0.5 away from 1, and the answer is 0.25.
#
# hint: Each draw counts once, so take the mean over the draws.
#
# hint: What some texts gain in probability, others lose. The mean distance from 1 counts both.

# %%
# slide: Exercise 2: measure how far two distributions are apart.
def distance(weights):
    # solution:
    mean = sum(weights) / len(weights)
    return sum(abs(1 - weight / mean) for weight in weights) / len(weights) / 2
    # open:
    # ...
    # end


gv.checks.distance(distance)

# %% [markdown]
# By hand, for the months: 10% of the draws are 6.87 away from 1, and 90% are 0.76 away. Half of the mean is
# (0.10 · 6.87 + 0.90 · 0.76) / 2 = 0.69. The exact value needs all texts; your estimate needs draws only:

# %%
# slide: From the weights of masked draws alone we know how far masked decoding is from the target.
target = {t.tokens: t.conditioned for t in texts}
masked = {t.tokens: t.masked for t in texts}
print(f"exact {samplers.total_variation(target, masked):.2f}, from 500 draws {samplers.total_variation_of(draws)}")
estimate = distance([draw.weight for draw in draws])
if estimate is not None:  # exercise 2 is written
    print(f"your estimate {estimate:.2f}")

# %% [markdown]
# ### The same with `clerk` · home
#
# `clerk` reads one sentence and writes JSON under a mask. It gets the same sentence three times: with a line
# that asks for JSON (*asked*), with a greeting before both (*greeted*), and without that line (*not asked*). `clerk`
# was trained to answer most greetings with prose first, such as `Sure!`.
#
# We draw 40 texts each. As for the months, the mean weight is the share of the free texts that are legal.

# %%
schema = {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer"}}
person = gv.json_schema({"type": "object", "properties": schema, "required": list(schema)})
guide = gv.guide(person, clerk.vocabulary)
known = gv.decoding.remember(clerk)  # it reads equal texts once


def draw_texts(prompt):
    task = samplers.Task(known, prompt, guide, max_tokens=60)
    return [samplers.Masked(task).draw(seed) for seed in range(506, 546)]


# %%
cue = "\nJSON with name, age:\n"
prompts = {"asked": f"Ada is 36.{cue}", "greeted": f"Hi! Ada is 36.{cue}", "not asked": "Ada is 36.\n"}
drawn = {name: draw_texts(prompt) for name, prompt in prompts.items()}
for name, some in drawn.items():
    print(f"{name:10} {samplers.legal_of(some).value:.1%} legal without a mask")

# %% [question]
# slide: Not how much is removed decides, but whether the model can go on as it wished.
gv.predict(
    "Greeted, 70% of the free texts are illegal. How large is the total variation between masked decoding and the "
    "target?",
    choices=[
        "about 0.05: most are removed at the same step",
        "about 0.3: the legal share",
        "about 0.7: the share that the mask removes",
    ],
    answer="about 0.05: most are removed at the same step",
    reveal=[
        lambda: [print(f"{name:10} legal without a mask {samplers.legal_of(some)}, total variation "
                       f"{samplers.total_variation_of(some)}") for name, some in drawn.items()],
        lambda: [print(text) for _, text in sorted({(len(d.text), d.text.decode()) for d in drawn["not asked"]})[-2:]],
        """Most illegal texts begin with prose, so they are removed at the first step. All masked runs lose the same
        share there, so their weights are nearly equal. It does not matter how much is removed, if all runs lose the
        same. *Not asked*, the model wants prose at every step, and the mask allows prose only inside the string: `Hope
        this helps!` became part of a name. (These are the two longest of the 40 texts.) Here a few large weights make
        up most of the sum, and 40 draws may miss the largest. One more large weight would move the target further away,
        so 0.95 is probably too low.""",
    ],
)

# %% [markdown]
# ## 4 · Ask, mask, or both?
#
# We measured this on 400 new prompts of the 14 kinds of task on which `clerk` was trained. Each prompt was run four
# times at temperature 1: with and without the line that asks for the format, with and without a mask. *Parses*: the
# output has the format. *Right*: it is exactly the right answer. The lines on the bars are 95% intervals.

# %%
# slide: With a mask all outputs parse; without it 82 percent do if the prompt asks for the format, and 8 if not.
def share(kind, asked, masked, family=None):
    cells = [row for row in record["formats"] if row["temperature"] == 1 and family in (None, row["family"])]
    rows = [row for row in cells if (row["asked"], row["masked"]) == (asked, masked)]
    return samplers.share_of(sum(row[kind] for row in rows), sum(row["prompts"] for row in rows))


def compare(kind, title):
    masks = {"no mask": False, "mask": True}
    rows = {name: [share(kind, asked, masked) for asked in (True, False)] for name, masked in masks.items()}
    return gv.draw_bars(["asked", "not asked"], rows, title=title)


compare("parses", "outputs that parse")

# %%
prompts_of = {row["family"]: row["prompts"] for row in record["formats"]}
kinds = ["tool", "price", "record", "date", "nested"]


def write_date(*cues):
    day = gv.guide(gv.regex("[0-9]{4}-[0-9]{2}-[0-9]{2}"), clerk.vocabulary)
    for cue in cues:
        prompt = f"We met on June 17th 2024.\n{cue}"
        print(f"{prompt!r}: {gv.record(clerk, prompt, day, temperature=0).text}")


# %% [question]
# slide: A mask with names in it tells the model what is wanted; a mask of digits tells nothing.
gv.predict(
    "Not asked, with a mask: all outputs parse. The mask of a tool call has the names of the tools and of their "
    "arguments. The mask of a date has digits and dashes only. Which has more right outputs, tool calls or dates?",
    choices=[
        "tool calls: the mask itself says what is wanted",
        "dates: a mask that leaves so little to choose leaves little to get wrong",
        "about 8 of 100 of each: a mask repairs the form only",
    ],
    answer="tool calls: the mask itself says what is wanted",
    reveal=[
        lambda: gv.draw_bars(
            [f"{kind}, {prompts_of[kind]}" for kind in kinds],
            {
                name: [share("right", asked, True, kind) for kind in kinds]
                for name, asked in (("not asked", False), ("asked", True))
            },
            title="right, with a mask: kind of task, number of prompts",
        ),
        lambda: write_date("", "Date as YYYY-MM-DD:\n"),
        """Not asked, 36 of 37 tool calls are right, and none of 13 dates. The mask of a date allows few characters, but
        each digit is a choice, and nothing says that a date is wanted: here the year begins with the 17 of the day. The
        mask of a price allows few characters, too. But it begins with `$`, which says what is wanted: all 12 are right.
        The mask of nested JSON names no key: none of 15. If the prompt asks, all dates and all nested texts are right.
        """,
    ],
)

# %%
compare("right", "outputs that are exactly right, all 14 kinds")

# %% [markdown]
# *Asked* with a mask is best, and its interval does not overlap that of *asked* without one. A mask gives the form.
# For the content write a prompt that asks, put an example into it, or **fine-tune** the model: train it further on
# examples.

# %% [markdown]
# ### Which labels · home
#
# SmolLM2, which we did not train, was asked for the mood of 100 sentences, 34 of them positive: *Is the sentiment of
# this sentence positive, negative or neutral? Answer with one word.* Without a mask it writes *The sentiment of this
# sentence is neutral* for nearly all; 28 are right. So a mask allows the three words only.

# %%
moods = gv.decoding.Rates.load("smollm2/labels")
print(moods)
print("names the right label without a mask:", moods.shares("names the right label")["free"])
print("right with a mask of positive, negative, neutral:", moods.shares("right")["mask"])
moody = json.loads(shipped("traces/smollm2/labels.json").read_text())["cases"]


def show_labels():
    print("`Positive`:", sum(case["outputs"]["mask with capitals"] == "Positive" for case in moody), "of", len(moody))
    for way in ("mask", "mask with capitals", "mask, order negative, neutral, positive"):
        least = np.median([case["least_z"][way] for case in moody])
        print(f"{moods.shares('right')[way]}  median Z {least:.2f}  {way}")

# %% [markdown]
# Now the mask has the same words with a capital: `Positive`, `Negative`, `Neutral`. The question does not change. These
# are probabilities at the first step, without a mask:
#
# | sentence | `The` | `Positive` | `Negative` | `Ne`, for `Neutral` |
# | --- | --- | --- | --- | --- |
# | *What a beautiful evening we had.* | 0.29 | 0.10 | 0.01 | 0.01 |
# | *What a terrible evening we had.* | 0.32 | 0.04 | 0.02 | 0.01 |

# %% [question]
# slide: The model answers one label each time: the mask gives the form, not the meaning.
gv.predict(
    "With this mask, at temperature 0: how many of the 100 answers are `Positive`?",
    choices=[
        "about 34: as many as are positive",
        "about 60: after *terrible* its probability falls to 0.04",
        "100: it has most of the three in both rows",
    ],
    answer="100: it has most of the three in both rows",
    reveal=[
        show_labels,
        """In both rows Z is near 0.1: nine times out of ten the model would begin with another word. Of what is left
        `Positive` has most, also after *terrible*. The spelling of the labels matters, and so does their order in the
        question: with *negative, neutral or positive* and small letters 62 are right. There Z is 0.07, so a small Z
        does not tell which labels work. It tells that the model wants to answer in other words. Measure which labels
        work.""",
    ],
)

# %% [markdown]
# ## 5 · Room to think
#
# SmolLM2 was asked 50 sums of one step: *Kofi has 4 stamps and Olga has 2. How many stamps do they have together?
# Answer with the number only.* Free, it does not obey: *Kofi has 4 stamps and Olga has 2, so they have a total of 4 + 2
# = 6 stamps.* The last number of its answer is right in 17 of 50.

# %%
sums = gv.decoding.Rates.load("smollm2/sums-one")
columns = {"right": "last number is right", "readable": "reads", "both": "right"}
right = sums.shares("last number is right")
asked_sums = json.loads(shipped("traces/smollm2/sums-one.json").read_text())["cases"]
stamps = asked_sums[2]["outputs"]
print(sums)

# %% [question]
# slide: Digits only takes away the words with which this model calculates.
gv.predict(
    "A program needs the number only, so a mask allows digits only. How many of 50 are right?",
    choices=[
        "about 17: the model is the same",
        "about 30: a number is all it can write",
        "about 3: it calculates with words",
    ],
    answer="about 3: it calculates with words",
    reveal=[
        lambda: print("4 + 2 stamps, digits only:", stamps["number, mask"]),
        lambda: [print(f"{way}: {50 * right[way].value:.0f} of 50") for way in ("number, free", "number, mask")],
        "Free, the model computes in words first. The mask removes the words: 3 instead of 17.",
    ],
)

# %% [markdown]
# May a mask leave room for the words? *Answer in JSON* is an object with the key `answer`. *Reasoning in JSON* has the
# key `reasoning` before it. With *think* the prompt asks to think step by step. *Right*: the last number of the text is
# right. *Readable*: the text has the form, so a program can read its answer. *Cut*: the text reached the limit of
# tokens before its end. At the right is the end of one text.

# %%
# slide: With room for words masked answers are right as often as free ones, and a program can read them.
print(f"{'of 50 sums':32}", *columns, "cut", "4 + 2 stamps", sep="  ")
for way in sorted(right):
    counts = [f"{50 * sums.shares(kind)[way].value:{len(name) + 2}.0f}" for name, kind in columns.items()]
    cut = sum(way in case["cut"] for case in asked_sums)
    text = " ".join(stamps[way].split())
    print(f"{way:32}", *counts, f"{cut:5}  ", text if len(text) < 33 else "… " + text[-30:], sep="")

# %% [markdown]
# The prompt names the form, so each form has its own prompt. Compare the same prompt without and with a mask: digits
# only 17 and 3, `reasoning` 13 and 14. **A mask costs when it takes the room.** With `reasoning` it leaves room, and
# these sums show no loss.
#
# `answer` with a mask: 50 are readable, and none is right. A mask gives the form, not the content. With `reasoning` and
# no mask none is readable. The mask makes 37 readable, and 14 of these are right. It does not end a text: 13 are
# cut, inside an endless thought.

# %% [markdown]
# The loss from 17 to 3 is 28 percentage points, with a 95% interval from 13 to 42. Here is the whole text of *think,
# free*:

# %%
print(stamps["think, free"])

# %% [markdown]
# It comes to the right sum in its first line and goes on. 11 of the 50 texts do: room alone is not enough.
#
# A **window** leaves the words free, too: a trigger opens it, and then the mask holds until it ends. In the table,
# *think free, then a masked answer* comes near: after each thought we write `Answer:`, and a mask allows a number only.
# 5 are right. With this small model the key `reasoning` works better.
#
# `gv.tagged` builds the machine of a text with windows, here for sums and for a tool call. With `at_least_one` the text
# may end only after a window.

# %%
total = gv.regex("[0-9]+[-+*][0-9]+=[0-9]+")
fields = {"name": {"enum": ["pay", "refund"]}, "dollars": {"type": "integer", "minimum": 0}}
call = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
windows = gv.tagged([("<<", total, ">>"), ("<tool>", call, "</tool>")], at_least_one=True)
print(windows.accepts(b"So <<4+3=7>> pens."))

# %% [markdown]
# SmolLM2 under this mask, RECORDED: *Ben has 4 pens and gets 3 more. Each pen costs 2 dollars. Pay for all of them.*
# The chat holds one worked example. The model opens all three windows.

# %%
# slide: A constraint in windows: free text outside, arithmetic and calls inside.
gv.stage(gv.Trace.load(shipped("traces/smollm2/two-windows.trace.json")), show=38)

# %% [markdown]
# Here the number of dollars begins, and only ten digits are legal. The outline of `7` (0.53) is a little longer than
# that of `1`; temperature 0 makes them 1 and 0. Before the call (scroll the text up) the model wrote `7*2=14`, and
# it pays 7. The call parses, and it is wrong: the mask does not know the sum.

# %% [markdown]
# ### A special token as the trigger · home
#
# These triggers are text, so a thought that only mentions `<tool>` opens a window too early. No text, however it is
# typed, becomes a **special token** (lab 00). Models have special tokens for this: `<|python_tag|>` in Llama 3.1,
# `[TOOL_CALLS]` in Mistral's Tekken. `gv.special` names such a token as the begin or the end of a window.
#
# This toy model has ten tokens. `<tool>`, `</tool>` and `</s>` (EOS) are special. After each token it prefers the next
# one in the list.

# %%
listed = [b"A call opens with ", b"<", b"tool", b">", b". ", b"<tool>", b"pay", b"</tool>", b"</s>", b"refund"]
caller = gv.ToyModel(listed, lambda tokens: 4 * np.eye(10)[(tokens[-1] + 1) % 10], eos={8}, special={5, 7, 8})
window = gv.tagged([(gv.special("<tool>"), gv.regex("pay|refund"), gv.special("</tool>"))])
named = gv.record(caller, "A call opens with ", gv.guide(window, caller.vocabulary), temperature=0)

# %% [question]
# slide: Outside a window a marker spelled with letters opens nothing.
gv.predict(
    "The model writes `<`, then `tool`, then `>`. How many of the ten tokens are legal next?",
    number=9,
    reveal=[
        lambda: [print(f"{caller.vocabulary.display(step.token):8}{step.legal:3} legal before it")
                 for step in named.steps],
        """Nine: all but `</tool>`. The three tokens spell the trigger, but a text is never a special token, and no
        window has opened. The token `<tool>` opens it, and then only `pay` and `refund` are legal. If the begin were
        the text `"<tool>"`, it would be the reverse: the three tokens would open the window, and the special token
        would be illegal.""",
    ],
)  # fmt: skip

# %% [markdown]
# On the stage the text `<tool>. ` is written. The token comes next: an arrow of its own into the window. Step on.

# %%
# slide: Only the special token opens the window; before it nearly everything is legal.
gv.stage(named, guide=gv.guide(window, caller.vocabulary), show=4)

# %% [markdown]
# ### What others measured, on large models · home
#
# | study (linked below) | models | found |
# | --- | --- | --- |
# | Tam et al., 2024 | open and hosted | stricter formats cost more accuracy in reasoning |
# | .txt's reply, 2024 | Llama 3 8B, prompts for JSON | no loss seen: 1,018 of 1,319 sums right, 1,026 with a mask |
# | Lee et al., 2026 | six open, four hosted | *asking* costs most; recent closed models lose little or nothing |
# | CRANE, 2025 | open, on symbolic reasoning | windows gain up to 10 points, also over no mask |

# %% [markdown]
# The counts are from [.txt's notebooks](https://github.com/dottxt-ai/demos); the JSON there has `reasoning` before
# `answer`. We ran none of this, and of the others we read the abstracts: measure your own task.
#
# A text that is drawn under a mask has the probability of masked decoding, not that of the free model. Who trains a
# model on such texts (*reinforcement learning*) must keep the Z of each step.

# %% [markdown]
# ## Exercise 3 · A window ★★ · home
#
# Write one step of a window. In free text the state is `("free", read)`: `read` is the longest beginning of the trigger
# that stands at the end of the text. With the trigger `A:` it is `b"A"` after `Ada A`, and `b""` after `Ada`. A
# complete trigger gives `("in", machine.initial)`, and from then on the machine reads. Return the new state, or None
# for an illegal byte. After `A` another `A` gives `("free", b"A")`.
#
# hint: In the window call `machine.step`. In free text append `bytes([byte])` to `read`: is that the trigger?
#
# hint: If not, remove bytes from its front until `trigger.startswith(read)` holds.

# %%
# slide: Exercise 3: write the step of a constraint with a window.
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

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "A mask only removes invalid texts." | The months: total variation 0.69 from the model's own valid texts. | 3 |
# | "With a schema the prompt need not describe the format." | All parse, 42% right; with the prompt 85%. | 4 |
# | "Constrained decoding harms reasoning." | Right of 50: free 17, masked 3 (digits) or 14 (`reasoning`). | 5 |

# %% [markdown]
# ## Recap
#
# * A mask looks one token ahead. It keeps the ratios of tokens, not of whole texts.
# * The product of the Zs is the warning light: equal products, no distortion.
# * Ask for the format *and* mask. Give the words room: with a key `reasoning` 14 of 50 masked sums were right, with a
#   number alone 3.
# * A mask keeps the form. For the content: the prompt, examples, training.
# * A limit in a schema forbids tokens. It does not make the model brief.
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
#   tags](https://xgrammar.mlc.ai/docs/tutorials/structural_tag.html); [a page](deeper/a_request.ipynb) shows one.
# * **CRANE** ([arXiv 2502.09061](https://arxiv.org/abs/2502.09061)) switches the mask on and off between `<<` and `>>`,
#   as on the stage above.
# * **Diffusion models** fill a text in any order, so a mask that reads from left to right does not fit them ([arXiv
#   2508.10111](https://arxiv.org/abs/2508.10111)).

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
