# question: What goes wrong without a constraint?

# %% [markdown]
# # Lab 00 · Start here
#
# **Question.** A language model is asked for JSON. It usually writes JSON. What happens the other times?
#
# **Goal.** You can use the stage, the live picture of all labs, and you have measured how often the output of a small
# model is not JSON.
#
# **Time.** {minutes} minutes, two exercises. You need to know Python. Run each cell with **Shift + Enter**, from top to
# bottom.

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

# %%
import json

import guidedviz as gv

# %% [markdown]
# ## 1 · Is my machine ready?
#
# The next cell checks your installation. If it runs without an error, all labs will run. They need no graphics card and
# no internet.

# %%
# NBVAL_IGNORE_OUTPUT
gv.readiness()

# %% [markdown]
# Two small models are part of the project. `bard` writes in the style of Shakespeare's plays, one character per token.
# `clerk` turns short English texts into JSON, dates or prices. We use `clerk` here. The list of all tokens of a model
# is its **vocabulary**.

# %%
clerk = gv.load_model("clerk")
clerk

# %% [markdown]
# ## 2 · One token at a time
#
# A model writes **one token** at a time. It reads all tokens so far, computes a probability for every possible next
# token, and one token is drawn and appended. This is the **decoding loop**. Later labs add parts to it.

# %%
gv.views.draw_loop("free")

# %% [markdown]
# (A *logit* is the score of a token, from which its probability is computed. Lab 01 shows how.)
#
# Our prompt is a sentence and a request.

# %%
plain = "Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
print(plain)

# %%
gv.stage(clerk, plain, show=3)

# %% [markdown]
# This is the **stage**. Run the cell and it is live: the model has written three tokens. (Without Python you see a
# picture of this step.) Click into it once, so that it receives your keys. **Press `?` and take the tour**: it shows
# the controls one by one, and you try each of them.
#
# | to do this | press |
# | --- | --- |
# | one step on, one step back | `→`, `←` |
# | play, pause | `space` |
# | to the start, to the end | `Home`, `End` |
# | take a token yourself | click its bar, or `1` to `9` |
# | be asked before each step | `q` |
# | full screen with large type | `f` |

# %% [markdown]
# **How to read it.** The prompt is at the top. One box per written token follows, with its probability; `␣` is a space,
# `↵` a new line. The panel below shows the likeliest **next** tokens and their probabilities, before one of them is
# drawn. After a step back, `▸` marks the token that was drawn.
#
# Here all tokens are **legal**. In later labs a *mask* forbids some of them. Then you see each probability before and
# after the mask, and the **legal mass Z**, the total probability of the legal tokens, is below 1.

# %% [markdown]
# `gv.record` decodes to the end and keeps every step. The result is a **trace**.

# %%
trace = gv.record(clerk, plain)

# %% [markdown]
# **Predict first.** The next cell asks a question. You answer once; then the true answer is computed and shown. The
# notebook keeps your answers and counts the right ones at the end. Answer before you step through the output above.

# %% [question]
gv.predict(
    "One token of this output had a probability below 0.9. Where is it?",
    choices=["in the punctuation", "in a key", "in a value"],
    answer="in a value",
    reveal=[
        "Here is the trace as a strip. The stronger the colour of a box, the larger the probability of its token.",
        lambda: gv.draw_strip(trace),
        """It is the first token of the surname, with 0.36. The model must copy this name from the prompt. All
        punctuation and all keys have at least 0.97: the model is nearly certain of the form.""",
    ],
)

# %% [markdown]
# ## 3 · The same request with a greeting
#
# Now the prompt begins with a greeting. The task is the same.

# %%
chatty = "Hi! " + plain
gv.stage(clerk, chatty, seed=4, show=0)

# %% [markdown]
# Step to the end. A program reads the finished output with `json.loads`. This function refuses nearly everything that
# is not JSON. (An exception is `NaN`, which it accepts.)

# %%
def read(text):
    """Print what `json.loads` makes of a text."""
    try:
        print(json.loads(text))
    except json.JSONDecodeError as error:
        print("json.loads:", error)


# %% [question]
gv.predict(
    "What does `read` print for this output?",
    choices=["the name, age, city and job", "the name and nothing else", "an error"],
    answer="an error",
    reveal=[
        lambda: read(gv.record(clerk, chatty, seed=4).text),
        """Name, age, city and job are all in the output. But `json.loads` does not search for JSON inside a text: it
        fails at the first character that cannot begin JSON, here `O`.""",
    ],
)

