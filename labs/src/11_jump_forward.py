# question: Why ask the model where only one text is possible?

# %% [markdown]
# # Lab 11 · Jump-forward
#
# **Question.** In a JSON text with fixed keys most bytes are known before the model writes them. Why ask the model
# where only one text is possible?
#
# **Goal.** You write the function that finds such places. You can say how much time skipping them saves, when it saves
# little, and how it can change what the model writes.
#
# **Time.** {minutes} minutes in class, {with_home} with the homework. [Lab 10](10_walk_the_trie.ipynb)
# comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **forced** | a byte is forced if no other byte may come and the text may not end; a *run* is a row of forced bytes |
# | **deterministic fraction** | *f*, the share of the tokens of an output that are appended without a forward pass |
# | **prefill** | a forward pass over several known tokens at once; a prompt is read in this way |
# | **spelling** | one way to cut bytes into tokens; *canonical* is the one that the tokenizer itself gives |
# | **retokenisation** | cutting the whole output again with the tokenizer after a run is appended |
# | **token healing** | a run is shortened: it ends where a longer token could begin, and the model writes the rest |

# %% [markdown]
# **Lost?** Machines and their states are [lab 03](03_fsm.ipynb). Which tokens a machine over bytes allows, and tokens
# across two parts of a format, are sections 1 and 5 of [lab 05](05_machine_times_vocabulary.ipynb).

# %%
# slide: Where only one way is left, the text can be added without the model.
import json

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.machines.machine import read

clerk = gv.load_model("clerk")
gv.views.draw_loop("jump")

# %% [markdown]
# ## 1 · Where only one byte may come
#
# This schema fixes the keys, their order, and one blank after each colon and comma. The name is one of two.

