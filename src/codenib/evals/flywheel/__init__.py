"""`codenib flywheel`: collect, evaluate, export, train, replay, report; round after round."""
