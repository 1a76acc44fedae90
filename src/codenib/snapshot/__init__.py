"""Repositories in, snapshots out: of commits, dirty worktrees, plain folders; their deltas and bytes."""
