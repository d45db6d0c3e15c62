"""``python -m votecert``: the command line."""

import sys

from votecert.cli import main

sys.exit(main())
