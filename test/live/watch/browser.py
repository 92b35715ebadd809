# SPDX-License-Identifier: MIT
"""A real browser with a page open."""

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="no python3-selenium: contribs/install-deps --watch")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402


class Browser:
    """Chromium."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1400,1100"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def find(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def run(self, script):
        return self.driver.execute_script(script)

    def media(self, media="", scheme="light"):
        """Look at pages as on a "screen" or in "print", of a system that is light or dark."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def complaints(self):
        return self.driver.get_log("browser")
