"""Samples of a log read again, one by one: what was judged, and every word that was said about it.

A ranking needs little of a log, and 14,000 items with all of their texts are more than a machine
holds. What shows the texts takes those of an item when it comes to it.
"""

from collections.abc import Sequence
from functools import cached_property
from zipfile import ZipFile

from pydantic import ValidationError

from tiebreak.candidates.inspect_files import own_file
from tiebreak.ranking_logs.log import UnreadableLogError
from tiebreak.ranking_logs.samples import Sample, read_samples, with_store


class SamplesAgain:
    """The samples of one run; its files are open until `close`."""

    def __init__(self, files: Sequence[str]) -> None:
        """`files` are those of a `RankingLog`.

        Raises:
            OSError: one of them is gone.
        """
        self._files = files
        zips = {file: own for file in files if (own := own_file(file)) and own.endswith(".eval")}
        self._logs = {file: ZipFile(own) for file, own in zips.items()}
        self._where = {name: file for file, log in self._logs.items() for name in log.namelist()}

    def close(self) -> None:
        """Close the files."""
        for log in self._logs.values():
            log.close()

    def file(self, id: str, epoch: int) -> str:
        """The file that holds a sample; the first of several of which that is not known."""
        return self._where.get(f"samples/{id}_epoch_{epoch}.json", self._files[0])

    def sample(self, id: str, epoch: int) -> Sample:
        """A sample with all that was to be judged, in its metadata.

        Raises:
            UnreadableLogError: it is no longer there.
        """
        # As Inspect names them. What is not there by this name, or in this form, Inspect may know.
        name = f"samples/{id}_epoch_{epoch}.json"
        if file := self._where.get(name):
            try:
                text = self._logs[file].read(name)
                return with_store(file, Sample.model_validate_json(text))
            except ValidationError:
                pass
        try:
            return self._whole[id, epoch]
        except KeyError:
            files = ", ".join(self._files)
            changed = f"{files}: sample {id} is gone, so the log has changed since it was read"
            raise UnreadableLogError(f"{changed}. Run this again") from None

    @cached_property
    def _whole(self) -> dict[tuple[str, int], Sample]:
        """All samples: .json logs and remote ones are read once, not once for every sample."""
        read = (read_samples(file) for file in self._files)
        return {(str(one.id), one.epoch): one for samples in read for one in samples}
