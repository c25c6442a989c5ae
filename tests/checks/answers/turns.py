"""Answers to the exercises on turns: wrong ones, and unusual right ones."""

import numpy as np


def counted_from_the_end(mask, written, begin, end, most):
    """Reads the turn backwards until the begin of the thought."""
    count = 0
    for token in reversed(written):
        if token == end:
            return mask
        if token == begin:
            break
        count += 1
    else:
        if begin is not None:
            return mask
    full = count >= most and mask[end]
    return [token == end for token in range(len(mask))] if full else mask


def budget_by_position(mask, written, begin, end, most):
    """Counts the whole turn."""
    return np.arange(len(mask)) == end if len(written) > most else mask


def rules_of_strings(choice):
    if choice == "auto":
        return r'thought answer | thought answer call ("\n" call)*'
    if choice == "required":
        return 'thought calls\ncalls ::= call | call "\\n" calls'
    return f"(thought {'answer' if choice == 'none' else choice})"


def rules_of_two_tools(choice):
    """A table of all choices, which knows the tools of the lab and no others."""
    calls = r'call ("\n" call)*'
    rest = {"auto": f"answer ({calls})?", "required": calls, "none": "answer", "find": "find", "plus": "plus"}
    return f"thought {rest[choice]}"


def agent_by_recursion(ask, tools, messages, rounds):
    if not rounds:
        return None
    reply = ask(messages)
    results = []
    for call in reply.calls:
        try:
            said = f"{tools[call.name](**call.arguments)}"
        except Exception as error:
            said = f"error ({type(error).__name__})"
        results.append({"role": "tool", "content": said})
    if not results:
        return reply.text
    return agent_by_recursion(ask, tools, (*messages, reply.message, *results), rounds - 1)


def agent_of_one_tool(ask, tools, messages, rounds):
    """Runs the first call of a turn only."""
    for _ in range(rounds):
        reply = ask(messages)
        if not reply.calls:
            return reply.text
        call = reply.calls[0]
        try:
            result = str(tools[call.name](**call.arguments))
        except Exception as error:
            result = f"error: {error}"
        messages = [*messages, reply.message, {"role": "tool", "content": result}]
    return None


def repair_by_recursion(ask, complain, question, most):
    def call(messages, calls):
        if calls > most:
            return None, most
        text = ask(messages)
        message = complain(text)
        if not message:
            return [text, calls]
        both = {"role": "assistant", "content": text}, {"role": "user", "content": message}
        return call((*messages, *both), calls + 1)

    return call(({"role": "user", "content": question},), 1)


CATCH = "except Exception as error"
STARTED = "(begin is not None and begin not in written)"
TOOK = 'messages = [*messages, {"role": "tool", "content": result}]'
BOTH = '{"role": "assistant", "content": text}, {"role": "user", "content": message}'
BOTH_SWAPPED = '{"role": "user", "content": message}, {"role": "assistant", "content": text}'
WRONG = {
    "budget_mask": [
        budget_by_position,
        ("if end in written or ", "if "),
        (f" or {STARTED}", ""),
        ("< most", "<= most", "!= most"),
        (" or not mask[end]", ""),
        ("written.index(begin) + 1", "written.index(begin)", "0"),
        ("0 if begin is None else", "len(written) if begin is None else"),
        (STARTED, "begin not in written"),
        (STARTED, "begin and begin not in written"),
        ("0 if begin is None else", "0 if not begin else"),
        ("np.arange(len(mask)) == end", "np.arange(len(mask)) != end", "mask & (np.arange(len(mask)) != end)"),
        ("np.arange(len(mask)) == end", "{end}"),
        ("        return mask\n    start", "        return np.ones(len(mask), bool)\n    start"),
    ],
    "turn_rule": [
        lambda choice: "thought answer",
        lambda choice: f"root ::= thought {choice}",
        ("answer ({calls})?", "answer {calls}", "answer call?", "(answer | {calls})", "answer?", "answer (call*)"),
        (r'call ("\n" call)*', "call", "call+", "call*", r'call ("\n"? call)*', r'call ("\n" call)?'),
        (r'call ("\n" call)*', r'call (call "\n")*', r'(call "\n")*', r'call "\n" call'),
        ('"none": "answer"', '"none": ""', '"none": "answer call?"'),
        ('"required": calls', '"required": "answer " + calls', '"required": f"({calls})?"'),
        ('"thought " + ', '"thought? " + ', ""),
        ("rules.get(choice, choice)", "rules.get(choice, 'call')", "rules.get(choice, calls)", "rules[choice]"),
        lambda choice: f'thought {choice} ("\\n" {choice})*' if choice in ("find", "plus") else "thought answer",
    ],
    "agent": [
        agent_of_one_tool,
        ('result = f"error: {error}"', 'return f"error: {error}"'),  # it ends with the error of a tool
        lambda ask, tools, messages, rounds: ask(messages).text,
        ("messages = [*messages, reply.message]", "messages.append(reply.message)", "pass"),
        (TOOK, 'messages = [*messages, {"role": "user", "content": result}]', "pass"),
        (TOOK, 'messages = [{"role": "tool", "content": result}, *messages]'),
        (TOOK, 'messages = [{"role": "tool", "content": result}]'),
        ("str(tools", "(tools", "__import__('json').dumps(tools"),
        ("return reply.text", "return reply", "return messages"),
        ("if not reply.calls:", "if reply.text:"),
        ("range(rounds)", "range(rounds + 1)", "range(1)", "range(8)"),
        (CATCH, "except RuntimeError as error", "except KeyError as error", "except (KeyError, TypeError) as error"),
        (CATCH, "except BaseException as error"),
        ('f"error: {error}"', '""', "str(error)", "repr(error)", 'f"Error: {error}"'),
        ("(**call.arguments)", "(*call.arguments)", "(call.arguments)", "(*call.arguments.values())"),
    ],
}
WRONG["repair"] = [
    lambda ask, complain, question, most: (ask([{"role": "user", "content": question}]), 1),
    ('{"role": "assistant", "content": text}, ', ""),
    (', {"role": "user", "content": message}', ""),
    ('"assistant", "content": text', '"user", "content": text', '"assistant", "content": message'),
    ('"user", "content": message', '"tool", "content": message', '"user", "content": question'),
    ("messages += [", "messages = [", "messages = messages[:1] + ["),
    (BOTH, BOTH_SWAPPED),
    ("range(1, most + 1)", "range(most)", "range(1, most)", "range(1, most + 2)", "range(1, 3)"),
    ('message == ""', "text", 'message != ""', "message is None", 'text == ""'),
    ("return text, calls", "return text", "return calls, text", "return text, calls - 1", "return messages, calls"),
    ("return None, most", "return text, most", "return None", "return None, calls + 1"),
    ("message = complain(text)", "message = complain(question)", "message = complain(text) if calls == 1 else message"),
]
UNUSUAL = {
    "budget_mask": [counted_from_the_end, ("< most", "< max(most, 0)")],
    "turn_rule": [
        rules_of_strings,
        rules_of_two_tools,
        ("answer ({calls})?", "(answer | answer {calls})"),
        ('"thought "', '" thought  "'),
    ],
    "repair": [repair_by_recursion, ('message == ""', "not message"), ("messages += [", "messages = messages + [")],
    "agent": [agent_by_recursion, ('f"error: {error}"', 'f"error: {error!r}"'), ("range(rounds)", "[None] * rounds")],
}
