"""Ledgers from the command line: ``python -m skdp.ledger create|show|report``.

Exit codes: 0 if all went well, 1 if the ledger can't be used or made, 2 for wrong arguments.
"""

import argparse
import json
import sys

from skdp.exceptions import LedgerError
from skdp.ledger import PrivacyLedger


def main(arguments=None):
    """Run a command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        print(options.run(options))
    except (LedgerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _create(options):
    ledger = PrivacyLedger(
        options.path,
        epsilon=options.epsilon,
        delta=options.delta,
        adjacency=options.adjacency,
        unit=options.unit,
        dataset=options.dataset,
        allow_seeds=options.allow_seeds,
    )
    return str(ledger)


def _show(options):
    ledger = _open(options)
    return json.dumps(ledger.to_dict(), indent=2) if options.json else str(ledger)


def _report(options):
    report = _open(options).report()
    return report.to_json() if options.json else report.to_text()


def _open(options):
    ledger = PrivacyLedger(options.path, dataset=options.dataset)
    return ledger.part(options.part) if getattr(options, "part", None) else ledger


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m skdp.ledger", description="One privacy budget for all fits of a study."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="create a ledger, or check that it has this budget")
    show = commands.add_parser("show", help="what is spent and left, and every charge")
    report = commands.add_parser("report", help="the guarantee, which is the budget")
    for command, run in ((create, _create), (show, _show), (report, _report)):
        command.set_defaults(run=run)
        command.add_argument("path", help="the file")
        command.add_argument("--dataset", default="default", help="name of the records")
    for command in (show, report):
        command.add_argument("--json", action="store_true", help="for programs")
    show.add_argument("--part", help="name of a part of the records")
    create.add_argument("--epsilon", type=float, required=True)
    create.add_argument("--delta", type=float, required=True)
    create.add_argument("--adjacency", default="zero_out")
    create.add_argument("--unit", default="one row")
    create.add_argument("--allow-seeds", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
