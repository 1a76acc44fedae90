"""The page in the browser: one repository or more in, an address out. Read only, without other hosts."""
