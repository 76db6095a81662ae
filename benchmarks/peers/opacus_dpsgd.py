"""DP-SGD of Opacus: logistic regression with Poisson batches, on one thread of the processor.

The noise multiplier is a constant: it doesn't change the time, and calibration is left out.
"""

import warnings

import torch
from _peer import run
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

SIGMA = 1.0
CLIPPING = 1.0
STEP_SIZE = 1.0


def prepare(X, y, batch_size, passes):
    torch.set_num_threads(1)
    # It warns that its generator isn't cryptographic, and of what PyTorch's hooks may miss.
    warnings.simplefilter("ignore")
    targets = torch.tensor(y, dtype=torch.float32)[:, None]
    data = TensorDataset(torch.tensor(X, dtype=torch.float32), targets)

    def fit():
        model = torch.nn.Linear(X.shape[1], 1)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=STEP_SIZE),
            data_loader=DataLoader(data, batch_size=batch_size),
            noise_multiplier=SIGMA,
            max_grad_norm=CLIPPING,
            poisson_sampling=True,
        )
        criterion = torch.nn.BCEWithLogitsLoss()
        for _ in range(passes):
            for x, target in loader:
                optimizer.zero_grad()
                criterion(model(x), target).backward()
                optimizer.step()

    return fit


if __name__ == "__main__":
    run(prepare, ["opacus", "torch", "numpy"])
