"""`python -m model_check.live.fetch_kafka [RELEASE...]`: put releases of Kafka into the cache, ready to be run.

Without a release, the one that the tests run. Exit codes as everywhere: 0, 2 for a release that is not known, 4 where
one cannot be fetched.
"""

import sys
from collections.abc import Sequence
from typing import Final

from model_check.live.kafka_jars import is_cached, jars_of_release
from model_check.verdicts.verdict import BAD_USAGE, EXIT_CODES, Verdict
from spec.errors import BadInput, EnvironmentFailure

TESTED: Final = "0.10.2.2"
"""The release that the tests run."""


def main(releases: Sequence[str]) -> int:
    """Fetch what is not there yet, and say where it is."""
    for release in releases or [TESTED]:
        try:
            had = is_cached(release)
            jars = jars_of_release(release)
        except (BadInput, EnvironmentFailure) as error:
            print(f"kafka: {error}", file=sys.stderr)  # noqa: T201 - a program of its own
            return BAD_USAGE if isinstance(error, BadInput) else EXIT_CODES[Verdict.ERROR]
        print(f"Kafka {release} {'is' if had else 'is now'} in {jars.folder}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
