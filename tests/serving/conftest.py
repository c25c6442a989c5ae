"""clerk in transformers, loaded once."""

import pytest

from guidedviz.files import shipped


@pytest.fixture(scope="session")
def write_with_transformers(clerk):
    """Generate with clerk in transformers: what it returns, and the tokens after the prompts of each row."""
    import torch
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(shipped("models/clerk/config.json").parent, dtype=torch.float32)

    def run(prompts, processor, most=60, **settings):
        rows = [clerk.encode(prompt) for prompt in prompts]
        wide = max(map(len, rows))
        padding = [[0] * (wide - len(row)) for row in rows]
        padded = list(zip(padding, rows, strict=True))
        ids = torch.tensor([before + row for before, row in padded])
        mask = torch.tensor([before + [1] * len(row) for before, row in padded])
        settings = {"do_sample": False, "max_new_tokens": most, "pad_token_id": 0} | settings
        output = network.generate(ids, attention_mask=mask, logits_processor=[processor], **settings)
        return output, [row[wide:].tolist() for row in getattr(output, "sequences", output)]

    return run
