# SPDX-License-Identifier: MIT
"""selastic serve of a private cluster, as an unprivileged user where there is another one.

What a site has besides (Prometheus, a browser) comes from Debian's packages: contribs/install-deps --watch.
"""

import pytest
from watching import Served


@pytest.fixture
def serve(cluster):
    """serve(option...): a Served, which ends with the test."""
    if not (cluster.tools / "selastic-serve").exists():
        pytest.skip("built without libmicrohttpd")
    started = []

    def start(*options, **settings):
        started.append(Served(cluster, *options, **settings))
        return started[-1]

    yield start
    for served in started:
        served.stop()
