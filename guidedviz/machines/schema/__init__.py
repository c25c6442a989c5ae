"""From a JSON Schema to a machine; `json_schema` says which file asks which.

`xml_styles` and `xml_arguments` write the values of a schema as the arguments of a tool call in XML.
"""
