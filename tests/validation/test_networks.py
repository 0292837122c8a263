"""Wide channels, A-MSDUs, several BSSs, and Minstrel-HT on the move, beside ns-3.44."""

import pytest
from networks import NETWORKS, Network
from networks_compared import compare


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_goodput_is_that_of_ns3(network: Network) -> None:
    apart = [found for found in compare(network) if not found.agrees]
    assert not apart, apart
