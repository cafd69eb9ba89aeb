"""LLMEval-Fair: a private bank of questions, sessions that ask unseen ones, and their server."""
