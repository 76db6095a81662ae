"""Transformers that are fitted to partitions: what they learn is what they learn in memory."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.array
import dask.dataframe

from skdp.dask import fit, transform
from skdp.ledger import PrivacyLedger
from skdp.preprocessing import (
    BoundsScaler,
    DPNormClipper,
    DPQuantileClipper,
    DPSimpleImputer,
    DPStandardScaler,
)
from tests.door import blocks_module as _blocks, null_records
from tests.statistical._transcripts import recorded_releases

N, D, SIZE = 3000, 3, 700
KINDS = {
    "scaler": DPStandardScaler(feature_bounds=(-50, 50), random_state=0),
    "pairs": DPStandardScaler(feature_bounds=(-9, 9), adjacency="replace_one", random_state=0),
    "quantiles": DPQuantileClipper(feature_bounds=(-50, 50), random_state=0),
    "quantiles, log": DPQuantileClipper(feature_bounds=(0, 1e4), scale="log", random_state=0),
    "norms": DPNormClipper(random_state=0),
}


@pytest.fixture(scope="module")
def X():
    generator = np.random.default_rng(3)
    return generator.normal(size=(N, D)) * [1.0, 5.0, 0.1] + [3.0, 0.0, 1.0]


def in_parts(X):
    return dask.array.from_array(X, chunks=(SIZE, -1))


def learnt(fitted):
    found = [*fitted.feature_bounds_, fitted.norm_bound_]
    if hasattr(fitted, "mean_"):
        found += [fitted.mean_, fitted.scale_]
    return np.concatenate([np.ravel(value) for value in found])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_give_the_fit_of_one_machine_to_the_last_bit(kind, dtype, X, monkeypatch):
    # Several blocks in a part.
    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", 0)
    X, transformer = X.astype(dtype), KINDS[kind]
    with recorded_releases() as expected:
        of_memory = learnt(transformer.fit(X))
    report = transformer.privacy_report_
    with recorded_releases() as found:
        assert fit(transformer, in_parts(X)) is transformer
    np.testing.assert_array_equal(learnt(transformer), of_memory)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
    of_parts = transformer.privacy_report_
    assert (of_parts.events, of_parts.unit) == (report.events, report.unit)
    assert set(report.not_covered) < set(of_parts.not_covered)
    assert any("partitions" in stated for stated in of_parts.assumed_public)
    mapped = transform(transformer, in_parts(X)).compute()
    np.testing.assert_array_equal(mapped, transformer.transform(X))


@pytest.mark.long
def test_frames_have_names(X):
    frame = pd.DataFrame(X, columns=list("abc"))
    parts = dask.dataframe.from_pandas(frame, npartitions=4)
    scaler = fit(DPStandardScaler(random_state=0), parts, compute_chunk_sizes=True)
    assert scaler.feature_names_in_.tolist() == list("abc")
    np.testing.assert_array_equal(learnt(scaler), learnt(scaler.fit(frame)))
    fit(scaler, in_parts(X))
    assert not hasattr(scaler, "feature_names_in_")


@pytest.mark.parametrize("kind", KINDS)
def test_null_records_are_in_no_sum(kind, X):
    null, transformer = [3, 699, 700, -1], KINDS[kind]
    changed = X.copy()
    changed[null] = 1e6
    with null_records(null) as asked:
        expected = learnt(transformer.fit(X))
        found = learnt(fit(transformer, in_parts(changed)))
    assert asked.consulted
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_what_is_refused_is_not_charged(entry, X, tmp_path):
    ledger = PrivacyLedger(tmp_path / "one.db", epsilon=9.0, delta=1e-2)
    X = X.copy()
    X[5, 1] = entry
    scaler = DPStandardScaler(ledger=ledger)
    with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
        fit(scaler, in_parts(X))
    X[5, 1] = 0.0
    with pytest.raises(ValueError, match="dense data is required"):
        fit(scaler, in_parts(X).map_blocks(csr_array))
    with pytest.raises(TypeError, match="X must be a Dask"):
        fit(scaler, X)
    for other in (BoundsScaler(), DPSimpleImputer()):
        with pytest.raises(TypeError, match="transformer must be a DPStandardScaler"):
            fit(other, in_parts(X))
    with pytest.raises(ValueError, match="without noise"):
        fit(DPStandardScaler(epsilon=float("inf")), in_parts(X))
    with pytest.raises(ValueError, match="'clip' parameter"):
        fit(DPStandardScaler(clip=-1.0), in_parts(X))
    assert len(ledger.to_frame()) == 0
    fit(scaler, in_parts(X))
    assert len(ledger.to_frame()) == 1
