# question: Can a constant nudge do it?

# %% [markdown]
# # Lab 01 · Logit bias
#
# **Question.** Can you steer a model by adding a constant to the tokens that you like, or dislike?
#
# **Goal.** You can compute a model's next-token probabilities by hand, bend them with a bias, and say exactly what a
# bias can do and what it never can.
#
# **Time.** {minutes} minutes, three exercises. [Lab 00](00_start_here.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **logit** | the number that the model gives a token before it is a probability; any size, any sign |
# | **softmax** | turns logits into probabilities: exponentiate each, divide by the sum |
# | **temperature** | divides all logits first: below 1 sharpens, above 1 flattens, 0 means *take the best* |
# | **sample** | draw one token by its probability |
# | **bias** | a constant added to a token's logit, the same at every step |
# | **mask** | which tokens are legal; a forbidden one gets the logit −∞ |

# %%
import json
from collections import Counter

import numpy as np

import guidedviz as gv

# %% [markdown]
# ## 1 · Logits, softmax, sample
#
# A model ends in one logit for each token. Three tokens are enough to see all of it.

# %%
words = ["yes", "no", "maybe"]
logits = np.array([2.0, 1.0, 0.0])
gv.draw_bars(words, {"logit": logits, "probability": gv.sampling.softmax(logits)}, title="three tokens")

# %% [markdown]
# Steps of 1 between logits are factors of *e* ≈ 2.72 between probabilities: 0.665 is 2.72 times 0.245, and that is 2.72
# times 0.090.

# %% [question]
gv.predict(
    "Add 5 to all three logits. Which probability grows most?",
    choices=["that of `yes`", "that of `maybe`", "all grow alike", "none of them grows"],
    answer="none of them grows",
    reveal=[
        lambda: [print(gv.sampling.softmax(scores).round(3)) for scores in (logits, logits + 5)],
        """Every exponential is multiplied by the same number, e to the power of 5. So is their sum, and the division
        cancels it. Only differences between logits count. Keep this for later: to push one token up is to push all
        others down.""",
    ],
)

# %% [markdown]
# **Sampling** draws from these numbers. A thousand draws come close to them; seed and position together fix
# each draw, and we vary the position.

# %%
drawn = Counter(words[gv.sampling.sample(gv.sampling.softmax(logits), seed=0, position=i)] for i in range(1000))
print(drawn)

# %% [markdown]
# **Temperature** divides the logits before softmax. Cold is sure of itself, hot is indifferent.

# %%
hot_and_cold = {f"T = {t}": gv.sampling.softmax(logits, t) for t in (0.3, 1.0, 3.0)}
gv.draw_bars(words, hot_and_cold, title="temperature")

# %% [markdown]
# ## Exercise 1 · Softmax with temperature ★★
#
# Write it in NumPy, without `gv`. Mind large logits: `np.exp(1000)` is too large for a float, but you know already
# that only differences count.

# %%
def softmax(logits, temperature):
    # solution:
    scaled = np.asarray(logits) / temperature
    powers = np.exp(scaled - scaled.max())
    return powers / powers.sum()
    # open:
    # ...  # divide by the temperature, exponentiate, divide by the sum
    # end


gv.checks.softmax(softmax)

# %% [markdown]
# ## 2 · A bias is a number that you add
#
# Now a real model. It has to put a label on a sentence, and its labels are single tokens.

# %%
clerk = gv.load_model("clerk")
mood = "The staff was rude and charming.\nLabel (positive, negative, neutral):\n"
labels = ["positive", "negative", "neutral"]

# %%
gv.bias_sliders(clerk, mood, tokens=labels)

# %% [markdown]
# Run the cell and there is a slider for each label. It adds its number to one logit. Drag one and watch *all* bars:
# what one token wins, the others lose.

# %%
positive, negative, neutral = (clerk.vocabulary.ids(label.encode())[0] for label in labels)
scores = clerk.logits(clerk.encode(mood))


def compare(amount):
    p = gv.sampling.softmax(gv.sampling.apply_bias(scores, {positive: amount}))
    print(f"bias {amount}: positive / negative = {p[positive] / p[negative]:.3g}")


# %% [question]
gv.predict(
    "You add 1 to `positive`. Its probability, divided by that of `negative`, becomes how many times as large?",
    number=2.718,
    within=0.1,
    reveal=[
        lambda: [compare(amount) for amount in (0, 1, 3)],
        """A bias b multiplies the ratio of a token's probability to any other's by e to the power of b: 2.72 for 1, 20
        for 3, more than 10 to the power of 43 for 100. It does so whatever the model thinks, and at every step
        alike.""",
    ],
)

# %% [markdown]
# So −100 and 100, the ends of the scale in most APIs, are *nearly* a ban and *nearly* a command. Nearly:

# %%
print(gv.sampling.softmax(gv.sampling.apply_bias([0.0, 200.0], {1: -100})))
print(gv.sampling.softmax(gv.sampling.apply_mask([0.0, 200.0], {0})))

