# SPDX-License-Identifier: MIT
"""The faults are met by a controller that resizes jobs on its own."""

import pytest

ADAPTIVE = {"Policy": "lina-default"}


@pytest.fixture
def adaptive(elastic):
    """adaptive(Key=value...): the policy under test, with settings for this test only."""
    def change(**settings):
        elastic(**{**ADAPTIVE, **settings})
    return change


@pytest.fixture(autouse=True)
def resizing(request):
    if "cluster" in request.fixturenames:
        request.getfixturevalue("adaptive")()
