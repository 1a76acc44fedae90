"""Who may ask what: grants of tokens, their quotas, and the audit log."""
