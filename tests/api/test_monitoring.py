"""The Grafana dashboard and Prometheus's rules: what they name exists, and each alert fires when it should."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

from memsvc import observe
from tests.promtool import promtool

ROOT = Path(__file__).resolve().parents[2]
OPS, DOCS = ROOT / "ops", ROOT / "docs"
RULES = OPS / "prometheus" / "memsvc.rules.yml"
OF_PROMETHEUS = frozenset({"job", "instance"})
"""Labels that Prometheus gives to whatever it scrapes."""
METRIC = re.compile(r"\b(up|memsvc_\w+|process_\w+)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
SHOWN = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")

Metrics = dict[str, frozenset[str]]


@pytest.fixture
async def metrics(anybody: httpx.AsyncClient) -> Metrics:
    """Each series that the running application exports (a worker's are some of them), with its labels."""
    text = (await anybody.get("/metrics")).text
    found: dict[str, set[str]] = {"up": set(OF_PROMETHEUS)}
    for family in text_string_to_metric_families(text):
        if family.name.endswith("_created"):  # when a counter began: nothing that anybody looks at
            continue
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}.get(family.type, [""])
        for name in {family.name + ending for ending in endings} | {sample.name for sample in family.samples}:
            found[name] = set(OF_PROMETHEUS) | ({"le"} if name.endswith("_bucket") else set())
        for sample in family.samples:
            found[sample.name] |= sample.labels.keys()
    for metric in vars(observe).values():  # a counter that has not counted yet has no samples
        if isinstance(metric, MetricWrapperBase):
            for name in found:
                if re.fullmatch(rf"{next(iter(metric.describe())).name}(_total|_bucket|_count|_sum|_info)?", name):
                    found[name] |= set(metric._labelnames)
    return {name: frozenset(labels) for name, labels in found.items()}


def faults(expression: str, metrics: Metrics, shown: str = "") -> list[str]:
    """What an expression names that does not exist; ``shown``: a legend or a summary over its result."""
    found, labels = [], set[str]()
    for name, matchers in METRIC.findall(expression):
        known = metrics.get(name)
        if known is None:
            found.append(f"no metric {name}")
            continue
        labels |= known
        found += [f"{name} has no label {label}" for label in MATCHER.findall(matchers) if label not in known]
    groups = [{label.strip() for label in group.split(",") if label.strip()} for group in GROUPING.findall(expression)]
    found += [f"nothing has the label {label}" for group in groups for label in group - labels]
    left = set().union(*groups) if groups else labels
    found += [f"{label} is not in the result" for label in SHOWN.findall(shown) if label not in left]
    return found if labels else [*found, "it names no metric"]


def rules() -> dict[str, dict[str, Any]]:
    loaded = yaml.safe_load(RULES.read_text())
    return {rule["alert"]: rule for group in loaded["groups"] for rule in group["rules"]}


def panels() -> Iterator[dict[str, Any]]:
    yield from json.loads((OPS / "grafana" / "memsvc.json").read_text())["panels"]


def run_promtool(*arguments: str | Path) -> str:
    done = subprocess.run(
        [promtool(), *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False, cwd=RULES.parent
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


async def test_alerts_name_what_the_service_exports(metrics: Metrics) -> None:
    found = {name: faults(rule["expr"], metrics, rule["annotations"]["summary"]) for name, rule in rules().items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


async def test_panels_name_what_the_service_exports(metrics: Metrics) -> None:
    found = [
        (panel["title"], target["expr"], wrong)
        for panel in panels()
        for target in panel.get("targets", ())
        if (wrong := faults(target["expr"], metrics, target["legendFormat"]))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("memsvc_jobs_lost > 0", ""),
        ('sum(rate(memsvc_errors_total{status="503"}[5m]))', ""),
        ("sum by (door) (rate(memsvc_errors_total[5m]))", ""),
        ("sum by (code) (rate(memsvc_errors_total[5m]))", "{{door}}"),
        ("rate(memsvc_errors[5m])", ""),
        ("vector(0)", ""),
    ],
)
async def test_a_name_that_does_not_exist_is_found(metrics: Metrics, expression: str, shown: str) -> None:
    assert faults(expression, metrics, shown)


async def test_each_metric_of_ours_has_its_panel_and_its_line_in_the_documentation(metrics: Metrics) -> None:
    shown = " ".join(target["expr"] for panel in panels() for target in panel.get("targets", ()))
    told = (DOCS / "operations.md").read_text()
    ours = {re.sub(r"_(bucket|count|sum)$", "", name) for name in metrics if name.startswith("memsvc_")}
    assert {name for name in ours if not re.search(rf"\b{name}(_bucket)?\b", shown)} == set()
    assert {name for name in ours if not re.search(rf"\b{name}\b", told)} == set()


def test_each_alert_fires_when_it_should_and_none_while_all_is_well() -> None:
    run_promtool("test", "rules", "memsvc.rules.test.yml")
    run_promtool("check", "config", "prometheus.yml")  # and the rules that it names
    scenarios = yaml.safe_load((RULES.parent / "memsvc.rules.test.yml").read_text())["tests"]
    [expected] = [test["exp_samples"] for scenario in scenarios[1:] for test in scenario["promql_expr_test"]]
    assert {re.findall('"(.+)"', sample["labels"])[0] for sample in expected} == rules().keys()


async def test_the_series_that_alerts_are_tried_with_exist(metrics: Metrics) -> None:
    scenarios = yaml.safe_load((RULES.parent / "memsvc.rules.test.yml").read_text())["tests"]
    series = [given["series"] for scenario in scenarios for given in scenario["input_series"]]
    assert [wrong for one in series for wrong in faults(one, metrics)] == []


def test_each_alert_has_its_paragraph_in_the_documentation() -> None:
    told = re.findall(r"^### (\w+)$", (DOCS / "operations-alerts.md").read_text(), re.MULTILINE)
    assert told == list(rules())
    for name, rule in rules().items():
        assert rule["annotations"]["runbook"] == f"docs/operations-alerts.md#{name.lower()}"
        assert rule["labels"]["severity"] in {"critical", "warning"}


def test_the_panels_expressions_are_promql(tmp_path: Path) -> None:
    expressions = [target["expr"] for panel in panels() for target in panel.get("targets", ())]
    plain = [one.replace("$__rate_interval", "5m").replace("$instance", ".*") for one in expressions]
    records = [{"record": f"panel:{number}", "expr": one} for number, one in enumerate(plain)]
    written = tmp_path / "panels.yml"
    written.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    assert f"{len(plain)} rules found" in run_promtool("check", "rules", written)


def test_panels_have_numbers_and_places_of_their_own() -> None:
    found = list(panels())
    assert len({panel["id"] for panel in found}) == len(found)
    for one, other in combinations([panel["gridPos"] for panel in found], 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    for panel in found:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert panel["type"] == "row" or (panel["description"] and panel["fieldConfig"]["defaults"]["unit"])
