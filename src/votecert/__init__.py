"""Risk certificates for voting classifiers."""
