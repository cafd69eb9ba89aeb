"""What builds the documentation, beside the package."""
