"""Learning weights: whatever the search does, the certificate holds."""
