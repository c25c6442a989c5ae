# question: Can a constant nudge do it?

# %% [markdown]
# # Lab 01 · Logit bias
#
# **Question.** Can you control what a model writes by adding a constant to the logits of some tokens?
#
# **Goal.** You can compute next-token probabilities by hand, change them with a bias, and say what a bias can and
# cannot do.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 00](00_start_here.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **logit** | the number that the model gives to a token before it becomes a probability; any size, any sign |
# | **softmax** | turns logits into probabilities: *exponentiate* each (eˣ), divide by the sum |
# | **temperature** | a divisor of all logits; below 1 the likely tokens gain, above 1 the unlikely ones do |
# | **sample** | draw one token by its probability; at temperature 0 the likeliest token is taken |
# | **bias** | a constant added to a token's logit, the same at every step |
# | **mask** | the set of legal tokens; all other tokens get the logit −∞, so their probability is 0 |

# %% [markdown]
# **Lost?** *Token*, *prompt*, *step*, *seed* and *EOS* are in the table of lab 00; its section 2 shows how a step works
# and how to read the stage. A *forward pass* is one run of the model: it reads the tokens and computes the logits.

# %%
import json

import numpy as np

import guidedviz as gv
from guidedviz.files import shipped

# %% [markdown]
# ## 1 · One word, please
#
# We asked SmolLM2 about 100 sentences at temperature 0, for example *The cake tasted delicious. Is the sentiment of
# this sentence positive, negative or neutral? Answer with one word.*

# %%
moods = gv.decoding.Rates.load("smollm2/bias")
cases = json.loads(shipped("traces/smollm2/bias.json").read_text())["cases"]
print(moods)
for case in cases[26:29]:
    print(f"{case['fact']:45} {case['outputs']['bias 0']!r}")
begun = [case["outputs"]["bias 0"] == "The sentiment of this sentence is" for case in cases]
print(sum(begun), "of 100 begin like this")

# %% [markdown]
# These are the first six tokens of three answers. None of the 100 answers is one of the three words: all are sentences,
# and 85 of them begin *The sentiment of this sentence is*. But the three words are tokens of SmolLM2, and they have
# some probability. Can we raise it? A bias is one new step in the decoding loop, between the logits and the softmax:

# %%
# slide: A bias is added to the logit of a token, just before the softmax.
gv.views.draw_loop("bias")

# %% [markdown]
# ## 2 · Logits, softmax, sample
#
# A model computes one logit per token. Here are three tokens.

# %%
# slide: The softmax turns logits into probabilities; one more logit is a factor of 2.72.
words = ["yes: logit 2", "no: logit 1", "maybe: logit 0"]
logits = np.array([2.0, 1.0, 0.0])
gv.draw_bars(words, {"probability": gv.sampling.softmax(logits)}, title="three logits and their probabilities")

# %% [markdown]
# A difference of 1 between two logits is a factor of *e* ≈ 2.72 between their probabilities. With three digits they are
# 0.665, 0.245 and 0.090, and each is 2.72 times the next one.

# %% [question]
# slide: Only the differences between logits matter.
gv.predict(
    "Add 5 to all three logits. Which probability grows most?",
    choices=["that of `yes`", "that of `maybe`", "all grow alike", "none of them grows"],
    answer="none of them grows",
    reveal=[
        lambda: [print(gv.sampling.softmax(scores).round(3)) for scores in (logits, logits + 5)],
        """Every exponential is multiplied by e⁵, and so is their sum. The division cancels this factor. Only the
        differences between logits matter: raising one logit lowers the probability of all other tokens.""",
    ],
)

# %% [markdown]
# The **temperature** T divides all logits before the softmax. A small T makes the likeliest token dominate, a large T
# makes all tokens nearly equal.

# %%
# slide: A small temperature makes the likeliest token dominate; a large one makes all tokens nearly equal.
hot_and_cold = {f"T = {t}": gv.sampling.softmax(logits, t) for t in (0.3, 1.0, 3.0)}
gv.draw_bars(words, hot_and_cold, title="temperature")

