# question: Why ask the model where only one text is possible?

# %% [markdown]
# # Lab 10 · Jump-forward
#
# **Question.** Much of a JSON text is settled before the model has said a word. Why ask it at all where only one text
# is possible?
#
# **Goal.** You write the function that finds such places, measure what skipping them brings and when it stops paying,
# and know three ways in which it went wrong.
#
# **Time.** {minutes} minutes, three exercises. [Lab 09](09_walk_the_trie.ipynb) comes before this one.

# %% [markdown]
# ## Six words
#
# | word | meaning |
# | --- | --- |
# | **forced run** | the bytes that must come next: one way on, and the text may not end |
# | **pass** | one forward pass of the model, over one token or over several |
# | **prefill** | a pass over several tokens that are known already; this is how a prompt is read |
# | **spelling** | one way to cut bytes into tokens |
# | **canonical** | the spelling that the tokenizer itself would choose |
# | **healing** | leaving the end of a run to the model where it could join with what follows in one token |

# %%
import guidedviz as gv

# %% [markdown]
# ## 1 · What is settled before the model begins
#
# A schema for a person: the keys are fixed, in this order, with one blank after each colon and comma. The name is one
# of two, for now.

# %%
keys = {"name": {"enum": ["Ada", "Grace"]}, "age": {"type": "integer", "minimum": 0}, "member": {"type": "boolean"}}
schema = {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
person = gv.json_schema(schema, whitespace="one")
person

# %% [question]
gv.predict(
    "The machine has 50 states. In how many of them is there exactly one way out?",
    number=45,
    within=5,
    reveal=[
        lambda: print(gv.sketches.count_ways(person)),
        'Most of them: a key is a chain of states, and in the middle of `"member"` there is no choice.',
    ],
)

# %% [markdown]
# A run of states with one way out each is a **chain**. Now **fold** every
# chain into one arrow. This is SGLang's *compressed finite state machine* (2024).

# %%
gv.folded(person)

# %% [markdown]
# Press a thick arrow to unfold it, and once more to fold it. What is left are the decisions: a name, digits, `true` or
# `false`. Note that a chain may begin *with* a choice: after the `t` all of `rue` is settled, but the `t` is not.

# %% [markdown]
# A free string is another matter: nearly every byte may come, and inside a character of several bytes, or after a
# backslash, there are further states.

# %%
text = {"name": {"type": "string"}}
named = gv.json_schema(schema | {"properties": text, "required": ["name"]}, whitespace="one")
gv.sketches.count_ways(named)

# %% [markdown]
# ## Exercise 1 · The forced run ★★
#
# **By hand first.** Nothing is written yet. Which bytes must come in the machine above, and where does it stop?
#
# Now write it. `machine.step(state, byte)` gives the next state, or None where the byte cannot come;
# `machine.is_accepting(state)` says whether the text may end. Go on as long as exactly one byte may come and the text
# may not end here. Return the bytes.

# %%
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
    # ...  # a while loop: how many bytes may come?
    # end

# %%
gv.checks.forced(forced)

# %% [markdown]
# By hand it was `{"name": "`, ten bytes; then there is a choice. Now count along whole texts rather than states. Each
# byte that was forced gets a dash below it:

# %%
def mark_forced(machine, text):
    state, marks = machine.initial, ""
    for byte in text.encode():
        ways = [other for other in range(256) if machine.step(state, other) is not None]
        marks += "-" if len(ways) == 1 and not machine.is_accepting(state) else " "
        state = machine.step(state, byte)
    print(text, marks, f"{marks.count('-')} of {len(marks)} bytes are forced", sep="\n")


# %%
mark_forced(person, '{"name": "Ada", "age": 36, "member": true}')
mark_forced(named, '{"name": "Ada Lovelace"}')

# %% [markdown]
# `guide.forced(state)` does the same, and one thing more. `é` and `è` begin with the same byte in UTF-8.

# %%
clerk = gv.load_model("clerk")


def show_forced(*patterns):
    for pattern in patterns:
        accents = gv.guide(gv.regex(pattern), clerk.vocabulary)
        print(pattern, accents.forced(accents.initial))


# %% [question]
gv.predict(
    "What is forced at the start of `é|è`?",
    choices=["nothing", "the byte that both begin with", "the whole `é`"],
    answer="nothing",
    reveal=[
        lambda: show_forced("é|è", "aé|aè", "é"),
        """Only one first byte may come, but no character ends there. A run ends before it, since half a character is
        no text that a tokenizer could cut.""",
    ],
)

# %% [markdown]
# ## 2 · Bytes are forced, tokens are not
#
# The model reads tokens. So look at the start of our schema again, this time with `clerk` and its 4,096 tokens.

# %%
prompt = "Ada Lovelace is 36 and lives in London.\nJSON with name, age, city:\n"
facts = {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}}
wanted = schema | {"properties": facts, "required": list(facts)}
guide = gv.guide(gv.json_schema(wanted, whitespace="one"), clerk.vocabulary)
run = guide.forced(guide.initial)
run

