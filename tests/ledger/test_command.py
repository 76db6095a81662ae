import json

import pytest

from skdp.accountant import PrivacyReport
from skdp.ledger import PrivacyLedger
from tests.door import main
from tests.ledger._fits import make_ledger, report_of


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def test_create_makes_a_ledger_and_finds_it_there(tmp_path, capsys):
    path = tmp_path / "study.db"
    arguments = ("create", path, "--epsilon", 2, "--delta", "1e-6", "--allow-seeds")
    for _ in range(2):
        code, out, _ = run(capsys, *arguments)
        assert code == 0
        assert "epsilon = 2, delta = 1e-06; zero_out, one row, seeds allowed" in out
    assert PrivacyLedger(path).left == 2.0
    code, out, err = run(capsys, "create", path, "--epsilon", 3, "--delta", "1e-6")
    assert (code, out) == (1, "")
    assert "was given" in err


def test_show_and_report(tmp_path, capsys):
    ledger = make_ledger(tmp_path, dataset="survey")
    ledger.part("north").charge(report_of(0.25))
    which = (ledger.path, "--dataset", "survey")
    assert run(capsys, "show", *which)[1] == f"{ledger}\n"
    assert run(capsys, "show", *which, "--part", "south")[1] == f"{ledger.part('south')}\n"
    content = json.loads(run(capsys, "show", *which, "--json")[1])
    assert content == ledger.to_dict()
    assert run(capsys, "report", *which)[1] == f"{ledger.report().to_text()}\n"
    report = run(capsys, "report", *which, "--json")[1]
    assert PrivacyReport.from_json(report) == ledger.report()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["create", "x.db", "--epsilon", "-1", "--delta", "1e-5"], 1),
        (["create", "x.db", "--epsilon", "1", "--delta", "2"], 1),
        (["report", "none.db"], 1),
    ],
)
def test_what_cannot_be_done_is_an_error(tmp_path, monkeypatch, capsys, arguments, code):
    monkeypatch.chdir(tmp_path)
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    assert err.startswith("error: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["spend", "x.db"], ["create", "x.db"], ["show"]])
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m skdp.ledger" in capsys.readouterr().err