# %% [markdown]
# ## Exercise 1 · Softmax with temperature ★
#
# Write `softmax(logits, temperature)` in NumPy, without `gv`; `logits` is an array. It returns one probability per
# logit: `[0, 0]` gives `[0.5, 0.5]`. It must not change `logits`, and it must also work for large logits, although
# `np.exp(1000)` is too large for a float.
#
# hint: Only differences between logits matter. So you may subtract the same number from all of them first.
#
# hint: Divide by the temperature, subtract the maximum, exponentiate, divide by the sum.

# %%
# slide: Exercise 1: write the softmax with temperature.
def softmax(logits, temperature):
    # solution:
    scaled = np.asarray(logits) / temperature
    powers = np.exp(scaled - scaled.max())
    return powers / powers.sum()
    # open:
    # ...
    # end


gv.checks.softmax(softmax)

# %% [markdown]
# ## 3 · A bias is a threshold
#
# Add *b* to the logit of one token: its exponential is multiplied by *e*<sup>*b*</sup>, and so is the ratio of its
# probability to that of any other token. That is 2.72 for a bias of 1, 20 for 3, and more than 10⁴³ for 100.
#
# Now we use a trained model, `clerk`. It must label a sentence, and each label is a single token.

# %%
clerk = gv.load_model("clerk")
mood = "The staff was rude and charming.\nLabel (positive, negative, neutral):\n"

# %% [markdown]
# **How to read the picture.** The curve shows all 4,096 tokens, the likeliest first. Both scales are logarithmic. From
# one line of the grid to the next one below, the probability is 100 times smaller. Each label has a slider, which adds
# its number to the logit of the label. `positive` begins at 3.

# %% [markdown]
# The dashed line shows what this bias can do. A token **above the line** would be the likeliest one if it got the bias;
# a token below it would not. So a bias is a **threshold**. A dot is filled if the bias of its token is large enough.
# A bias of 0 or less has no line. The dots show the probability before the bias.

# %%
# slide: A bias of 3 moves one token up the curve, and all other tokens lose.
gv.bias_sliders(clerk, mood, tokens=["negative", "positive", "neutral"], bias={"positive": 3})

# %% [markdown]
# The likeliest token, `negative`, has 0.69. With +3 the line is *e*³ = 20 times lower, at 0.69 / 20 = 0.035. Above it
# are three tokens: `negative`, `Sure` (it has no dot) and `positive`. Only `positive` has the bias, so only its dot is
# filled. Now drag the slider of `positive`: the line follows. In the bars below, when one probability grows, all others
# shrink. *Reset* brings back the picture described here.

# %% [question]
# slide: A bias multiplies by a power of e, so a factor of 265 needs a bias of 6.
gv.predict(
    "`negative` has the probability 0.69 and `neutral` has 0.0026, so the ratio is 265. Which of these biases is the "
    "smallest one that makes `neutral` the likeliest token?",
    choices=["0.7", "2.5", "6", "265"],
    answer="6",
    reveal=[
        lambda: print("ln 265 =", np.log(265).round(2), "  log10 265 =", np.log10(265).round(2)),
        lambda: gv.bias_sliders(clerk, mood, ["positive", "negative"], bias={"neutral": 6}).figure,
        """A bias multiplies by a power of e: e⁶ is 403, more than 265. With 2.5 the factor is only 12; 2.4 is the
        logarithm to base 10. 0.7 would do if a bias were added to the probability. And 265 is the factor itself; a bias
        is its logarithm.""",
    ],
)

# %% [markdown]
# OpenAI's API allows a bias from −100 to 100. Is −100 a ban? Take two tokens. The logit of the second one
# is larger by 200. We forbid this token with a bias, and then with a mask.

# %%
# slide: A bias of minus 100 is not a ban; only minus infinity gives probability 0.
print(gv.sampling.softmax(gv.sampling.apply_bias([0.0, 200.0], {1: -100})))
print(gv.sampling.softmax(gv.sampling.apply_mask([0.0, 200.0], {0})))

# %% [markdown]
# With the bias the second token is still 100 ahead and has all the probability. The **mask** (`{0}` is the set of legal
# tokens) sets its logit to −∞, and its probability is exactly 0. In the curve above the logits differ by at most 23, so
# there −100 works like a ban: the token gets less than 10⁻⁴³.

# %% [markdown]
# ## 4 · Ban a word
#
# Suppose that the word *Prague* must never appear. We look up its token in the prompt and ban it.

