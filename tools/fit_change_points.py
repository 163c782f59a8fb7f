#!/usr/bin/env python3
"""Fits the weights of src/verdict/change_evidence.cpp to the marks of engineers, and says what they reach.

Usage: fit_change_points.py --program change_point_candidates --data FOLDER [--check]

FOLDER holds one CSV per series and labels.json: {"<series>": {"annotators": {"<name>": [row, ...]}, ...}}.
Without --check: fits with all series, then again in 6 folds, twice, and prints the scores of the series each fit did
not see. With --check: scores the weights that are compiled in, and fails below what docs/accuracy.md promises.
The weights are a logistic regression of "which share of the engineers marked this candidate", fitted again on the
candidates that survive its first answer. Needs numpy. Exit codes: 0 fine, 1 below the promise, 77 no data."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

MARGIN = 5
LEAST_WEIGHT = -0.9
PROMISED = {"tcpd": 0.83, "consensus": 0.70}
SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src" / "verdict" / "change_evidence.cpp"


class Lab:
    def __init__(self, program, folder):
        self.program = program
        self.labels = json.loads((folder / "labels.json").read_text())
        self.ids = sorted(self.labels)
        self.files = {series: str(folder / f"{series}.csv") for series in self.ids}

    def marks(self, series):
        return [sorted(set(points) - {0}) for points in self.labels[series]["annotators"].values()]

    def judged(self, ids, cases):
        """{series: [answer per case]}"""
        request = {"files": [self.files[series] for series in ids], "cases": cases}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(request, file)
            file.flush()
            lines = subprocess.run([self.program, file.name], check=True, capture_output=True, text=True).stdout.splitlines()
        answers = [json.loads(line) for line in lines]
        return {series: answers[i * len(cases):(i + 1) * len(cases)] for i, series in enumerate(ids)}


def shares(indices, marks):
    """For each candidate, the share of engineers whose mark it explains; a mark belongs to its nearest candidate."""
    share = np.zeros(len(indices))
    for points in marks:
        explained = set()
        for mark in points:
            nearest = int(np.argmin(np.abs(np.array(indices) - mark)))
            if abs(indices[nearest] - mark) <= MARGIN:
                explained.add(nearest)
        for nearest in explained:
            share[nearest] += 1 / len(marks)
    return share


def regression(rows, target, ridge=1.0):
    """Logistic regression by Newton's method on standardised columns; the first column is the constant."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-12
    mean[0], spread[0] = 0, 1
    x = (rows - mean) / spread
    penalty = ridge * np.diag(np.r_[1e-9, np.ones(x.shape[1] - 1)])
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        w -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + penalty, x.T @ (p - target) + penalty @ w)
    weights = w / spread
    weights[0] -= (w * mean / spread).sum()
    return weights


def fit(lab, ids):
    rows, target = [], []
    cases = [{"weights": None}]
    for _ in range(2):
        for series, answers in lab.judged(ids, cases).items():
            for answer in answers:
                if answer["index"]:
                    rows.append(np.array(answer["evidence"]))
                    target.append(shares(answer["index"], lab.marks(series)))
        weights = regression(np.concatenate(rows), np.concatenate(target))
        cases = [{"weights": list(weights), "least_weight": LEAST_WEIGHT - step} for step in (2, 1, 0)]
    return weights


def matched(truth, found):
    """Pairs of both sorted lists within the margin, one to one, as many as possible."""
    count, j = 0, 0
    for point in truth:
        while j < len(found) and found[j] < point - MARGIN:
            j += 1
        if j < len(found) and found[j] <= point + MARGIN:
            count, j = count + 1, j + 1
    return count


def nearest_matched(truth, found):
    """As the Turing benchmark counts: each truth in turn takes the nearest free point."""
    free, count = list(found), 0
    for point in truth:
        near = [(abs(point - x), x) for x in free if abs(point - x) <= MARGIN]
        if near:
            free.remove(min(near)[1])
            count += 1
    return count


def consensus(marks):
    """Points that at least half of the engineers mark."""
    left, found = [list(points) for points in marks], []
    while True:
        best = None
        for point in sorted(set().union(*map(set, left))):
            near = [d for d in (min((abs(point - m) for m in points), default=MARGIN + 1) for points in left) if d <= MARGIN]
            best = min(best or (0, 0, 0), (-len(near), sum(near), point))
        if best is None or -best[0] < len(marks) / 2:
            return sorted(found)
        found.append(best[2])
        left = [[m for m in points if abs(m - best[2]) > MARGIN] for points in left]


def scores(lab, predicted):
    """TCPD F1 (mean over series, point 0 free) and F1 against the consensus (counts over all series)."""
    f1, hits, told, true = [], 0, 0, 0
    for series, points in predicted.items():
        marks = lab.marks(series)
        found = sorted(set(points) | {0})
        sets = [sorted(set(m) | {0}) for m in marks]
        precision = nearest_matched(sorted(set().union(*sets)), found) / len(found)
        recall = np.mean([nearest_matched(m, found) / len(m) for m in sets])
        f1.append(2 * precision * recall / (precision + recall))
        agreed = consensus(marks)
        hits, told, true = hits + matched(agreed, sorted(points)), told + len(points), true + len(agreed)
    return {"tcpd": float(np.mean(f1)), "consensus": 2 * hits / (told + true)}


def held_out(lab, seed, folds=6):
    order = list(np.random.default_rng(seed).permutation(lab.ids))
    predicted = {}
    for fold in range(folds):
        unseen = order[fold::folds]
        weights = fit(lab, [series for series in lab.ids if series not in unseen])
        answers = lab.judged(unseen, [{"weights": list(weights), "least_weight": LEAST_WEIGHT}])
        predicted.update({series: answer[0]["index"] for series, answer in answers.items()})
    return scores(lab, predicted)


def compiled_in():
    text = re.search(r"kFittedWeights\{([^}]*)\}", SOURCE.read_text())[1]
    return [float(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    named = os.environ.get("TRILOBITE_TEST_DATA")
    folder = pathlib.Path(named) / "changepoints" / "mozilla" if named else pathlib.Path(options.data)
    if not (folder / "labels.json").exists():
        print(f"skipped: there is no {folder / 'labels.json'}")
        return 77
    lab = Lab(options.program, folder)
    if not options.check:
        print("weights:", ", ".join(f"{weight:.3f}" for weight in fit(lab, lab.ids)))
        for seed in (0, 1):
            print(f"held out, 6 folds, seed {seed}:", held_out(lab, seed))
    answers = lab.judged(lab.ids, [{"weights": compiled_in(), "least_weight": LEAST_WEIGHT}])
    reached = scores(lab, {series: answer[0]["index"] for series, answer in answers.items()})
    print("compiled in:", reached)
    return 0 if all(reached[name] >= least for name, least in PROMISED.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
