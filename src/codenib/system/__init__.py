"""What differs between operating systems, each with a POSIX and a Windows side; imports nothing of ours."""