# %%
plain = "Maria Cohen is 42 years old and lives in Prague.\nJSON with name, age, city:\n"
(in_the_text,) = clerk.encode(" Prague")
print(in_the_text, clerk.vocabulary.display(in_the_text))

# %% [question]
# slide: Banning a token does not ban the word, because another token spells it too.
gv.predict(
    "The token `␣Prague` is banned. Which city will the model write now?",
    choices=["Prague", "another city", "none: the value stays empty"],
    answer="Prague",
    reveal=[
        lambda: print(gv.record(clerk, plain, temperature=0, bias={in_the_text: -100}).text),
        """The ban changes nothing. The banned token is `␣Prague`, with a space. After a quote the model writes another
        token, `Prague` without the space. For the model these are two different ids. Here is the word in four
        spellings, with the ids of each:""",
        lambda: [print(f"{text!r:10}", clerk.encode(text)) for text in (" Prague", "Prague", "prague", "PRAGUE")],
    ],
)

# %% [markdown]
# Now we ban both ids of *Prague* in the vocabulary.

# %%
# slide: With both tokens banned the output is still JSON, and now it is wrong.
both = {token: -100 for token in (*clerk.encode(" Prague"), *clerk.encode("Prague"))}
print(gv.record(clerk, plain, temperature=0, bias=both).text)

# %% [markdown]
# The model writes **another city**. The output is JSON, and it is wrong: the next likely word takes the place of the
# banned one. And other ways to write *Prague* are still open, such as `P`, `rag`, `u`, `e`. To close them, you would
# have to ban pieces such as `P`, and then many other words could not be written. A bias acts on one token; a word is a
# *sequence* of tokens.

# %% [markdown]
# ## Exercise 2 · All ids that spell a word ★ · home
#
# Write `spellings(pieces, word)`. It returns the ids of all pieces that spell `word` in small or capital letters, with
# or without blanks around it. `pieces[id]` is a `bytes` object; `word` is a lower-case `str`. For example,
# `spellings([b"no", b" Yes"], "yes")` is `[1]`.
#
# hint: `bytes` objects have `.strip()` and `.lower()`, as `str` objects have. `word.encode()` makes bytes of a `str`.
#
# hint: It is one list: `token for token, piece in enumerate(pieces)`, if the stripped lower-case piece is the word.

# %%
def spellings(pieces, word):
    # solution:
    return [token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()]
    # open:
    # ...
    # end


gv.checks.spellings(spellings)

# %% [markdown]
# ## 5 · A constant does not depend on the text
#
# Can a bias give the output *structure*? Can it make the model close its JSON object at the right place? The token `"}`
# ends a text value and closes the object. A bias of 12 multiplies its ratio to any other token by 160,000.

# %%
(close,) = clerk.vocabulary.ids(b'"}')


def show_needed():
    """The bias that would put this token ahead of all others, at each step of the plain run."""
    tokens, needed = clerk.encode(plain), []
    for step in gv.decode(clerk, plain, temperature=0):
        scores = clerk.logits(tokens)
        needed.append(scores.max() - scores[close])
        tokens.append(step.token)
    written = [clerk.vocabulary.display(token) for token in tokens[-len(needed) :]]
    small = {place for place, bias in enumerate(needed) if bias < 12}
    title = 'the bias that "} needs in the place of this token'
    return gv.draw_bars(written, {"bias": needed}, marked=small, title=title)


# %% [question]
# slide: One constant for all steps acts at the first place where it is large enough.
gv.predict(
    'We add 12 to the logit of `"}` at every step, at temperature 0. Where does the model write it first?',
    choices=["after the city, where it belongs", "after the name", "at the start"],
    answer="after the name",
    reveal=[
        lambda: print(gv.record(clerk, plain, temperature=0, bias={close: 12}, max_tokens=24).text),
        """The object ends after the name. Which bias does `"}` need at each step? It is the largest logit minus the
        logit of `"}`.""",
        show_needed,
        """Each row is a step, named by the token that is written there without a bias. Two rows are bold: there less
        than 12 is enough. The first is after the name (11.7). There `",` is likeliest, and `"}` has 1 in 120,000. The
        second is the right place (0), but the output has already ended.""",
    ],
)

