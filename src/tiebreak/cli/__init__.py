"""The command line: a module per verb, each a few lines over the API; `verbs` lists them."""