# %% [question]
gv.predict(
    "One text is possible for these ten bytes. How many tokens are legal?",
    number=2,
    reveal=[
        lambda: print([clerk.vocabulary.display(token) for token in guide.mask(guide.initial).nonzero()[0]]),
        'Two: `{` and `{"`. So the model is asked a question that does not matter for the text.',
    ],
)

# %% [markdown]
# More than one token is legal nearly
# everywhere: in a vocabulary that has every byte and longer pieces, a run of two bytes has at least two spellings as
# soon as some token spells both. Here are the likeliest spellings of the run; some end beyond it.

# %%
spelled = gv.spellings(clerk, prompt, guide)
gv.views.draw_spellings(spelled)

# %% [markdown]
# Each arc is a token, as thick as the probability that the model passes through it; at this place all but one way are
# too unlikely for their arcs to show. Below, each row is one spelling. Its probability is the product of what the model
# gives to its tokens one after the other, and all of them together make 1.

# %% [markdown]
# `clerk` was trained on texts that its tokenizer had cut. So it expects the canonical spelling, and gives nearly all
# probability to it. Whoever forces a spelling takes the choice away. Its price is −ln p, in *nats*, the unit of a
# natural logarithm: 0 for one that the model would have taken anyhow, large for one that it has never seen.

# %% [markdown]
# So there are three ways to put a forced run without asking:
#
# * **canonical**: cut all of the output anew, run included (*retokenisation*). Where that differs from the tokens that
#   stand there, take those back.
# * **longest**: take the longest token that fits, each time.
# * **minimal**: put a token only where the mask has a single one.
#
# The first two leave the end of a run to the model where it could join; why, section 4 shows.

# %%
def compare_ways():
    for way in (False, "canonical", "longest", "minimal"):
        trace = gv.record(clerk, prompt, guide, temperature=0, jump_forward=way)
        print(f"{way or 'none':10}passes: {trace.passes:2}, prefilled: {trace.prefilled:2}  {trace.text}")


# %% [question]
gv.predict(
    "Which of the three saves least?",
    choices=["canonical", "longest", "minimal"],
    answer="minimal",
    reveal=[
        compare_ways,
        """Minimal changes nothing in what is drawn, and saves next to nothing: a single legal token is rare. The other
        two ask the model only where there is something to decide. Temperature 0 means greedy: always the likeliest
        legal token.""",
    ],
)

# %% [markdown]
# Here is the canonical way, live:

# %%
gv.stage(clerk, prompt, guide, temperature=0, jump_forward=True, show=10)

# %% [markdown]
# Step through it. A token with a dashed frame was put without a pass; there is no distribution to show, because nobody
# computed one. The next pass reads the whole run at once, as it would read a prompt, and then answers for the token
# after it. In the list of what each token cost, a forced one is a gap; only the first of a run has a bar where it took
# time to find the run, counted as mask.

# %%
# NBVAL_IGNORE_OUTPUT
gv.draw_costs(gv.record(clerk, prompt, guide, temperature=0, jump_forward=True))

# %% [markdown]
# ## 3 · When does it pay?
#
# Say a fraction *f* of the tokens is forced, or *fixed*, as the slider below calls it. Without jump-forward every token
# takes a pass. With it, only 1 − *f* of them do, so at best it is 1 / (1 − *f*) times as fast. But forced tokens must
# still be read. Let a pass over *n* tokens of each of *B* texts take *a* + *c·n·B* milliseconds: *a* for getting the
# weights through the chip, *c* for each token.