# %% [markdown]
# Here the model needs no help. With a greeting it does: it adds prose, as in lab 00. We now draw 20 texts per bias at
# temperature 1, with at most 30 tokens (`max_tokens`). We count the texts that are JSON and nothing else. And we count
# those of them that have the keys `name`, `age` and `city`. An object with `full_name` or `town` does not count.

# %%
# slide: A bias of 4 or 8 gives a little more JSON, but no bias gives more objects with all three keys.
amounts = (0, 4, 8, 12)
known = gv.decoding.remember(clerk)
texts = {}
for amount in amounts:
    runs = [gv.record(known, "Hi! " + plain, seed=seed, bias={close: amount}, max_tokens=30) for seed in range(20)]
    texts[amount] = [run.text for run in runs]
found = [[set(json.loads(text)) for text in some if gv.json().accepts(text.encode())] for some in texts.values()]
right = [keys.count({"name", "age", "city"}) for keys in found]
counts = {"is JSON": [len(keys) for keys in found], "and has the three keys": right}
gv.draw_bars([f"bias {amount}" for amount in amounts], counts, title="clerk at T = 1: of 20 texts")

# %%
for number in (11, 18, 15):
    print("text", number)
    print(*(f"    bias {amount:2} {texts[amount][number]!r}" for amount in amounts), sep="\n")

# %% [markdown]
# With a bias of 4 or 8, 10 texts are JSON instead of 8. Text 11 is one of the two new ones: the prose is gone. Text 18
# was right, and with 8 its object is closed after the name. (At temperature 1 the token is drawn, so it need not be the
# likeliest.) Text 15 begins with prose under each bias: `"}` cannot prevent it. And no bias gives more texts with the
# three keys: they are 6, 6, 5 and 1 of 20.
#
# **What breaks.** Whether `"}` is right depends on the text before it. A constant does not.

# %% [markdown]
# ## 6 · What a bias is good for
#
# A bias works where the whole answer is a single token out of a few. There is only one step, so the bias need not
# change. The model is then a classifier.

# %% [markdown]
# ## Exercise 3 · Yes or no, and nothing else ★
#
# Choose biases so that the *next token* is `yes` or `no`, without a capital or a space. These two tokens must have
# 99.9% together, on three prompts and for made-up logits in which all other tokens are 20 above these two. The model's
# ratio of `yes` to `no` must stay. `only` maps token ids to numbers from −100 to 100: `{263: 5}` adds 5 to one logit.
#
# hint: `clerk.vocabulary.ids(b"yes")` gives the id of `yes` in a tuple.
#
# hint: Give the same large bias to these two ids and to no other. Then the difference of their logits stays.

# %%
# slide: Exercise 3: find biases with which the model answers yes or no and nothing else.
# solution:
only = {token: 100 for word in (b"yes", b"no") for token in clerk.vocabulary.ids(word)}
# open:
# only = {}  # token id: a number from -100 to 100
# end
gv.checks.only_answers(only, clerk)

# %% [markdown]
# Back to SmolLM2 and the 100 sentences. Which token has the largest logit at the first step? And how far is it ahead of
# the likeliest label, at least and at most?

# %%
ahead = [min(case["gap"].values()) for case in cases]
print({case["first"] for case in cases}, min(ahead), max(ahead))

# %% [markdown]
# It is always `The`, and a bias of 4.08 is enough for every sentence. We added one bias to all three labels, at every
# step, and let the model write at most six tokens. With a bias of 5 each of the 100 answers is one label, followed by
# EOS.

# %%
shown = ("bias 0", "bias 2", "bias 3", "bias 5", "bias 8", "bias 12", "bias 16")


def show_answers(fact):
    (outputs,) = [case["outputs"] for case in cases if case["fact"] == fact]
    print(fact, *(f"    {bias:8}{outputs[bias]}" for bias in ("bias 5", "bias 12", "bias 16")), sep="\n")


def show_moods():
    found = {what: moods.shares(what) for what in ("begins with a label", "is a label", "right")}
    bars = {what: [shares[bias] for bias in shown] for what, shares in found.items()}
    return gv.draw_bars(shown, bars, title="SmolLM2: share of 100 answers")


