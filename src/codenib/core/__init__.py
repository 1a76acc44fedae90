"""The vocabulary every stage speaks: frozen values, protocols, one error tree. No I/O."""