# %%
keys = {"name": {"enum": ["Ada", "Grace"]}, "age": {"type": "integer", "minimum": 0}, "member": {"type": "boolean"}}
schema = {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
person = gv.json_schema(schema, whitespace="one")

# %% [markdown]
# Inside the key `"member"` each byte has one successor. In the picture each such chain is one thick arrow. Press a
# thick arrow to unfold it, press it again to fold it.

# %%
# slide: The thick arrows are bytes that must come: 41 of 50 states lie inside them.
gv.folded(person)

# %% [markdown]
# Nine states remain: the start, the end, four decisions (which name, the first digit, another digit or not, `true` or
# `false`) and three states where branches merge. A thick arrow ends where branches meet, since what follows belongs to
# all of them. A forced run does not end there: once the `t` of `true` is chosen, the run is `rue}`.

# %% [markdown]
# ## Exercise 1 · The forced run ★★
#
# Write `forced(machine, state)`. It returns the forced run from this state as bytes. `machine.step(state, byte)` gives
# the next state, or `None` if the byte cannot come. `machine.is_accepting(state)` says whether the text may end. For
# `ab(cd)?` the result is `b"ab"`: after `ab` the text may end. A run may end inside a character: for `[éè]` it is
# `b"\xc3"`, the first byte of both.
#
# hint: Write a `while` loop. In each round, list all bytes for which `step` does not give `None`.
#
# hint: Stop if the state is accepting or if the list does not have exactly one byte. Otherwise append the byte and
# step.


# %%
# slide: Exercise 1: find the bytes that the machine forces from a state.
def forced(machine, state):
    # solution:
    run = b""
    while not machine.is_accepting(state):
        ways = [byte for byte in range(256) if machine.step(state, byte) is not None]
        if len(ways) != 1:
            break
        run += bytes(ways)
        state = machine.step(state, ways[0])
    return run
    # open:
    # run = b""
    # ...  # while the text may not end: if exactly one byte may come, append it and step
    # end


gv.checks.forced(forced)

# %% [markdown]
# Your function at four places of one text: at its start, after `Ada`, after `36`, and after the comma.

# %%
# slide: From the start the machine forces the first key; after an age that may go on it forces nothing.
for text in (b"", b'{"name": "Ada', b'{"name": "Ada", "age": 36', b'{"name": "Ada", "age": 36,'):
    print(forced(person, read(person, text)))

# %% [markdown]
# ## 2 · Bytes are forced, tokens are not
#
# The model reads tokens, not bytes. So look for places where only one *token* is legal. Take the vocabulary of Llama 3
# and an object with any name and any age.

# %%
llama = gv.Vocabulary.llama3()
free = {"name": {"type": "string"}, "age": {"type": "integer"}}
guide = gv.guide(gv.json_schema(schema | {"properties": free, "required": list(free)}, whitespace="one"), llama)


def count_legal():
    state = guide.initial
    for token in gv.tokens.longest_tokens(llama, b'{"name": "Ada", "age": 36}'):
        print(f"{guide.mask(state).sum():7,} legal, then {llama.display(token)}")
        state = guide.advance(state, token)


# %% [question]
# slide: Bytes are forced, tokens are not: hardly ever is exactly one token legal.
gv.predict(
    '`{"name": "Ada", "age": 36}` has 12 tokens. Before how many of them is exactly one token legal?',
    number=0,
    reveal=[
        count_legal,
        """None, although the bytes of both keys are forced. A vocabulary has every single byte and longer pieces, too.
        At `age` three tokens are legal: `a`, `ag` and `age`. The bytes can come in one way, the tokens in three.""",
    ],
)

# %% [markdown]
# How likely is each spelling? Here `clerk` writes about a wedding. Blanks around a colon are optional, so at the start
# only `{"event"` is forced, eight bytes. Each row is a spelling with its probability *p*, the product over its tokens.
# Its cost in *nats* is −ln *p*: 0 for a spelling that is certain, large for one that the model finds improbable.

# %%
# slide: The same forced text has many spellings, and the model expects one of them.
wedding = gv.guide(gv.regex(r'\{"event" ?: ?"[^"]{0,30}", "seats" ?: ?[0-9]+\}'), clerk.vocabulary)
party = "The wedding has 141 seats.\nJSON with event, seats:\n"
gv.views.draw_spellings(gv.spellings(clerk, party, wedding))

# %% [markdown]
# The model expects `":` as one token, which goes beyond the run (dashed).
#
# The right spelling of a run depends on what follows it. The tokenizer cuts the eight bytes alone as in the green row.
# In the whole text a colon follows, and then the tokenizer takes `":` as one token. **Token healing** takes care of
# this: the run is shortened. It ends before its quote mark, because a longer token could begin there. Only `{"event` is
# appended, and the model writes the next token itself.

# %% [markdown]
# There are three ways to append a run without asking the model. The first two use token healing, so they leave the
# quote mark to the model:
#
# | way | what it appends | for the run `{"event"` |
# | --- | --- | --- |
# | **canonical** | the tokenizer cuts the whole output again; changed tokens are taken back | `{"`, `event` |
# | **longest** | at each place the longest token that lies in the run; nothing is taken back | `{"`, `event` |
# | **minimal** | a token only where exactly one is legal | nothing: `{` and `{"` are legal |
#
# We try all three on a list; its `lirpi` is not a word. `write` prints the number of forward passes of each way;
# *masked* is without jumps.

# %%
things = gv.guide(gv.regex(r'\["[^"]*"(, "[^"]*")*\]'), clerk.vocabulary)
fruit = "There are lirpi, orange, flag and stove.\nJSON list of things:\n"


def write(prompt, guide, *ways):
    for way in ways:
        run = gv.record(clerk, prompt, guide, temperature=0, jump_forward=way)
        name = way or ("masked" if guide else "free")
        print(f"{name:10}{run.passes:2} passes  {run.text}")


# %% [question]
# slide: To wait until one token is legal saves little; to write forced bytes saves a third of the passes.
gv.predict(
    "Which of the three ways saves the fewest passes?",
    choices=[
        "canonical: what it takes back must be read again",
        "longest: the model does not expect its spellings",
        "minimal: hardly ever is exactly one token legal",
    ],
    answer="minimal: hardly ever is exactly one token legal",
    reveal=[
        lambda: write(fruit, things, False, "canonical", "longest", "minimal"),
        """Minimal saves one pass: after the `]` only `<|end|>` is legal, the EOS of `clerk`. Canonical and longest save
        five each. They differ in one place. The model wrote `li`, `r`, `pi`, and longest keeps these tokens. The
        tokenizer writes `lir`, `pi`. So when the next run is appended, a blank and a quote mark, canonical takes four
        tokens back (*before*) and puts `lir`, `pi`, `",`, `␣"` in their place (*after*):""",
        lambda: gv.views.draw_rollback(gv.record(clerk, fruit, things, temperature=0, jump_forward="canonical")),
        """The model reads these four in one pass. `pi` and `",` are read a second time, because another token stands
        before them now.""",
    ],
)

# %% [markdown]
# Click into the stage, press `Home`, and step through the canonical way. A dashed frame marks a token that was appended
# without a pass, so no distribution was computed for it. A token that was taken back is struck through.

# %%
# slide: The marked tokens came without a pass of the model.
gv.stage(clerk, fruit, things, temperature=0, jump_forward="canonical", show=9)

# %% [markdown]
# ## 3 · What it saves
#
# Here are the passes of this list. One pass reads a whole run at once, as in a **prefill**, and then gives the
# distribution after its last token.


# %%
# slide: With jumps there are fewer passes, and some of them read more tokens.
def show_passes(prompt, *ways):
    runs = {way or "masked": gv.record(clerk, prompt, things, temperature=0, jump_forward=way) for way in ways}
    return gv.views.draw_passes(runs)


show_passes(fruit, False, "longest", "canonical")

# %% [markdown]
# With *longest* 5 of 15 tokens come without a pass: the four dashed ones, and `<|end|>`, which no pass reads. So the
# **deterministic fraction** *f* is 1/3, and 10 of 15 passes remain, a fraction 1 − *f*. The speed-up is at most
# 1 / (1 − *f*), here 1.5. It is less in fact, because the dashed tokens must still be read.
#
# *Canonical* has more dashed tokens and takes 10 passes, too: the four tokens that were taken back took a pass each.

# %% [markdown]
# ## Exercise 2 · The cost model ★
#
# Each pass takes *p* milliseconds, plus *t* milliseconds per token that it reads. A fraction *f* of the tokens is
# appended without a pass. Write the speed-up: the time per token without jump-forward, divided by the mean time per
# token with it. For *f* = 0.5 and *p* = *t* = 1 it is 2 / 1.5.
#
# hint: Without jump-forward, each token takes one pass that reads one token.
#
# hint: With it, every token is still read, but only a fraction 1 − *f* of the tokens has a pass of its own.


# %%
# slide: Exercise 2: write the cost model, which says how much faster a run becomes.
def speedup(fraction, pass_ms, token_ms):
    # solution:
    return (pass_ms + token_ms) / ((1 - fraction) * pass_ms + token_ms)
    # open:
    # ...  # pass_ms is p, token_ms is t
    # end


gv.checks.speedup(speedup)

# %% [markdown]
# Drag the first handle. At each place there is a regex with about that deterministic fraction. When the handle rests,
# `clerk` writes the text five times both ways, and the median becomes a point. The dashed line is 1 / (1 − *f*), the
# other one the formula of exercise 2, with *p* and *t* as measured here. On a busy machine *p* and *t* cannot be
# measured well. Then the slider says so.

# %%
# slide: Drag the fraction of forced tokens: the measured speed-up stays below the ideal one.
gv.fraction_slider(clerk)

# %% [markdown]
# Where the handle starts, 45 of 63 tokens come without a pass. In our record *p* is 2.90 ms and *t* is 0.49 ms, so
# `speedup(45 / 63, 2.90, 0.49)` is 2.57; 2.38 was measured. All filled points of the record lie below the dashed line,
# and at most 17% from the formula. Hollow points belong to the homework.
#
# 74 passes become 18, a factor of 4.1. This is above the bound of 3.5. The reason: what is appended is spelled with
# longer tokens, so the jumping run has 63 tokens instead of 74. So we compare times *per token*.

# %% [markdown]
# All this compares with *masked* decoding. What if there is no mask at all?

# %%
member = "Ada is 36 and is a member.\nJSON with name, age, member:\n"
write(member, None, False)
write(member, gv.guide(person, clerk.vocabulary), False, "canonical")

# %% [markdown]
# The same text three times. The mask saves no pass. With jump-forward the constrained text takes fewer passes than the
# free one: 14 of its 19 tokens are appended without a pass.

# %% [markdown]
# ### More free values, more texts · home
#
# Here is an object with six keys, whose values are mostly free:

# %%
kinds = {"name": "string", "age": "integer", "city": "string", "job": "string", "email": "string", "member": "boolean"}
six = {"type": "object", "properties": {key: {"type": kind} for key, kind in kinds.items()}, "required": list(kinds)}
baker = f"Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with {', '.join(kinds)}:\n"
write(baker, gv.guide(gv.json_schema(six, whitespace="one"), clerk.vocabulary), False, "canonical")
write(baker, gv.guide(gv.json_schema(six, whitespace="space"), clerk.vocabulary), "canonical")

# %% [markdown]
# In the last line the blanks are optional, so less is forced.
#
# The second handle of the slider puts *B* texts side by side in each pass, a *batch*, as on a server. The slider calls
# them rows. A graphics card loads the weights once for all texts of a batch.

# %% [question]
# slide: With many texts in a pass the pass is mostly computing, and little is saved.
gv.predict(
    "A server reads 512 texts in each pass. Is the speed-up larger or smaller than for one text?",
    choices=[
        "larger: it saves passes for 512 texts at once",
        "the same: the deterministic fraction of each text is the same",
        "smaller: a pass is mostly computing, and forced tokens must be computed too",
    ],
    answer="smaller: a pass is mostly computing, and forced tokens must be computed too",
    reveal=[
        lambda: print(*(f"B = {n}: {gv.decoding.Cost(8, 0.02).speedup(0.9, n):.1f}x" for n in (1, 32, 512)), sep=", "),
        """This is your formula for p = 8 ms and t = 0.02 ms · B, at f = 0.9: the server of lab 14. The weights are
        loaded once, so p hardly grows. But a token is computed for each text, so t grows with B. Computing becomes the
        large part of a pass, and no jump saves it.""",
    ],
)

# %% [markdown]
# ## 4 · What can go wrong
#
# With each way every output is legal. Can a jump still change what the model writes? SmolLM2 read 24 sentences such as
# *Felix Brook, 84, lives in Quito.* It wrote one object for each, greedily, once per way. The schemas fix the keys,
# their order and the blanks. The others are compared with *masked*. *Raw* is *longest* without token healing: it
# appends a run up to its last byte.

# %%
jumps = gv.decoding.Rates.load("smollm2/jumps")
print(jumps)


def compare_ways():
    for row in jumps.table:
        way = "masked" if row["way"] == "plain" else row["way"]
        if way != "free":
            print(f"{way:10} {row['same values']:2} of {row['of']} with the same values, {row['passes']} passes")


# %% [question]
# slide: A text that the model would have spelled otherwise can lead it to other values.
gv.predict(
    "The grammar forces the same bytes with every way. With which of them can the *values* differ from those of "
    "masked decoding?",
    choices=["with none", "with raw only", "with canonical, longest and raw", "with all four"],
    answer="with canonical, longest and raw",
    reveal=[
        compare_ways,
        """Minimal takes a token only where exactly one is legal, and there masked decoding takes it, too. So its text
        is always the same. The other three append tokens that the model may not have chosen. Raw takes the fewest
        passes. Token healing costs 60 more, and it keeps the values of three more objects.""",
    ],
)

# %% [markdown]
# Here is one of these objects. It is about the sentence *Ada Lovelace is a member.*

# %%
# slide: The forced bytes are the same with and without a jump, and yet the model writes another name.
cases = json.loads(shipped("traces/smollm2/jumps.json").read_text())["cases"]
lady = next(case["runs"] for case in cases if case["fact"].startswith("Ada Lovelace"))
print("masked    ", lady["plain"]["text"])
print("canonical ", lady["canonical"]["text"])

# %% [markdown]
# Up to the `L` both lines have the same bytes, and yet another letter follows. At temperature 0 a model that reads the
# same tokens writes the same token. So the tokens before differ. `clerk` shows such tokens in another list. It
# misspells the two invented words also without a jump, so compare only the two lines:

# %%
# slide: Canonical spells the first word otherwise, and from there on the model reads another input.
stones = "There are strobol, orange, stroneka and stove.\nJSON list of things:\n"
write(stones, things, False, "canonical")
show_passes(stones, False, "canonical")

# %% [markdown]
# The model wrote `stone`, `ro`, `bol`, and canonical wrote `ston`, `er`, `ob`, `ol` instead: the same bytes. From there
# on the model reads another input. After `orange` it chooses `pipe`, and the list ends.
#
# Why does *raw* change more values than the others? The run of the wedding ends inside the token `":` that `clerk`
# expects:

# %%
# slide: With raw bytes the model reads a spelling that it never writes, and the event gets a wrong name.
write(party, wedding, False, "canonical", "raw")
gv.draw_strip(gv.record(clerk, party, wedding, temperature=0, jump_forward="raw"))

# %% [markdown]
# With *raw* the event is called `141, `: the model read `"`, then `:`, a spelling that costs 20 nats (19.81 in the
# picture of section 2). The output is legal, and wrong. Here raw even takes more passes than canonical, because the
# wrong name has more tokens.
#
# Token healing prevents this. Its rule: look at each place of the run, from the left. Is there a legal token that
# spells all the rest of the run and at least one byte more? End the run at the first such place, and let the model
# write from there. In the run `{"event"` this place is the quote mark at the end: `":` is legal there.

# %% [markdown]
# ## Exercise 3 · Heal it ★★ · home
#
# Write `heal(tokens, legal)`. `tokens` is a run as a list of pieces. `legal[i]` is the set of pieces that are legal
# where `tokens[i]` begins. The rest of the run from place *i* on is `tokens[i] + tokens[i+1] + …`. Return the first *i*
# at which a legal piece begins with this rest and is longer. If there is none, return the number of tokens. For `or`,
# `der` the result is 0 if `orderId` is legal at place 0.
#
# hint: The rest of the run from place *i* on is `b"".join(tokens[i:])`.
#
# hint: Test `piece.startswith(left) and len(piece) > len(left)` for each legal piece.


# %%
# slide: Exercise 3: take back the last token, so that the model may choose a longer one.
def heal(tokens, legal):
    # solution:
    for place in range(len(tokens)):
        left = b"".join(tokens[place:])
        if any(piece.startswith(left) and len(piece) > len(left) for piece in legal[place]):
            return place
    return len(tokens)
    # open:
    # for place in range(len(tokens)):
    #     left = b"".join(tokens[place:])
    #     ...  # does a legal piece begin with it and go on?
    # end


gv.checks.heal(heal)

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Often said, and what we measured
#
# | said | measured | section |
# | --- | --- | --- |
# | "Six keys save 25 to 40% of the steps." | 24 of 52 passes, 46%. If the spaces are optional, 15, 29%. | 3 |
# | "Jump where a single token is legal." | In an object in Llama 3's tokens: at 0 of 12 places. | 2 |
# | "A constraint makes it slower than free text." | The same text: 19 passes free, 19 masked, 5 with jumps. | 3 |
# | "The bytes are forced, so the output stays the same." | Other values in 4 of 24 objects of SmolLM2. | 4 |

# %% [markdown]
# ## Recap
#
# * Fold the chains: the start, the end, the decisions and the merge points remain.
# * The grammar forces bytes. The spelling is still a choice, and it affects what the model writes next.
# * Jump-forward saves passes, not reading: the speed-up is at most 1 / (1 − *f*).
# * Canonical can take tokens back, longest cannot. Both use token healing, and both can still change values. Only
#   minimal never does.
#
# Next: [lab 12](12_what_masks_change.ipynb), what all this does to the words of the model. An optional page: [drafts
# and masks](deeper/drafts.ipynb), where the model checks guessed tokens, such as a forced run, in one pass.

# %% [markdown]
# ## How the production engines do it
#
# * **Guidance** appends what its program fixes, and [token
#   healing](https://guidance.readthedocs.io/en/latest/example_notebooks/art_of_prompt_design/prompt_boundaries_and_token_healing.html)
#   repairs the seam.
# * **SGLang** compressed the machine of any regex ([LMSYS, 2024-02](https://lmsys.org/blog/2024-02-05-compressed-fsm/);
#   [arXiv 2312.07104](https://arxiv.org/abs/2312.07104)) and published up to 2 times lower latency and 2.5 times the
#   throughput. It was compared with guidance on llama.cpp and Outlines on vLLM, so more than the jump differs. We ran
#   none of these systems.
# * Then came faults, such as a population of 2 instead of 2140000
#   ([#2025](https://github.com/sgl-project/sglang/issues/2025)). In March 2025 SGLang removed it, "to simplify the code
#   maintenance" ([#4032](https://github.com/sgl-project/sglang/pull/4032)); it names no fault as the reason.

# %% [markdown]
# * **MLC-LLM** retokenises with rollback ([#2551](https://github.com/mlc-ai/mlc-llm/pull/2551)); **vLLM** has not
#   merged it ([#15490](https://github.com/vllm-project/vllm/pull/15490)).
# * **llguidance** appends canonical tokens and stops where they could join with what follows
#   ([docs/fast_forward.md](https://github.com/guidance-ai/llguidance/blob/main/docs/fast_forward.md)).
# * **XGrammar** gives forced bytes ([arXiv 2411.15100](https://arxiv.org/abs/2411.15100)).

# %% [markdown]
# ## Further reading
#
# * [Coalescence](https://blog.dottxt.co/coalescence.html): the many spellings of a run, merged into one.
# * [Fast JSON decoding](https://lmsys.org/blog/2024-02-05-compressed-fsm/): its section on the boundaries of
#   tokens.
# * [llguidance on fast-forward](https://github.com/guidance-ai/llguidance/blob/main/docs/fast_forward.md): why the end
#   of a run is left out.

# %% [markdown]
# ## A puzzle
#
# For `[éè]` your `forced` gives one byte, but our library calls nothing forced there. Why?
#
# hint: Look at the UTF-8 bytes of both letters. Could a tokenizer cut a text that ends after the first byte?
