"""Configuration: files, environment variables and defaults in, the value that holds for each key out."""
