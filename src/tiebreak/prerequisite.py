"""The error that Inspect prints as one plain message, without a traceback.

Inspect's own evals raise it for a missing key or a wrong argument, but it is not part of the public
namespace: this is the only private name of Inspect that is used, and the only place that names it.
"""

from inspect_ai._util.error import PrerequisiteError

__all__ = ["PrerequisiteError"]
