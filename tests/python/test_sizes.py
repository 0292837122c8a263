"""Memory and time follow what is simulated, not the sizes that a file names."""

import subprocess
import sys

import pytest

HEAD = """
duration = "20 ms"
[bss]
standard = "802.11b"
[[station]]
count = 3
[[flow]]
"""

# The pieces of 64 KB alone would take hundreds of GB for 1e15 B.
RUN = """
import resource, sys
import lasthop
from lasthop.study.progress import Progress
from lasthop.study.simulation import simulate

scenario = lasthop.load(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
simulate(scenario, [1], 1, None, Progress.silent())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(
    "flow",
    [
        'size = "100 GB"',
        'size = "2147483647 MB"',
        'size = "9e18 B"\ndirection = "down"',
        'traffic = { kind = "web", request = "1e15 B" }\ndirection = "down"',
        'traffic = { kind = "video", request = "1e15 B" }\ndirection = "down"',
        'traffic = "poisson"\nsize = "9e18 B"\nrate = "1 Mbit/s"',
    ],
)
def test_memory_does_not_grow_with_a_transfer(tmp_path, flow):
    file = tmp_path / "large.toml"
    file.write_text(HEAD + flow + "\n")
    done = subprocess.run([sys.executable, "-c", RUN, file], capture_output=True, text=True, timeout=120, check=True)
    assert int(done.stdout) < 20_000, "kilobytes more than before the run"
