# question: What goes wrong without a constraint?

# %% [markdown]
# # Lab 00 · Start here
#
# **Question.** A language model is asked for JSON and nearly always writes JSON. What happens the other times?
#
# **Goal.** At the end you can drive the stage, the picture that all labs use, and you have measured how often a
# small model's JSON cannot be read.
#
# **Time.** {minutes} minutes. You need Python and curiosity. Run a cell with **Shift + Enter** and go down the page.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **token** | a number; the model reads and writes nothing else |
# | **piece** | the bytes that a token stands for: token 263 of our model may be `{"` |
# | **prompt** | the text that the model is asked to go on from |
# | **step** | the model gives every token a probability, and one token is drawn |
# | **seed** | fixes the draws: same seed, same output |
# | **EOS** | "end of sequence", the token that means *I am done* |

# %%
import json

import guidedviz as gv

# %% [markdown]
# ## 1 · Is my machine ready?
#
# One cell tells you. If it runs without an error, it is: nothing in these labs needs a graphics card or the
# internet.

# %%
# NBVAL_IGNORE_OUTPUT
gv.readiness()

# %% [markdown]
# The two models are part of the project. `bard` writes Shakespeare letter by letter. `clerk` turns short English
# texts into JSON, dates, prices and the like. We begin with `clerk`.

# %%
clerk = gv.load_model("clerk")
clerk

# %% [markdown]
# ## 2 · One token at a time
#
# A model does not write a text. It writes **one token**, looks at everything so far, and writes the next.

# %%
plain = "Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
print(plain)

# %%
gv.stage(clerk, plain, show=7)

# %% [markdown]
# This is the **stage**. Run the cell and it is live: it waits at the prompt for you. (If you read this where nobody
# runs Python, you see a picture of one step.)
#
# | to do this | press |
# | --- | --- |
# | take one step | `→` |
# | go back one step | `←` |
# | play, pause | `space` |
# | to the start, to the end | `Home`, `End` |
# | take a token yourself | click its bar, or `1` to `9` |
# | go back to before a token | click it |
# | full screen with large type | `f` |
#
# Click into the stage once, so that it gets your keys. Every key has a button, too.

# %% [markdown]
# **How to read it.** Top: the prompt, then one box per token with its probability; `␣` is a space, `↵` a new line.
# Below: the likeliest **next** tokens with their probabilities, before one of them is drawn. Which one will it be? Step
# and see; go back, and `▸` marks the one that was drawn. All tokens are **legal** so far. In later labs some are
# forbidden; then you see each probability before and after that, and the **legal mass Z**, the share that stays
# allowed, falls below 1.

# %% [markdown]
# `gv.record` decodes to the end and keeps every step; the result is called a **trace**.

# %%
trace = gv.record(clerk, plain)

# %% [markdown]
# **Predict first.** Run the next cell. It asks a question; you commit to an answer, and only then the true answer is
# computed and shown. You can answer once. The notebook keeps your answers, and counts the right ones at the end. Step
# through the output above before you answer.

# %% [question]
gv.predict(
    "Where is the model surest of itself?",
    choices=["in the punctuation and the keys", "inside the values", "everywhere alike"],
    answer="in the punctuation and the keys",
    reveal=[
        "Here is the trace as a strip: the darker the box, the surer the model.",
        lambda: gv.draw_strip(trace),
        """Punctuation and keys look alike in every answer that it was trained on: their probability is close to 1. The
        values change from prompt to prompt and must be copied. Its one real doubt here is where the surname begins.""",
    ],
)

# %% [markdown]
# ## 3 · Say it nicely
#
# Now the same request with a friendly word in front. Nothing about the task changed.

# %%
chatty = "Hi! " + plain
gv.stage(clerk, chatty, seed=4)

# %% [markdown]
# The program that has to read this output is `json.loads`. It is strict, with two exceptions: it takes `NaN`, which is
# not JSON, and it takes the same key twice and keeps the last value.

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
        """Name, age, city and job are all there. But `json.loads` does not look for JSON inside a text: it stops at
        the first character that does not belong, and that is `O`. A few friendly words, and all that follows is
        lost.""",
    ],
)

# %% [markdown]
# ## 4 · A small gallery
#
# One output is an anecdote. Change the seed and you get the others that the model could have written as well.

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
# Your answer opens the gallery. Find one of each kind:
#
# * **prose** before the JSON, or after it;
# * **a fence** of three backticks, as in a chat window;
# * **a brace that is missing**;
# * **another key**: `town` or `full_name`. Even without the prose around it your program would break, only later;
# * **a wrong value** in perfect JSON: who is Tamsin Wintero? No constraint on form can repair that one. Remember it.

# %% [markdown]
# ## Exercise 1 · Count instead of guessing ★★
#
# Write `parses(text)`: `True` if the text is JSON and nothing but JSON, else `False`.

# %%
def parses(text):
    # solution:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
    # open:
    # ...  # let json.loads decide; json.JSONDecodeError is a ValueError
    # end


gv.checks.parses(parses)

# %% [markdown]
# Once the check says *right*, run the next cell: one entry per output. (Until then it prints `None`.)

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
# ## What breaks
#
# Asking plainly is better than a friendly greeting, and still not certain. You could retry until it parses, you could
# cut the JSON out of the prose, you could plead in the prompt. People do all three, and each fails now and then.
#
# The way out is in the step itself. At each step the model gives *every* token a probability. We hold the pen: a
# token that cannot lead to valid output need not be drawn at all. Then a finished output cannot be malformed: not
# rarely, **never**. How to know which tokens those are, quickly, is what all the other labs are about.

# %% [markdown]
# ## The labs
#
# {labs}

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * A model writes one token at a time, drawn from a probability for each.
# * It is surest about form, and still slips there: prose, fences, braces, keys.
# * `json.loads` reads all or nothing, so a single token decides.
# * Form can be guaranteed. Truth cannot: perfect JSON may hold a wrong name.

# %% [markdown]
# ## How the production engines do it
#
# OpenAI's *JSON mode* (2023) made outputs parse but did not hold them to a schema. *Structured Outputs* (2024) does,
# with constrained decoding: on OpenAI's own evaluation of complex JSON schemas a new model with it scored 100%, an
# older one without it less than 40%. The two figures are of different models, so they do not show what the constraint
# alone gains.
#
# Source: OpenAI, *Introducing Structured Outputs in the API*, August 2024. The same is open to read in vLLM
# (`structured_outputs`), SGLang (`json_schema`) and llama.cpp (`grammars/README.md`).
