"""From a JSON Schema to a machine; `json_schema` names the files in the order in which a schema passes through them.

`xml_styles` and `xml_arguments` write the values of a schema as the arguments of a tool call in XML.
"""
