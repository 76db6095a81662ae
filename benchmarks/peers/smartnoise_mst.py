"""Synthetic rows by MST of smartnoise-synth.

    python peers/smartnoise_mst.py table.npz rows.npz

The table holds whole numbers `codes` (n, d) from 0, the `sizes` of their columns, epsilon, delta
and a seed, which its noise doesn't heed. The rows are `default`, as it draws them by default, and
`independent`.
"""

import sys
from types import SimpleNamespace

import numpy as np
from snsynth.mst.mst import MSTSynthesizer
from snsynth.transform import LabelTransformer, TableTransformer


def synthesize(codes, sizes, epsilon, delta, seed):
    """Return rows of one release, drawn in both ways."""
    np.random.seed(seed)
    every = np.minimum(np.arange(max(sizes))[:, np.newaxis], sizes - 1)
    # All codes are public: what a column could hold, and not what it holds.
    transformer = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
    transformer.fit(every.tolist())
    model = MSTSynthesizer(epsilon=epsilon, delta=delta)
    model.fit(codes.tolist(), transformer=transformer)
    released, drawn = model.synthesizer, {}
    for name, method in (("default", "round"), ("independent", "sample")):
        model.synthesizer = SimpleNamespace(
            synthetic_data=lambda rows, method=method: released.synthetic_data(rows, method)
        )
        drawn[name] = np.array(model.sample(len(codes)), dtype=int)
    return drawn


if __name__ == "__main__":
    with np.load(sys.argv[1]) as file:
        told = [file[name] for name in ("codes", "sizes")]
        told += [float(file["epsilon"]), float(file["delta"]), int(file["seed"])]
    np.savez(sys.argv[2], **synthesize(*told))
