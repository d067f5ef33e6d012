"""Waiting for states that report no event. The only place in these tests that sleeps."""

import time

TRIES = 100
PAUSE_SECONDS = 0.1


def eventually(find, description):
    """Calls `find` until it returns something, which is returned; fails after ten seconds without."""
    for _ in range(TRIES):
        found = find()
        if found:
            return found
        time.sleep(PAUSE_SECONDS)
    raise AssertionError(description)


def wait_for_retry(seconds):
    """Waits as long as the server demands with `retryAfter`."""
    time.sleep(seconds)