# %% [markdown]
# ## Exercise 2 · The cost model ★★
#
# Write the speed-up: the time of a token without jump-forward, over the mean time of one with it. Without: one pass
# over one token of each text. With: the same reading, but only a fraction 1 − *f* of the tokens has a pass of its own.

# %%
def speedup(fraction, pass_ms, token_ms, rows):
    # solution:
    reading = token_ms * rows
    return (pass_ms + reading) / ((1 - fraction) * pass_ms + reading)
    # open:
    # ...  # pass_ms is a, token_ms is c, rows is B
    # end

# %%
gv.checks.speedup(speedup)

# %% [markdown]
# Now drag. At every place a schema is built with that share of fixed tokens: at the left end one long free string, at
# the right end keys and values that are all but settled. Fixed tokens are grey, free ones coloured; press one to fix or
# free it. When the handle rests, `clerk` writes the text five times both ways, and the median stays as a point.

# %%
gv.fraction_slider(clerk)

# %% [markdown]
# Three things stand there: what would be if reading were free, what the cost model says with constants that are
# measured between the runs (on this machine if the badge says LIVE, else where the badge says), and the points. The
# formula stands below, each number in the colour of its boxes. The model of the slider has two things more than yours:
# each text costs something in every pass, whatever is read, for what is kept of it has to be read again; and forced
# tokens have to be found. Times are compared by the token, since the two ways may cut a text into different numbers of
# tokens, or even write different texts. Section 4 tells how.

# %% [markdown]
# Below the curve is a second handle: more texts side by side in each pass, a *batch*, as on a server.

# %%
def show_batches():
    for rows in (1, 8, 32, 128, 512):
        print(f"{rows:4} texts:", *(f"{gv.decoding.Cost(4.0, 0.1).speedup(f, rows):5.1f}x" for f in (0.5, 0.75, 0.9)))


# %% [question]
gv.predict(
    "Move the second handle to more texts. Will the curve rise or fall?",
    choices=["it rises", "it falls", "it stays"],
    answer="it falls",
    reveal=[
        show_batches,
        """It falls (this is your formula, with a = 4 ms and c = 0.1 ms, at f = 0.5, 0.75 and 0.9). With many texts in
        a pass, a is shared among them and c·B is not: the chip is busy computing, and computing is what a forced
        token still costs. The slider falls less: what each text costs in every pass is saved with the pass.

        Jump-forward saves passes. With few texts at a time, as on a laptop, you gain most; a full server gains less.
        That may be one reason why it is hard to find in production.""",
    ],
)

# %% [markdown]
# ## 4 · What can go wrong
#
# The text is in the language in any case. What changes is what the model *sees*, and so what it says next. Here is a
# schema in which the blank around a colon may be left out, and two questions that `clerk` is good at.

# %%
def flexible(**facts):
    fields = ", ".join(f'"{key}" ?: ?{value}' for key, value in facts.items())
    return gv.guide(gv.regex(rf"\{{{fields}\}}"), clerk.vocabulary)


word = '"[^"]{0,30}"'
wedding = flexible(event=word, seats="[0-9]+")
vase = flexible(product=word, price=r"[0-9]+\.[0-9]{1,2}", sku=word)
party = "The wedding has 141 seats.\nJSON with event, seats:\n"
shop = "The vase has the number C2679 and costs $874.20.\nJSON with product, price, sku:\n"

# %% [markdown]
# The way `"raw"` is *longest* to the very last byte of a run.

# %%
def compare_values():
    for text, constraint in ((party, wedding), (shop, vase)):
        for way in (False, "canonical", "raw"):
            trace = gv.record(clerk, text, constraint, temperature=0, jump_forward=way)
            print(f"{way or 'none':10}{trace.text}")


# %% [question]
gv.predict(
    "The grammar forces the same bytes each time. Can the values differ?",
    choices=["no, with neither way", "yes, but only with `raw`", "yes, with both ways"],
    answer="yes, but only with `raw`",
    reveal=[
        compare_values,
        """They can. Canonical jumps give what plain decoding gives. With `raw` the wedding has become an event called
        `141, `, and the number of the vase has lost its last digit.""",
    ],
)

# %% [markdown]
# What is forced at the start of the first text is `{"event"`, eight
# bytes, and these are the ways to write them:

