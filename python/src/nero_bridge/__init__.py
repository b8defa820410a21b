"""The old name of nero.bridge. It goes with the release after this one."""

from nero.bridge import *  # noqa: F403
from nero.bridge import __all__ as __all__
