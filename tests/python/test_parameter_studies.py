"""The how-to of parameter studies does what it says, where Optuna and SALib are installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/parameter-studies.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not in a source tree")


@pytest.fixture
def blocks(tmp_path, monkeypatch):
    """The examples of the page, shorter: what they share, Optuna's and SALib's."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    for long, short in (
        ('"10 s"', '"1.5 s"'),
        ('"3 s"', '"0.5 s"'),
        ("n_trials=20", "n_trials=6"),
        ("problem, 16,", "problem, 4,"),
    ):
        assert long in text
        text = text.replace(long, short)
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_optuna_finds_settings_and_a_study_started_again_runs_nothing(blocks):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    shared, by_optuna, _ = blocks
    names: dict = {}
    exec(shared + by_optuna, names)
    study, store = names["study"], names["store"]
    assert len(study.trials) == 6 and study.best_value == max(trial.value for trial in study.trials) > 0
    runs = store.query("SELECT count(*) AS n FROM runs")["n"][0]
    # The best settings lie in the store with the value that the study has of them.
    target = f"{study.best_params['target']:.4g} ms"
    asked = "SELECT avg(goodput_bps) / 1e6 / (avg(rtt_mean_s) * 1e3) AS power FROM runs JOIN flows USING (run)"
    asked += f" WHERE flows.id = 'near.down' AND settings['bss.ap.queue.target'] = '{target}'"
    kept = store.query(asked.replace("avg(goodput_bps)", "avg(runs.goodput_bps)"))["power"][0]
    assert kept == pytest.approx(study.best_value, rel=1e-12)
    exec(by_optuna, names)
    assert store.query("SELECT count(*) AS n FROM runs")["n"][0] == runs
    assert names["study"].best_value == study.best_value


def test_salib_gets_the_mean_of_each_of_its_rows(blocks):
    pytest.importorskip("SALib")
    shared, _, by_salib = blocks
    names: dict = {}
    exec(shared + by_salib, names)
    assert len(names["rows"]) == 16 and set(names["found"]) >= {"S1", "ST"}
    rows = names["rows"][[3, 0, 3]]
    first, other, again = names["outputs"](rows, names["RTT"])
    assert first == again != other
    one = names["lasthop"].run(
        names["scenario"].set("bss.ap.queue.target", f"{rows[0][0]:.4g} ms").set("wired.delay", f"{rows[0][1]:.4g} ms"),
        seeds=5,
    )
    assert first == pytest.approx(one.summary[names["RTT"]]["mean"], rel=1e-12)
