"""Other tools behind one small seam: a checkout and a question in, ranked blocks out. One module per tool."""
