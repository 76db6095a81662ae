"""DP-SGD of Opacus: linear models with Poisson batches, calibrated by its own accountant."""

from functools import lru_cache

import numpy as np
import torch
from _weights import run
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
from torch.utils.data import DataLoader, Dataset

# Of epsilon, where Opacus allows itself 0.01, a tenth of an epsilon of 0.1.
TOLERANCE = 1e-2


class Rows(Dataset):
    """Rows that are gathered at once, which is faster than one by one and draws the same."""

    def __init__(self, *parts):
        self.parts = parts

    def __len__(self):
        return len(self.parts[0])

    def __getitem__(self, row):
        return tuple(part[row] for part in self.parts)

    __getitems__ = __getitem__


@lru_cache
def calibrate(epsilon, delta, sampling_rate, passes):
    """Return the noise multiplier of Opacus's own accountant."""
    return get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=delta,
        sample_rate=sampling_rate,
        epochs=passes,
        accountant="prv",
        epsilon_tolerance=TOLERANCE * epsilon,
    )


def fit(X, y, epsilon, delta, row_norm, seed, batch_size, passes, clip, size):
    """Fit logistic, multinomial (labels of integers) or squared loss.

    `clip` is over `row_norm`, and `size` is a step's length times its square.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    is_multiclass = y.dtype.kind == "i"
    is_binary = set(np.unique(y)) == {-1.0, 1.0}
    targets = torch.tensor(y if is_multiclass else y[:, np.newaxis])
    if is_binary:
        targets = (targets + 1.0) / 2.0
    if not is_multiclass:
        targets = targets.float()
    data = Rows(torch.tensor(X, dtype=torch.float32), targets)
    loader = DataLoader(data, batch_size=int(batch_size), collate_fn=tuple)
    model = torch.nn.Linear(X.shape[1], int(y.max()) + 1 if is_multiclass else 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=size / row_norm**2),
        data_loader=loader,
        noise_multiplier=calibrate(epsilon, delta, 1.0 / len(loader), passes),
        max_grad_norm=clip * row_norm,
    )
    criterion = torch.nn.MSELoss()
    if is_multiclass:
        criterion = torch.nn.CrossEntropyLoss()
    elif is_binary:
        criterion = torch.nn.BCEWithLogitsLoss()
    for _ in range(passes):
        for x, target in loader:
            optimizer.zero_grad()
            criterion(model(x), target).backward()
            optimizer.step()
    weight, bias = (part.detach().numpy() for part in model.parameters())
    return weight.T, bias


if __name__ == "__main__":
    run(fit)
