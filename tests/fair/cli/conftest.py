"""What tests of the wing's verbs share with those of all others."""

from tests.cli.conftest import away_from_banks as away_from_banks
from tests.cli.conftest import handed as handed
from tests.cli.conftest import no_bank as no_bank
