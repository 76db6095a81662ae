"""Long tests beside the quick ones of `tests/accountant/test_calibration.py`."""

import math

import pytest

from skdp.accountant import calibrate, get_epsilon
from tests.accountant.test_calibration import _beside

# (adjacency, noise multiplier, sampling rate, steps, epsilon at delta = 1e-5), from dp-accounting
# 0.6.0 alone: PrivacyLossDistribution.from_gaussian_mechanism on a grid of range / 1e5,
# self-composed, and extrapolated from that grid step and its double (they differ by < 0.3 %).
REFERENCE = [
    ("zero_out", 1.945, 0.0001, 100, 0.000998547),
    ("zero_out", 18.1, 0.01, 1, 0.00099856),
    ("zero_out", 172.7, 0.01, 100, 0.000998659),
    ("zero_out", 1726, 0.01, 10000, 0.00099881),
    ("zero_out", 863.5, 0.5, 1, 0.000998676),
    ("zero_out", 0.3923, 0.0001, 1, 0.0299387),
    ("zero_out", 0.6228, 0.0001, 100, 0.0299504),
    ("zero_out", 1.946, 0.01, 1, 0.0299917),
    ("zero_out", 9.334, 0.01, 100, 0.029965),
    ("zero_out", 46.54, 0.5, 1, 0.029964),
    ("zero_out", 458.7, 0.5, 100, 0.0299644),
    ("zero_out", 0.2861, 0.0001, 1, 0.996718),
    ("zero_out", 0.4138, 0.0001, 100, 0.998785),
    ("zero_out", 0.5112, 0.0001, 10000, 0.997835),
    ("zero_out", 0.674, 0.01, 1, 0.998716),
    ("zero_out", 0.9023, 0.01, 100, 0.998975),
    ("zero_out", 3.816, 0.01, 10000, 0.999054),
    ("zero_out", 2.498, 0.5, 1, 0.998375),
    ("zero_out", 18.76, 0.5, 100, 0.99917),
    ("zero_out", 186.7, 0.5, 10000, 0.999065),
    ("zero_out", 590.5, 0.5, 100000, 0.998828),
    ("zero_out", 0.1288, 0.0001, 1, 29.9573),
    ("zero_out", 0.1608, 0.0001, 100, 29.9857),
    ("zero_out", 0.2323, 0.0001, 10000, 29.9881),
    ("zero_out", 0.2842, 0.0001, 100000, 29.9833),
    ("zero_out", 0.1703, 0.01, 1, 29.9803),
    ("zero_out", 0.2878, 0.01, 100, 29.9529),
    ("zero_out", 0.5549, 0.01, 10000, 29.9496),
    ("zero_out", 0.9305, 0.01, 100000, 29.9514),
    ("zero_out", 0.2077, 0.5, 1, 29.9527),
    ("zero_out", 1.2, 0.5, 100, 29.9516),
    ("zero_out", 10.77, 0.5, 10000, 29.9311),
    ("zero_out", 33.99, 0.5, 100000, 29.9586),
    ("zero_out", 0.0229, 0.0001, 1, 999.22),
    ("zero_out", 0.03191, 0.0001, 100, 999.841),
    ("zero_out", 0.05987, 0.0001, 10000, 999.648),
    ("zero_out", 0.1034, 0.0001, 100000, 998.732),
    ("zero_out", 0.02391, 0.01, 1, 998.277),
    ("zero_out", 0.06051, 0.01, 100, 997.429),
    ("zero_out", 0.2096, 0.01, 10000, 995.066),
    ("zero_out", 0.3528, 0.01, 100000, 994.836),
    ("zero_out", 0.02451, 0.5, 1, 998.245),
    ("zero_out", 0.1874, 0.5, 100, 996.118),
    ("zero_out", 1.283, 0.5, 10000, 996.463),
    ("zero_out", 3.91, 0.5, 100000, 998.001),
    ("replace_one", 34.55, 0.01, 1, 0.000998005),
    ("replace_one", 3452, 0.01, 10000, 0.000998798),
    ("replace_one", 1727, 0.5, 1, 0.000998078),
    ("replace_one", 0.2861, 0.0001, 1, 0.996818),
    ("replace_one", 0.5119, 0.0001, 10000, 0.9976),
    ("replace_one", 0.6755, 0.01, 1, 0.999519),
    ("replace_one", 3.705, 0.5, 1, 0.998722),
    ("replace_one", 373.6, 0.5, 10000, 0.998422),
    ("replace_one", 0.0229, 0.0001, 1, 999.22),
    ("replace_one", 0.0599, 0.0001, 10000, 999.594),
    ("replace_one", 0.02391, 0.01, 1, 998.287),
    ("replace_one", 0.2155, 0.01, 10000, 998.944),
    ("replace_one", 0.0245, 0.5, 1, 999.686),
    ("replace_one", 2.409, 0.5, 10000, 998.453),
]


@pytest.mark.parametrize(("adjacency", "noise", "rate", "n_steps", "epsilon"), REFERENCE)
def test_against_dp_accounting(adjacency, noise, rate, n_steps, epsilon):
    design = {"sampling_rate": rate, "n_steps": n_steps, "adjacency": adjacency}
    ours = get_epsilon(noise, 1e-5, **design)
    assert (1 - 1e-3) * epsilon <= ours <= (1 + 5e-3) * epsilon
    found = calibrate(epsilon, 1e-5, **design)
    assert get_epsilon(found, 1e-5, **design) <= epsilon
    assert (1 - 1e-3) * noise <= found <= 1.01 * noise


# What learns a ball takes shares like these of the squared mu, in one or several releases.
BESIDE = (0.05, 0.3)


# Each share with each adjacency, and with small and large budgets, but not in all combinations.
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(
    ("epsilon", "delta", "rate", "n_steps", "share"),
    [
        (0.1, 1e-5, 0.02, 500, BESIDE[0]),
        (1.0, 1e-5, 0.01, 1000, BESIDE[1]),
        (1.0, 1e-3, 0.2, 40, BESIDE[1]),
        (8.0, 1e-6, 0.05, 200, BESIDE[0]),
    ],
)
def test_steps_beside_other_releases_agree_with_dp_accounting(
    epsilon, delta, rate, n_steps, share, adjacency
):
    from dp_accounting import NeighboringRelation, dp_event
    from dp_accounting.pld import pld_privacy_accountant

    beside, design = _beside(epsilon, delta, share), {"sampling_rate": rate, "n_steps": n_steps}
    noise = calibrate(epsilon, delta, adjacency=adjacency, beside=beside, **design)
    mu = math.sqrt(share) / calibrate(epsilon, delta, pairwise=True)
    # Theirs doubles all releases of a pair, and the others' distance is one of pairs.
    doubled = 2.0 if adjacency == "replace_one" else 1.0

    def theirs(noise):
        relation = "REPLACE_ONE" if doubled == 2.0 else "ADD_OR_REMOVE_ONE"
        accountant = pld_privacy_accountant.PLDAccountant(NeighboringRelation[relation])
        step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise))
        accountant.compose(dp_event.SelfComposedDpEvent(step, n_steps))
        accountant.compose(dp_event.GaussianDpEvent(doubled / mu))
        return accountant.get_epsilon(delta)

    assert theirs(noise) <= epsilon * 1.002
    # A little less noise would be too little.
    assert theirs(0.985 * noise) > epsilon
