"""What agents asked, got, read and edited, recorded here by consent, in; rows to learn from out."""
