"""A conversation with scout in a simulated tab: print its results, its answer, and what an endless tool gives."""

import json


def main():
    """Print them as JSON."""
    from run import simulate  # beside this script; who collects the tests imports it from elsewhere

    simulate()
    import guidedviz as gv
    from guidedviz.checks import guard

    def lookup(table: str, key: str) -> int:
        """Looks up a value in a table."""
        return 45

    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    def endless(table: str, key: str) -> int:
        """Looks up a value in a table."""
        while True:
            pass

    endless.__name__ = "lookup"
    guard.CPU_SECONDS = 0.1  # so that it is stopped soon
    scout = gv.load_model("scout")
    question = "What is the price of the lamp plus 30?"
    found = [*gv.converse(scout, question, [lookup, add], temperature=0)]
    results = [one.text for one in found if isinstance(one, gv.decoding.ToolResult)]
    _, stopped, *_ = gv.converse(scout, question, [endless, add], temperature=0, rounds=1)
    print(json.dumps([results, found[-1].text, stopped.text]))


if __name__ == "__main__":
    main()
