"""What operators see of a server: metrics, spans, health."""
