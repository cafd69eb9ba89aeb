"""Tools that build the documentation and measure the package, which does not contain them."""
