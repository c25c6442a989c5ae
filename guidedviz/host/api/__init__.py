"""The API that clients of OpenAI speak: what a body asks for, how it is decoded, and the forms of its answers.

The way of a request: `fields` → `constraint`, `tool_fields` → `request` → `plan` (a prompt and a guide) → `answer`
(its steps; `certain` says what of their text is) → `forms`, `response_forms` (the JSON of answers and chunks). `routes`
has the handlers, and `runs` keeps what each answer did.
"""