# %% [markdown]
# In the first line the second token was 200 ahead, so −100 did not hold it back. In the second line a **mask** put
# its logit to −∞: probability exactly 0, whatever the model says. A mask is the bias that cannot be outvoted. In
# practice logits are seldom 100 apart and −100 bans well enough. The trouble with bans lies elsewhere.

# %% [markdown]
# ## 3 · Ban a word
#
# Say that the word *Prague* must never appear. You look up its token in the text that mentions it, and ban that.

# %%
plain = "Maria Cohen is 42 years old and lives in Prague.\nJSON with name, age, city:\n"
(in_the_text,) = clerk.encode(" Prague")
print(in_the_text, clerk.vocabulary.display(in_the_text))

# %% [question]
gv.predict(
    "This token is banned. Which city will the model write now?",
    choices=["Prague", "another city", "none: the value stays empty"],
    answer="Prague",
    reveal=[
        lambda: print(gv.record(clerk, plain, temperature=0, bias={in_the_text: -100}).text),
        """The ban changes nothing. The token in the sentence is “space and Prague”; after a quote the model writes
        another token, “Prague” without the space. To the model they are two numbers, as different as any two.""",
    ],
)

# %% [markdown]
# The same word in five spellings, with the tokens of each:

# %%
for text in (" Prague", "Prague", "prague", "PRAGUE", "Prag"):
    print(f"{text!r:10}", clerk.encode(text))

# %% [markdown]
# ## Exercise 2 · All ids that spell a word ★★
#
# Write `spellings(pieces, word)`: the ids of all pieces that spell `word`, no matter the case and no matter the blanks
# around it. `pieces[id]` is a `bytes` object, `word` is lower case.

# %%
def spellings(pieces, word):
    # solution:
    return [token for token, piece in enumerate(pieces) if piece.strip().lower() == word.encode()]
    # open:
    # ...  # bytes have .strip() and .lower(), too
    # end


gv.checks.spellings(spellings)

# %%
found = spellings(clerk.vocabulary.pieces, "prague") or []
print([clerk.vocabulary.display(token) for token in found])
print(gv.record(clerk, plain, temperature=0, bias={token: -100 for token in found}).text)

# %% [markdown]
# Once your list is right, both tokens are banned, and the model writes **another city**. It is perfect JSON, and it is
# false: you forbade the word, not the thing it stood for, and the next best word got its place.
#
# And a word that is not one token? Then there is no id to ban.

# %%
print(spellings(clerk.vocabulary.pieces, "varnhem"))
print([clerk.vocabulary.display(token) for token in clerk.encode("Varnhem")])

# %% [markdown]
# Even *Prague* need not come in one piece. Count the ways to put it together.

# %%
pieces = {clerk.vocabulary.pieces[token].decode("utf-8", "replace") for token in clerk.vocabulary.text_ids}


def ways(word):
    """Every sequence of pieces that spells a word."""
    heads = [word[:n] for n in range(1, len(word) + 1) if word[:n] in pieces]
    return [[head, *rest] for head in heads for rest in ways(word[len(head) :])] if word else [[]]


print(len(ways("Prague")), "ways, among them", ways("Prague")[-4:])

# %% [markdown]
# A ban on the last one leaves all others open. To close them you would have to ban pieces like `P`, and with them every
# other word that needs a P. A bias sees one token at a time; a word is a *sequence*.

# %% [markdown]
# **And a chatty opening?** After a friendly prompt the model begins with *Sure* about one time in five. Ban it, and
# look who gets its share.

# %%
chatty = clerk.logits(clerk.encode("Hi! " + plain))
(sure,) = clerk.vocabulary.ids(b"Sure")
before, after = gv.sampling.softmax(chatty), gv.sampling.softmax(gv.sampling.apply_bias(chatty, {sure: -100}))
likely = np.argsort(-before)[:7]

# %%
gv.draw_bars(
    [clerk.vocabulary.display(t) for t in likely],
    {"before": before[likely], "after the ban": after[likely]},
    title="first token",
)

# %% [markdown]
# The share of *Sure* went to everybody in proportion, to the honest `{"` and to the other chatty openings alike:
# *Here* (it is), *Of* (course), the fence of backticks. Ban these and the next will come. You are weeding by hand.

# %% [markdown]
# ## 4 · A constant does not know *when*
#
# Suppose the bans all worked. Could a bias make the output *structured*, say, close each JSON object? The token `"}`
# closes one whose last value is a text. We add to its logit, more and more.

# %%
(close,) = clerk.vocabulary.ids(b'"}')


def show_closed():
    for amount in (0, 10, 12, 18):
        text = gv.record(clerk, plain, temperature=0, bias={close: amount}, max_tokens=24).text
        print(f"{amount:2}  {text}")


# %% [question]
gv.predict(
    'We add 10, 12 and 18 to the logit of `"}`. Which of them make the model close its object with all keys in it?',
    choices=["all three", "10 and 12", "only 10", "only 18"],
    answer="only 10",
    reveal=[
        show_closed,
        """Up to 10 nothing changes, for the model closes its object anyway. At 12 it closes it too early, with keys
        missing. At 18 nothing but `"}` is left: a small bias changes nothing here, a large one breaks the output.""",
    ],
)

