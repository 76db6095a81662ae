"""What an estimator hands to its plan, so that its fit is charged before its noise is drawn."""

import copy
import math
import os
from numbers import Integral, Real
from typing import NamedTuple

from skdp.exceptions import LedgerError

_VARIABLE = "SKDP_LEDGER"
# Not public, about the execution only, or the ledger itself.
_LEFT_OUT = {"random_state", "n_jobs", "ledger", "verbose"}


class LedgerParameter:
    """What the parameter of an estimator may be besides a path: a ledger, or `ALREADY_CHARGED`."""


class _AlreadyCharged(LedgerParameter):
    """See `ALREADY_CHARGED`."""

    def __reduce__(self):
        return "ALREADY_CHARGED"

    def __repr__(self):
        return "ALREADY_CHARGED"


# In place of a ledger: another caller charges for this fit. It is the same object in every copy and
# process.
ALREADY_CHARGED = _AlreadyCharged()


class Rehearsed(BaseException):
    """A fit has come to where it would be charged; no error, which others would catch."""


class _Rehearsal(LedgerParameter):
    """See `REHEARSAL`."""

    def __reduce__(self):
        return "REHEARSAL"

    def __repr__(self):
        return "REHEARSAL"


# In place of a ledger: the fit ends where it would be charged, see `skdp._estimator.rehearse`.
REHEARSAL = _Rehearsal()
# The parameter `ledger` of an estimator may be one of these.
LEDGER_CONSTRAINT = [str, os.PathLike, LedgerParameter, None]


class Account(NamedTuple):
    """Where a fit is charged, and what is kept about it: its class and scalar public parameters.

    Of a call in a stream, `states` names the stream's states before (None if no ledger knows it)
    and after. The charge that led to the first covers the call if no other call has begun there.
    `unprotected` names parts of the fit that are to learn without privacy.
    """

    ledger: LedgerParameter
    estimator: str
    parameters: dict
    states: tuple | None = None
    unprotected: tuple = ()

    def charge(self, report, random_state, key=()):
        """Charge a fit, which goes on only if nothing is raised.

        The key is that of its stream, see `skdp._release.random.make_stream`.
        """
        self.ledger._charge(
            report,
            estimator=self.estimator,
            parameters=self.parameters,
            seed=_describe_seed(random_state, key),
            states=self.states,
        )


class _RehearsalAccount(Account):
    """Where a fit ends that is rehearsed."""

    def charge(self, report, random_state, key=()):
        """End the fit, which was planned and isn't charged."""
        raise Rehearsed


def resolve_account(ledger, estimator, parameters):
    """Return the account of a fit, or None if nobody records it here.

    The ledger is the estimator's parameter, for which None takes the environment variable
    SKDP_LEDGER, if it is set. Of the parameters, scalars are kept, but the random state.
    """
    ledger = named_ledger(ledger)
    if ledger is None or ledger is ALREADY_CHARGED:
        return None
    if ledger is REHEARSAL:
        return _RehearsalAccount(ledger, estimator, {})
    if not isinstance(ledger, LedgerParameter):
        from skdp.ledger import PrivacyLedger

        ledger = PrivacyLedger(ledger)
    names = [name for name in parameters if name.rpartition("__")[2] not in _LEFT_OUT]
    plain = {name: _plain(parameters[name]) for name in names}
    kept = {name: value for name, value in plain.items() if value is not None}
    return Account(ledger, estimator, kept)


def named_ledger(ledger):
    """Return what a parameter stands for here and now: paths become absolute.

    Workers may have been started before the variable was set, or in another folder. So this is what
    a copy for them holds.
    """
    if ledger is None:
        ledger = os.environ.get(_VARIABLE)
        if ledger is not None and not os.path.isabs(ledger):
            raise LedgerError(
                f"{_VARIABLE} must be the absolute path of a ledger, as a relative one leads "
                "elsewhere from each folder; unset it to fit without one."
            )
    return os.path.abspath(ledger) if isinstance(ledger, str | os.PathLike) and ledger else ledger


def is_same_ledger(one, other):
    """Return whether two parameters charge the same budget, be it by a path or by the variable."""
    if one == other:
        return True
    try:
        accounts = [resolve_account(ledger, "", {}) for ledger in (one, other)]
    except LedgerError:
        # A path without a ledger; a charge to it will raise an error.
        return False
    return accounts[0] == accounts[1]


def _plain(value):
    """Return a scalar as what JSON knows, None for all else."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else str(float(value))
    return None


def _describe_seed(random_state, key):
    """Return a text that is the same for what gives the same noise, None for no seed."""
    if random_state is None:
        return None
    if isinstance(random_state, Integral):
        # Streams of one int and several keys are independent.
        return " ".join(["int", *(str(int(word)) for word in (random_state, *key))])
    # The words that will seed the stream name it.
    words = copy.deepcopy(random_state).randint(0, 2**32, size=8, dtype="uint32")
    return f"words {words.tolist()}"