# %% [question]
# slide: A larger bias puts several labels into one answer, because it acts at the second step, too.
gv.predict(
    "A bias of 5 on all three labels gives one label per answer. What does a bias of 16 give?",
    choices=[
        "the same answers: the labels are ahead already",
        "one label per answer, and more of them are right",
        "several labels per answer",
    ],
    answer="several labels per answer",
    reveal=[
        lambda: show_answers("The view from the tower is amazing."),
        lambda: show_answers("What a beautiful evening we had."),
        """The bias acts at the second step, too. There EOS should come. In the second answer its logit is more than 12,
        and less than 16, above that of `negative`. So with 16 the first label is the same as with 5, and then
        `negative` follows, five times. Such an answer counts as wrong.""",
        show_moods,
        """For this prompt 2 is too little for most answers, 16 is too much for all, and 5 to 8 works. If the answer is
        one token, use `max_tokens=1`.""",
    ],
)

# %% [markdown]
# With 5 to 8 every answer is one label, and 38 of 100 are right. The 95% interval (lab 00) is 29 to 48. Guessing one of
# three labels gives about 33, which is inside. A bias changes the form; it does not tell the model what a sentence
# means. Lab 12 looks at these sentences with a mask.
#
# Each label must be one token. In the vocabulary of SmolLM2 `positive`, `negative` and `neutral` are, and so are
# `Positive` and `Negative`. `Neutral` is not: it is `Ne`, `utral`. So look the labels up before you use a bias.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "A bias of −100 is a ban." | Not if a logit is 200 larger. Only −∞ gives probability 0. | 3 |
# | "To ban a word, ban its token." | Two tokens spell *Prague*, and it can be written in parts. | 4 |
# | "A bias can force JSON." | JSON with the three keys: 6 of 20 texts without a bias, 6 with the best of three. | 5 |

# %% [markdown]
# ## Recap
#
# * Softmax depends on differences only. A bias *b* multiplies the ratio of a token's probability to any other by
#   *e*<sup>*b*</sup>.
# * So a bias is a threshold: it decides a step if the token is less than *b* behind, in logits.
# * A word has many spellings in tokens: with a space, with a capital, in parts. Bans are incomplete.
# * Structure depends on the text so far. A constant does not.
# * A bias is good for a preference, and for a choice among single-token answers.

# %% [markdown]
# If the bias of some tokens is −∞ at every step, it is a mask that never changes. A mask and a bias can be used
# together: the mask says what is legal, the bias what you prefer.
#
# Next: [lab 02](02_static_masks.ipynb) uses a mask, and a different one per position.

# %% [markdown]
# ## How the production engines do it
#
# Read in November 2026, not run:
#
# * **OpenAI**: [`logit_bias`](https://platform.openai.com/docs/api-reference/chat/create) of chat completions, ids
#   with numbers from −100 to 100. The Responses API has no such field, and for reasoning models
#   clients [leave it out](https://github.com/vercel/ai/issues/10932).
# * **Anthropic**: [the Messages API](https://docs.anthropic.com/en/api/messages) has no bias.
# * **llama.cpp**: [the server](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md) takes ids or
#   texts; `false` instead of a number means *never*. A text means each of its tokens.
# * **vLLM** 0.29: `logit_bias` of a request, [one
#   processor](https://docs.vllm.ai/en/v0.29.0/api/vllm/v1/sample/logits_processor/builtin/) for the whole batch.

# %% [markdown]
# ## Further reading
#
# * [*The Curious Case of Neural Text Degeneration*](https://arxiv.org/abs/1904.09751): what sampling and temperature do
#   to text.
# * [*Lexically Constrained Decoding*](https://arxiv.org/abs/1704.07138): how to force words to appear, without a bias.
# * [The tokenizer tutorial of Andrej Karpathy](https://github.com/karpathy/minbpe/blob/master/lecture.md): why `Prague`
#   and ` Prague` are different tokens.

# %% [markdown]
# ## A puzzle
#
# `yes` has the probability 0.02 and `no` has 0.01; all other tokens have the rest. Which equal bias on both gives them
# 99% together?
#
# hint: The sum of both is multiplied by *e*<sup>*b*</sup>, the rest is not. Solve for *b*.