# %%
gv.views.draw_spellings(gv.spellings(clerk, party, wedding))

# %% [markdown]
# The model wants `":` in one token, which goes beyond the run by a colon (the dashed arc). `"raw"` puts the row with
# the star, at a price of 20 nats. That row is called canonical because the tokenizer would cut these eight bytes so if
# nothing came after them. Of the whole text it is not, for there `":` is one token: that is why the way *canonical*
# stops before it.

# %% [markdown]
# From then on the model reads a text cut in a way that it was hardly ever taught, and its next guess is another guess.
# To the grammar nothing is wrong.

# %% [markdown]
# This is how it looked in SGLang:
#
# * #2045 (2024-11): with Outlines inside a blank in front of every colon, with XGrammar inside strings that began with
#   `>`.
# * #2025: with Outlines `"population" : 2`, where the same model without jump-forward wrote 2140000.
# * #1312: a warning of *token fusion between input and output*.

# %% [markdown]
# The first two threads show the outputs, not the cause; a cut as above could do it. The third one you can see without
# a model. A prompt ends in a blank:

# %%
for text in ("JSON with name: ", '{"name": "Ada"}', 'JSON with name: {"name": "Ada"}'):
    print([clerk.vocabulary.display(token) for token in clerk.encode(text)])

# %% [markdown]
# Cut together, the last token of the prompt is another one: the blank has gone into `␣{"`. An engine that cuts prompt
# and output anew in one piece would have to take back a token of the *prompt*; SGLang warned and asked people to remove
# the blank. Ours cuts the output alone, and jumps here all the same. The price: the model now reads `␣` and `{"`, which
# its tokenizer would have joined.

# %%
open_end = "Ada Lovelace is 36.\nJSON with name: "
only_name = gv.guide(gv.regex(r'\{"name": "[^"]{0,30}"\}'), clerk.vocabulary)
for way in (False, "canonical"):
    trace = gv.record(clerk, open_end, only_name, temperature=0, jump_forward=way)
    print(f"{way or 'none':10}passes: {trace.passes}  {trace.text}")

# %% [markdown]
# ### Healing
#
# The cure for the others is to stop early. A run ends at byte *n*. Look for the first place in it from which a legal
# token goes on *beyond* *n*. Put what stands before it, and leave the rest to the model: it may write the very same
# bytes, or the longer token.

# %%
colour = gv.guide(gv.regex(r'\{"product": "lamp", "color": "(pin|pink)"\}'), clerk.vocabulary)
lamp = "The lamp is pink and costs $12.50.\nJSON with product, color:\n"


def compare_colours():
    for way in (False, "raw", "canonical"):
        trace = gv.record(clerk, lamp, colour, temperature=0, jump_forward=way)
        print(f"{way or 'none':10}passes: {trace.passes:2}  {trace.text}")


# %% [question]
gv.predict(
    "A lamp that is pink, and a schema that knows the colours `pin` and `pink`. Which colour will `raw` write?",
    choices=["`pin`", "`pink`"],
    answer="`pin`",
    reveal=[
        compare_colours,
        """`pin` is forced: both words begin so. But `pink` is one token, and after `pin` the model has never seen a
        `k`. So it takes what is left, and the lamp is pin. Healed, the run stops before the word, and the choice
        stays whole.""",
    ],
)

# %% [markdown]
# llguidance's documentation tells the same of two keys, `orderId` and `orderName`. Of these `orderId` is one token of
# Llama 3, so a model has hardly ever seen `order` and `Id` as two; where `order` is put, it may write `orderName`:

# %%
llama = gv.Vocabulary.llama3()
either = gv.guide(gv.regex(r'\{"order(Id|Name)": [0-9]+\}'), llama)
for way in ("raw", "longest"):
    put = gv.tokens.find_jump(either, str.encode, [], [either.initial], way).tokens
    print(f"{way:9}puts", *map(llama.display, put))

# %% [markdown]
# ## Exercise 3 · Heal it ★★
#
# `tokens` is a forced run as it was spelled, a list of pieces. `legal[i]` is the set of all pieces that are legal where
# `tokens[i]` begins. How many of the tokens may be put? All before the first place *i* from which some legal piece
# begins with everything that is left of the run, and goes beyond it; all of them if there is no such place.