# %% [markdown]
# ## 4 · Ten outputs
#
# One output proves little. Other seeds give other outputs of the same model for the same prompt.

# %%
outputs = [gv.record(clerk, chatty, seed=seed).text for seed in range(10)]


def show_outputs():
    for seed, text in enumerate(outputs):
        print(f"{seed:2}  {text!r}")


# %% [question]
gv.predict(
    "Of these ten outputs, how many can `json.loads` read?",
    number=2,
    within=1,
    reveal=[show_outputs, "Two outputs are JSON and nothing but JSON. Exercise 1 counts them."],
)

# %% [markdown]
# Your answer shows the ten outputs. Find one of each kind:
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
print([parses(text) for text in outputs])

# %% [question]
gv.predict(
    "And the plain prompt, without the greeting? Of twenty outputs, how many can `json.loads` read?",
    number=19,
    within=1,
    reveal="All but one. Run the next cell and look for the seed that fails.",
)

# %%
print([parses(gv.record(clerk, plain, seed=seed).text) for seed in range(20)])

# %% [markdown]
# ## Exercise 2 · Cut it out ★
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

# %% [question]
gv.predict(
    "Cut out of the ten outputs: in how many of them are the keys name, age, city, job and the right name?",
    number=4,
    within=1,
    reveal=[
        lambda: [print(seed, cut_out(text)) for seed, text in enumerate(outputs)],
        """Nine give an object, six have the keys, and four of these have the right name. Cutting removes the prose. It
        cannot rename a key, close a brace or correct a name. (While exercise 2 is open, each line says `None`.)""",
    ],
)

# %% [markdown]
# ## What breaks
#
# A plain prompt is better than a greeting, and it still fails sometimes. You could retry until the output parses. That
# costs time, and it can fail again.
#
# Constrained decoding acts in the step itself. At each step the model gives *every* token a probability. We control
# which tokens can be drawn: a token that cannot lead to valid output is left out. Then a finished output is **always**
# valid. The other labs are about one question: which tokens are these, and how do we find them quickly?

# %% [markdown]
# ## The labs
#
# {labs}

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "Models write correct JSON today." | `clerk`: 19 of 20 with a plain prompt, 2 of 10 with a greeting. | 4 |
# | "`json.loads` tells whether a text is JSON." | It accepts `NaN`, which is not JSON. | 3 |
# | "Constrained output is correct." | The form is; a name can be wrong. | 4 |

# %% [markdown]
# ## Recap
#
# * A model writes one token at a time, drawn by its probability.
# * It gives high probabilities to the form, and still makes mistakes in it: prose, fences, braces, keys.
# * `json.loads` reads the whole text or fails, so one wrong token is enough.
# * A constraint guarantees the form. It does not guarantee the truth.
#
# Next: [lab 01](01_logit_bias.ipynb) tries the simplest control, a constant added to some logits.

# %% [markdown]
# ## How the production engines do it
#
# * **OpenAI**: [*Introducing Structured Outputs in the
#   API*](https://openai.com/index/introducing-structured-outputs-in-the-api/) (2024). JSON mode of 2023 made outputs
#   parse without a schema. With Structured Outputs a new model scored 100% on OpenAI's evaluation of complex schemas,
#   an older model without it less than 40%. The two figures are of different models, so they do not show what the
#   constraint alone adds.

# %% [markdown]
# * **vLLM**: [structured outputs](https://docs.vllm.ai/en/latest/features/structured_outputs/), set per request.
# * **SGLang**: [structured outputs](https://docs.sglang.io/advanced_features/structured_outputs.html) by `json_schema`,
#   `regex` or `ebnf`.
# * **llama.cpp**: [grammars](https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md) in GBNF, the
#   notation of labs 06 and 07.
# * **Outlines**: [a library](https://github.com/dottxt-ai/outlines) that started with the index of lab 04.

# %% [markdown]
# ## Further reading
#
# * [*Efficient Guided Generation for Large Language Models*](https://arxiv.org/abs/2307.09702): the paper behind lab
#   04; read its introduction now.
# * [*JSONSchemaBench*](https://arxiv.org/abs/2501.10868): how often real engines succeed on real schemas.
# * [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259): the definition of JSON, sixteen short pages.

# %% [markdown]
# ## A puzzle
#
# Write a text that `json.loads` accepts and that is not JSON by RFC 8259, without using `NaN`.
#
# hint: `json.loads` accepts three words for numbers that JSON does not have.
