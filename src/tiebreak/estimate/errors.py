"""What can be wrong with what an estimate is asked for."""


class EstimateError(ValueError):
    """Base of all errors here; the message says what to do about it."""


class DryJudgeError(EstimateError):
    """No reply can be made up for a question; the message says why."""


class ExperienceError(EstimateError):
    """A log says nothing about a judge."""


class JudgesError(EstimateError):
    """Nobody is named whom a protocol asks, or somebody whom none asks."""


class PriceError(EstimateError):
    """A price cannot be read; the message says which and what it must look like."""


class LabelError(EstimateError):
    """A list of protocols cannot be read; the message says which part and why."""
