"""Answers to the exercises on turns: wrong ones, and unusual right ones."""

import numpy as np


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


CATCH = "except Exception as error"
STARTED = "(begin is not None and begin not in written)"
WRONG = {
    "budget_mask": [
        budget_by_position,
        (f" or {STARTED}", ""),
        ("< most", "<= most", "!= most"),
        (" or not mask[end]", ""),
        ("written.index(begin) + 1", "written.index(begin)"),
        ("0 if begin is None else", "len(written) if begin is None else"),
        (STARTED, "begin not in written"),
        (STARTED, "begin and begin not in written"),
        ("0 if begin is None else", "0 if not begin else"),
        ("np.arange(len(mask)) == end", "{end}"),
        ("        return mask\n    start", "        return np.ones(len(mask), bool)\n    start"),
    ],
    "turn_rule": [
        lambda choice: "thought answer",
        lambda choice: f"root ::= thought {choice}",
        ("answer ({calls})?", "answer {calls}", "answer call?", "(answer | {calls})"),
        (r'call ("\n" call)*', "call", "call+", r'call ("\n"? call)*', r'(call "\n")*'),
        ('"required": calls', '"required": f"({calls})?"'),
        ('"thought " + ', ""),
        ('"none": "answer"', '"none": ""'),
        ("rules.get(choice, choice)", "rules.get(choice, 'call')", "rules[choice]"),
    ],
    "agent": [
        agent_of_one_tool,
        ("messages = [*messages, reply.message]", "messages.append(reply.message)", "pass"),
        ("str(tools", "(tools"),
        ("return reply.text", "return reply", "return messages"),
        ("if not reply.calls:", "if reply.text:"),
        ('{"role": "tool", "content": result}', '{"role": "user", "content": result}'),
        ('f"error: {error}"', '""', 'f"Error: {error}"'),
        ("range(rounds)", "range(rounds + 1)"),
        (CATCH, "except RuntimeError as error", "except KeyError as error"),
        (CATCH, "except BaseException as error"),
        ("(**call.arguments)", "(*call.arguments.values())"),
    ],
}
WRONG["repair"] = [
    lambda ask, complain, question, most: (ask([{"role": "user", "content": question}]), 1),
    ('{"role": "assistant", "content": text}, ', ""),
    ('"user", "content": message', '"tool", "content": message', '"user", "content": question'),
    ("messages += [", "messages = messages[:1] + ["),
    ("range(1, most + 1)", "range(most)", "range(1, most)", "range(1, most + 2)"),
    ('message == ""', "text", 'text == ""'),
    ("return text, calls", "return text", "return text, calls - 1"),
    ("return None, most", "return None"),
]
UNUSUAL = {
    "budget_mask": [("< most", "< max(most, 0)")],
    "turn_rule": [
        rules_of_strings,
        rules_of_two_tools,
        ("answer ({calls})?", "(answer | answer {calls})"),
        ('"thought "', '" thought  "'),
    ],
    "repair": [('message == ""', "not message"), ("messages += [", "messages = messages + [")],
    "agent": [agent_by_recursion, ('f"error: {error}"', 'f"error: {error!r}"'), ("range(rounds)", "[None] * rounds")],
}
