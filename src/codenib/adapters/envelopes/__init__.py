"""The JSON of every command and tool: answers in, one envelope out, published as a JSON schema."""
