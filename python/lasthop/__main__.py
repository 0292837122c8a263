"""`python -m lasthop` is `lasthop`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