# %%
def heal(tokens, legal):
    # solution:
    for place in range(len(tokens)):
        left = b"".join(tokens[place:])
        if any(piece.startswith(left) and len(piece) > len(left) for piece in legal[place]):
            return place
    return len(tokens)
    # open:
    # ...  # for each place: what is left of the run?
    # end

# %%
gv.checks.heal(heal)

# %% [markdown]
# With healing, is the output the same as without jump-forward? `gv.compare_jump` decodes both ways, greedily, and says
# what differs and why.

# %%
lists = gv.guide(gv.regex(r'\["[^"]*"(, "[^"]*")*\]'), clerk.vocabulary)
things = "There are lirpi, orange, flag and stove.\nJSON list of things:\n"
for text, constraint in [(prompt, guide), (party, wedding), (things, lists)]:
    both = gv.compare_jump(clerk, text, constraint)
    why = both.cause and f", by {both.cause}"
    print(both.jumped.text, f"{both.plain.passes} passes, now {both.jumped.passes}: {both.difference}{why}", sep="\n  ")

# %% [markdown]
# Where the model spells canonically by itself, nothing changes but the passes. In the last text it did not: *lirpi* is
# no word, and it was cut in another way than the tokenizer cuts it. As soon as a run is forced after it, the word is
# cut anew: its tokens are taken back, and the quote after it, too. Each of them had cost a pass.

# %%
gv.draw_strip(both.jumped)

# %% [markdown]
# On 150 tasks like these, drawn from the script that `clerk` was trained with, 146 came out in the same tokens, and 4
# in the same text but in other tokens. Off the path that a model was trained on it is otherwise, as in the slider at
# some places: compare before you trust.

# %% [markdown]
# ## 5 · What became of it
#
# * **2024-02** SGLang: compressed finite state machines; up to twice as fast, 2.5 times the tokens a second of all
#   texts together.
# * **2024-06** MLC-LLM (pull request 2551): the same with rollback, and a last token that begins a longer one is left
#   out.
# * **2024-11** XGrammar's paper has `find_jump_forward_string`; it gives bytes, the engine has to cut them.
# * **2025-03** SGLang removes it (#4032), "to simplify the code maintenance". #1312, #2025 and #2045 came before;
#   whether they were the reason, it does not say.

# %% [markdown]
# * **vLLM** was asked for it in 2025 (#13953), and pull requests offer it (#15490, #36142); none was merged when this
#   was written.
# * **llguidance** kept it, healed. Its mask is even made of the canonical token alone, as you saw in lab 09.
# * **2026-07** XGrammar (pull request 776): jump-forward in tokens, that holds back what could join. It was open when
#   this was written.

# %% [markdown]
# Our guess why it went so slowly: on a full server it saves little (section 3), it cuts across the batch, since one
# text jumps and its neighbours do not, and every fault of it looks like a stupid model.
#
# Another way is **speculative decoding**: a guess stands if the model agrees. A forced run can be such a guess. All its
# tokens are read in one pass, and where the model would cut it otherwise the guess falls, so nothing is forced on it.

# %% [markdown]
# ## Your predictions

# %%
gv.score()

# %% [markdown]
# ## Recap
#
# * Between two decisions there is one way on. Fold it, and what is left of the machine are the decisions.
# * The grammar forces bytes. How they are cut is a choice all the same, and the model notices.
# * Jump-forward saves passes, not reading: 1 / (1 − *f*) at best, less where reading costs, and least in large batches.
# * Put the canonical spelling, and leave to the model what could still join.
# * Compare outputs with and without it before you trust it.

# %% [markdown]
# ## How the production engines do it
#
# * LMSYS, *Fast JSON Decoding for Local LLMs with Compressed Finite State Machine* (2024-02-05).
# * dottxt, *Coalescence: making LLM inference 5x faster* (2024): the many spellings of a run merged into one.
# * **llguidance**, `docs/fast_forward.md`: canonical tokens, chopped where they could join; `order` and `orderId`.
# * **XGrammar**, arXiv 2411.15100, section on jump-forward decoding; pull request 776 for tokens.
# * The threads: sgl-project/sglang #1312, #2025, #2045, #4032; vllm-project/vllm #13953, #15490; mlc-ai/mlc-llm #2551.