# %% [markdown]
# That is one text, at temperature 0. Now 30 texts at temperature 1 for each bias: how many parse, and how many have all
# three keys? It takes a few seconds.

# %%
def has_all_keys(text):
    try:
        return {"name", "age", "city"} <= set(json.loads(text))
    except ValueError:
        return None


amounts = (0, 6, 8, 10, 12, 14, 18)
found = []
for amount in amounts:
    texts = [gv.record(clerk, plain, seed=seed, bias={close: amount}, max_tokens=30).text for seed in range(30)]
    found.append([has_all_keys(text) for text in texts])

# %%
parsed = [sum(one is not None for one in row) / 30 for row in found]
whole = [sum(one is True for one in row) / 30 for row in found]
gv.draw_bars([f"bias {amount}" for amount in amounts], {"parses": parsed, "all keys": whole}, title="share of 30 texts")

# %% [markdown]
# A bias of 6 helps a little: one more text parses. From 8 on it costs keys, and what parses hides it: at 10 nine texts
# in ten still parse, and seven in ten have all keys. No amount gives all 30 texts with all keys.

# %% [markdown]
# Here is why: the probability that the model itself gives to `"}` before each token it writes.

# %%
tokens, wish = clerk.encode(plain), []
for step in gv.decode(clerk, plain, temperature=0):
    wish.append(gv.sampling.softmax(clerk.logits(tokens))[close])
    tokens.append(step.token)

# %%
written = [clerk.vocabulary.display(token) for token in tokens[-len(wish) :]]
gv.draw_bars(written, {'wish for "}': wish}, title='probability of "} just before each token')

# %% [markdown]
# The wish is near zero, then near one at the only right place, then zero again. It has to *follow the text*. A constant
# lifts all these bars together: it can only be too weak where the token belongs or too strong where it does not.

# %%
gv.stage(clerk, plain, temperature=0, bias={close: 12}, max_tokens=24, show=6)

# %% [markdown]
# Step through it: up to the end of the name all is well. There the bias tips the scale from `",` to `"}`. The outlined
# bars, which hold the bias already, show how close the race is; the filled ones, *as drawn*, give all to the likeliest,
# for that is what temperature 0 does. The stage has nothing to object to: every token is legal.
#
# **What breaks**, in one sentence: whether `"}` is right depends on what stands before it, and a constant has no
# memory.

# %% [markdown]
# ## 5 · What a bias is good for
#
# One token, once. If the whole answer is a single token out of a few, there is no *before* to remember. Then a bias
# makes a classifier out of a language model.
#
# ## Exercise 3 · Yes or no, and nothing else ★★
#
# Choose biases so that the *next token* is `yes` or `no`, for any prompt, and so that the *model* decides which.

# %%
# solution:
only = {token: 100 for word in (b"yes", b"no") for token in clerk.vocabulary.ids(word)}
# open:
# only = {}  # token id: a number from -100 to 100
# end
gv.checks.only_answers(only, clerk)

# %%
question = "The bag holds a tent, a pen and a sofa. Is there a pen in it?\nYes or no:\n"


def ask(count):
    print(repr(gv.record(clerk, question, bias=only, max_tokens=count).text))


# %% [question]
gv.predict(
    "Your bias is right for the first token. What will the model write if you let it go on for twelve?",
    choices=["`yes` or `no`, then it ends", "`yes` and `no` twelve times", "its answer, then the reason for it"],
    answer="`yes` and `no` twelve times",
    reveal=[
        lambda: [ask(1), ask(12)],
        """The constant is still there at step two, and three. EOS would be right, but it is 100 behind, so the model
        has to say yes or no for ever. That is why recipes for this trick always come with `max_tokens=1`. (While
        the exercise is open there is no bias, and both lines show the model's own answer.)""",
    ],
)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Softmax knows differences only. A bias *b* multiplies the ratio of a token's probability to any other's by
#   *e*<sup>*b*</sup>.
# * −100 is nearly a ban. Only −∞, a mask, is one.
# * A word has many spellings in tokens: with a space, with a capital, in parts. Bans leak.
# * Structure needs to know what came before. A constant does not.
# * Good for: a nudge, banning one single token, choosing among single-token answers.
#
# Next: [lab 02](02_static_masks.ipynb) lets the mask change from position to position.

# %% [markdown]
# ## How the production engines do it
#
# * **OpenAI API**, reference of *Chat Completions*, `logit_bias`: token ids to numbers from −100 to 100, added to the
#   logits before sampling. −100 or 100 "should result in a ban or exclusive selection".
# * **llama.cpp**, `tools/server/README.md`: `logit_bias` takes ids, or texts, of which it biases every single token;
#   `false` instead of a number means *never*.
# * **Transformers**, page *Utilities for Generation*: `SequenceBiasLogitsProcessor` biases whole sequences, by waiting
#   for their last token. Its documentation warns of the space before a word.
