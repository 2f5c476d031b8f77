"""How a batch fit goes about its passes."""
