"""Slow and simple implementations, with which tests compare the fast ones."""

from __future__ import annotations

import itertools
import math
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import betainc, betaln, expit, log_expit, logsumexp

# --- item response theory -------------------------------------------------------------------------------------------

DENSE_NODES = np.linspace(-8.0, 8.0, 4001)


def level_probabilities(theta, a, b, c=0.0, thresholds=None):
    """(G, L) probability of each level of one rubric at abilities theta (G,), by the definition."""
    if thresholds is None:
        passed = c + (1 - c) * expit(a * (theta - b))
        return np.stack([1 - passed, passed], axis=1)
    above = [np.ones_like(theta), *(expit(a * (theta - t)) for t in thresholds), np.zeros_like(theta)]
    return -np.diff(np.stack(above, axis=1), axis=1)


def dense_posterior(y, a, b, c=None, thresholds=None, nodes=DENSE_NODES):
    """Log marginal likelihood of each system (M,) and its posterior (M, G) on a dense grid, cell by cell."""
    log_joint = np.tile(-0.5 * nodes**2 - logsumexp(-0.5 * nodes**2), (len(y), 1))
    for j in range(y.shape[1]):
        steps = None if thresholds is None else thresholds[j]
        table = np.log(
            np.maximum(level_probabilities(nodes, a[j], b[j], 0.0 if c is None else c[j], steps), 1e-300)
        )
        for i in range(len(y)):
            if not np.isnan(y[i, j]):
                log_joint[i] += table[:, int(y[i, j])]
    loglik = logsumexp(log_joint, axis=1)
    return loglik, np.exp(log_joint - loglik[:, None])


def dense_log_posterior(
    y, a, b, c=None, thresholds=None, log_a_sd=0.5, b_sd=2.0, c_beta=(5.0, 17.0), common=False
):
    """Log posterior of docs/method.md §6 with all constants. common: count the common slope of the 1PL once."""
    from scipy.stats import norm

    value = dense_posterior(y, a, b, c, thresholds)[0].sum()
    value += norm.logpdf(np.log(a[:1] if common else a), 0, log_a_sd).sum()
    value += norm.logpdf(b if thresholds is None else thresholds, 0, b_sd).sum()
    if c is not None:
        value += ((c_beta[0] - 1) * np.log(c) + (c_beta[1] - 1) * np.log1p(-c)).sum()
    return value


def dense_2pl(x, y, log_a_sd=0.5, b_sd=2.0):
    """Log posterior of the 2PL and its analytic gradient at x = (log a, b), by matrix products on the dense grid."""
    log_a, b = np.split(x, 2)
    a, known, passed = np.exp(log_a), (~np.isnan(y)).astype(float), np.nan_to_num(y)
    z = a[:, None] * (DENSE_NODES - b[:, None])
    log_joint = passed @ log_expit(z) + (known - passed) @ log_expit(-z)
    log_joint += -0.5 * DENSE_NODES**2 - logsumexp(-0.5 * DENSE_NODES**2)
    loglik = logsumexp(log_joint, axis=1)
    posterior = np.exp(log_joint - loglik[:, None])
    residual = passed.T @ posterior - (known.T @ posterior) * expit(z)
    gradient = np.concatenate([(residual * z).sum(axis=1), -a * residual.sum(axis=1)])
    gradient -= np.concatenate([log_a / log_a_sd**2, b / b_sd**2])
    constants = len(b) * (np.log(log_a_sd) + np.log(b_sd) + np.log(2 * np.pi))
    prior = -0.5 * (log_a @ log_a / log_a_sd**2 + b @ b / b_sd**2) - constants
    return loglik.sum() + prior, gradient


# --- banks -----------------------------------------------------------------------------------------------------


def coverage(info, weights, bank):
    """Coverage utility U(S) of a bank, with exact sums (``math.fsum``)."""
    sums = [math.fsum(row[j] for j in bank) for row in info]
    return math.fsum(w * math.log1p(total) for w, total in zip(weights, sums, strict=True))


def naive_gains(info, weights, covered):
    """(J,) gain of each rubric, by eq:submod-greedy. info: (G, J). weights, covered: (G,)."""
    return (weights[:, None] * np.log1p(info / (1 + covered)[:, None])).sum(axis=0)


def naive_greedy(info, weights, budget, feasible=None):
    """Order and gains of the greedy bank, by computing the gain of every rubric at every step."""
    open_ = (info > 0).any(axis=0) & (True if feasible is None else feasible)
    covered, order, gains = np.zeros(len(info)), [], []
    while open_.any() and len(order) < budget:
        gain = np.where(open_, naive_gains(info, weights, covered), -np.inf)
        best = int(gain.argmax())
        order.append(best)
        gains.append(gain[best])
        open_[best] = False
        covered += info[:, best]
    return order, gains


def best_coverage(info, weights, budget, feasible):
    """Maximum of U(S) over all subsets S of the feasible rubrics with |S| ≤ budget, by trying each."""
    rubrics = np.flatnonzero(feasible)
    sizes = range(min(budget, len(rubrics)) + 1)
    return max(coverage(info, weights, bank) for size in sizes for bank in combinations(rubrics, size))


def naive_certificate(info, weights, order, budget, feasible):
    """Certificate of docs/method.md §8 for the coverage utility (``least_bound_certificate``)."""
    return least_bound_certificate(lambda bank: coverage(info, weights, bank), order, budget, feasible)


def least_bound_certificate(utility, order, budget, feasible):
    """Certificate of docs/method.md §8: utility over the least bound of all prefixes 0 … budget.

    Gains are computed as differences of utilities.
    """
    bounds = []
    for size in range(min(budget, len(order)) + 1):
        bank = list(order[:size])
        now = utility(bank)
        rest = [j for j in np.flatnonzero(feasible) if j not in bank]
        gains = sorted((utility([*bank, j]) - now for j in rest), reverse=True)
        bounds.append(now + sum(gains[:budget]))
    return utility(list(order[:budget])) / min(bounds)


def best_utility(utility, budget, feasible):
    """Largest utility of all banks of at most ``budget`` feasible rubrics, by trying each."""
    rubrics = np.flatnonzero(feasible)
    sizes = range(min(budget, len(rubrics)) + 1)
    return max(utility(bank) for size in sizes for bank in combinations(rubrics, size))


def naive_item_posterior(y, theta, thresholds_at, log_a_grid, b_grid, log_a_sd=0.5, steps=6):
    """docs/method.md §8, step 2, point by point: {(log a, b): (J,) posterior}, and mean and variance of the prior of b.

    thresholds_at(b, j): thresholds of rubric j at difficulty b, or None.
    """
    n = y.shape[1]
    likelihood = {}
    for log_a in log_a_grid:
        for b in b_grid:
            of_rubric = []
            for j in range(n):
                chance = level_probabilities(theta, math.exp(log_a), b, thresholds=thresholds_at(b, j))
                seen = [chance[i, int(y[i, j])] for i in range(len(theta)) if not math.isnan(y[i, j])]
                of_rubric.append(math.prod(seen) * math.exp(-0.5 * (log_a / log_a_sd) ** 2))
            likelihood[log_a, b] = np.array(of_rubric)
    mean, variance = 0.0, 4.0
    for step in range(steps + 1):
        joint = {ab: v * math.exp(-0.5 * (ab[1] - mean) ** 2 / variance) for ab, v in likelihood.items()}
        total = sum(joint.values())
        posterior = {ab: v / total for ab, v in joint.items()}
        if step < steps:
            mean = sum(float(v.mean()) * b for (_, b), v in posterior.items())
            variance = sum(float(v.mean()) * (b - mean) ** 2 for (_, b), v in posterior.items())
            variance = max(variance, (b_grid[1] - b_grid[0]) ** 2)
    return posterior, mean, variance


def naive_pair_distances(y, theta, nodes, posterior, thresholds_at):
    """(J, P) distances of docs/method.md §8, steps 3 and 4, pair by pair: future pairs first, then present pairs."""
    rows = []
    for j in range(y.shape[1]):
        chances = {
            ab: level_probabilities(
                np.append(nodes, theta), math.exp(ab[0]), ab[1], thresholds=thresholds_at(ab[1], j)
            )
            for ab in posterior
        }
        level = np.arange(next(iter(chances.values())).shape[1])
        row = []
        for g, k in combinations(range(len(nodes)), 2):
            gap = sum(w[j] * (chances[ab][g] - chances[ab][k]) @ level for ab, w in posterior.items())
            # E[(Y_g - Y_k)²] over all pairs of levels
            square = sum(
                w[j] * chances[ab][g] @ (level[:, None] - level) ** 2 @ chances[ab][k]
                for ab, w in posterior.items()
            )
            row.append(gap**2 / (square - gap**2))
        mixed = []
        for i in range(len(theta)):
            model = sum(w[j] * chances[ab][len(nodes) + i] for ab, w in posterior.items())
            known = not math.isnan(y[i, j])
            mixed.append((3 * model + (level == y[i, j])) / 4 if known else model)
        moments = [(m @ level, m @ level**2 - (m @ level) ** 2) for m in mixed]
        for (mean, variance), (other, spread) in combinations(moments, 2):
            row.append((mean - other) ** 2 / (variance + spread))
        rows.append(row)
    return np.array(rows)


def pair_utility(rows, weights, bank):
    """Utility U(S) of the pairs strategy, with exact sums (``math.fsum``). rows: (J, P) distances."""
    totals = [math.fsum(rows[j][p] for j in bank) for p in range(len(weights))]
    return math.fsum(
        w * 0.5 * math.sqrt(-math.expm1(-2 / math.pi * x)) for w, x in zip(weights, totals, strict=True)
    )


def naive_pairs_order(rows, weights, query, feasible, budget):
    """Order of the balanced greedy choice: at every step the best rubric of the least used queries."""
    left = [j for j in np.flatnonzero(feasible) if any(rows[j])]
    used, order = dict.fromkeys(query.tolist(), 0), []
    while left and len(order) < budget:
        fewest = min(used[query[j]] for j in left)
        competing = [j for j in left if used[query[j]] == fewest]
        gains = [pair_utility(rows, weights, [*order, j]) for j in competing]
        best = competing[gains.index(max(gains))]
        order.append(best)
        left.remove(best)
        used[query[best]] += 1
    return order


def composed_banks(n, size, pinned, excluded, families, cost, cost_budget):
    """All banks of at most ``size`` of n rubrics that meet all constraints, by trying each.

    families: (code of each rubric, least of each group, most of each group).
    """
    found = []
    for count in range(min(size, n) + 1):
        for bank in combinations(range(n), count):
            counts = [
                [sum(code[j] == g for j in bank) for g in range(len(least))] for code, least, _ in families
            ]
            if (
                set(pinned) <= set(bank)
                and not set(excluded) & set(bank)
                and sum(cost[j] for j in bank) <= cost_budget + 1e-9
                and all(
                    least[g] <= held[g] <= most[g]
                    for held, (_, least, most) in zip(counts, families, strict=True)
                    for g in range(len(least))
                )
            ):
                found.append(bank)
    return found


# --- scores ----------------------------------------------------------------------------------------------------


def naive_scores(y, levels, query_index, n_queries, types, dimension, severity, weights, omega, clip):
    """(M,) scores by eq:score, by loops over systems, queries and rubrics, with the constants of tab:tasktypes."""
    overall = []
    for row in y:
        total, shares = 0.0, 0.0
        for n in range(n_queries):
            earned, possible = 0.0, 0.0
            for j in np.flatnonzero(query_index == n):
                if math.isnan(row[j]):
                    continue
                g = row[j] / (levels[j] - 1)
                if types[n] == "high_risk_constraint" and g < 0.5:
                    g = {"moderate": -0.3, "critical": -0.5}.get(severity[j], g)
                e = 1
                if types[n] == "decision_support" and dimension[j] == "actionability":
                    e = 5
                if types[n] == "creative_divergent" and dimension[j] == "creativity":
                    e = 3
                earned += e * weights[j] * g
                possible += e * weights[j]
            if possible:
                score = earned / possible
                total += omega[n] * (min(max(score, 0), 1) if clip else score)
                shares += omega[n]
        overall.append(total / shares if shares else math.nan)
    return np.array(overall)


# --- tiers -----------------------------------------------------------------------------------------------------


def naive_tiers(theta, draws, confidence, rule):
    """(M,) tiers: walk down the ranking, and test the difference from the system above, or from the tier's first."""
    tail = 50 * (1 - confidence)
    ranking = sorted(range(len(theta)), key=lambda i: -theta[i])
    tier, first, result = 0, None, np.zeros(len(theta))
    for place, i in enumerate(ranking):
        against = first if rule == "leader" else ranking[place - 1]
        if place:
            low, high = np.percentile(draws[:, against] - draws[:, i], [tail, 100 - tail])
        if not place or low > 0 or high < 0:
            tier, first = tier + 1, i
        result[i] = tier
    return result


def naive_holm(p_values, level):
    """Which hypotheses Holm's procedure rejects: from the smallest p on, each at level / (tests left)."""
    rejected = [False] * len(p_values)
    for k, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[i] > level / (len(p_values) - k):
            break
        rejected[i] = True
    return rejected


def naive_rank_probabilities(draws):
    """(M, M) P(rank ≤ k) of each system, by counting in draws (R, M) without ties."""
    replicates, systems = draws.shape
    counts = np.zeros((systems, systems))
    for draw in draws:
        for i in range(systems):
            rank = 1 + sum(other > draw[i] for other in draw)
            counts[i, rank - 1 :] += 1
    return counts / replicates


# --- cross-fitted comparisons ---------------------------------------------------------------------------------------


def label_probability(items, j, label, theta):
    """P(label) of rubric j at abilities theta, from the definition; ``items`` has a, b, c, thresholds."""
    steps = None if items.thresholds is None else items.thresholds[j][~np.isnan(items.thresholds[j])]
    table = level_probabilities(np.atleast_1d(theta), items.a[j], items.b[j], items.c[j], steps)
    return table[:, int(label)]


def label_log_probability(items, j, label, theta):
    """Log of ``label_probability``; if the level's two thresholds are equal, its limit up to a constant."""
    if items.thresholds is not None and 0 < label < len(items.thresholds[j]):
        low, high = items.thresholds[j][int(label) - 1 : int(label) + 1]
        if low == high:
            z = items.a[j] * (theta - low)
            return np.atleast_1d(log_expit(z) + log_expit(-z))
    return np.log(label_probability(items, j, label, theta))


def naive_influence(y, fold_items, fold, use, query, theta, step=1e-5):
    """psi (n, M) and H (M,) of docs/method.md §10, without the link, with derivatives as difference quotients."""
    queries = sorted({int(query[j]) for j in range(y.shape[1]) if use[j]})
    psi, information = np.zeros((len(queries), len(y))), []
    for i, row in enumerate(y):
        items, sums, total = fold_items[fold[i]], dict.fromkeys(queries, 0.0), 1.0
        for j in np.flatnonzero(use & ~np.isnan(row)):
            if math.isnan(items.a[j]):
                continue

            def slope(label, j=j, items=items, at=theta[i]):
                low, high = label_log_probability(items, j, label, np.array([at - step, at + step]))
                return (high - low) / (2 * step)

            levels = 2 if items.thresholds is None else 1 + int((~np.isnan(items.thresholds[j])).sum())
            sums[int(query[j])] += slope(row[j])
            for label in range(levels):
                total += float(label_probability(items, j, label, theta[i])[0]) * slope(label) ** 2
        mean = sum(sums.values()) / len(queries)
        psi[:, i] = [(sums[q] - mean) / total for q in queries]
        information.append(total)
    return psi, np.array(information)


def naive_link(y, pooled, theta, fold, use, query):
    """(n, M) part of psi that the link removes: psi of the pooled fit, summed over the fold, by the others' number."""
    all_of_them = np.ones(y.shape[1], dtype=bool)
    psi, _ = naive_influence(y, [pooled] * (max(fold) + 1), fold, all_of_them, query, theta)
    queries = sorted({int(q) for q in query})
    rows = [queries.index(q) for q in sorted({int(query[j]) for j in range(y.shape[1]) if use[j]})]
    taken = np.zeros((len(rows), len(y)))
    for i in range(len(y)):
        mates = [k for k in range(len(y)) if fold[k] == fold[i]]
        taken[:, i] = psi[np.ix_(rows, mates)].sum(axis=1) / (len(y) - len(mates))
    return taken - taken.mean(axis=0)


def naive_variances(psi, floor):
    """(M, M) variance of each difference, by docs/method.md §10; on the diagonal that of each estimate."""
    n, size = psi.shape
    out = np.empty((size, size))
    for i in range(size):
        for k in range(size):
            gap = psi[:, i] - (psi[:, k] if i != k else 0)
            least = floor[i] + floor[k] if i != k else floor[i]
            out[i, k] = max(n / (n - 1) * float(sum(x * x for x in gap)), least)
    return out


def naive_largest(draws, variance):
    """(R,) largest |Z_i - Z_k| / sd_ik over all pairs, of each row of draws (R, M)."""
    pairs = list(combinations(range(draws.shape[1]), 2))
    return np.array([max(abs(z[i] - z[k]) / math.sqrt(variance[i, k]) for i, k in pairs) for z in draws])


def naive_places(estimate, separated):
    """Lists of tiers, least ranks and greatest ranks, as docs/method.md §10 defines them."""
    ranking = sorted(range(len(estimate)), key=lambda i: -estimate[i])
    tier, first, tiers = 1, ranking[0], {}
    for i in ranking:
        if separated[first][i]:
            tier, first = tier + 1, i
        tiers[i] = tier
    everyone = range(len(estimate))
    low = [1 + sum(bool(separated[i][k]) and estimate[k] > estimate[i] for k in everyone) for i in everyone]
    high = [
        len(estimate) - sum(bool(separated[i][k]) and estimate[k] < estimate[i] for k in everyone)
        for i in everyone
    ]
    return [tiers[i] for i in everyone], low, high


def best_on_grid(labels, theta, log_a_sd=0.5, b_sd=2.0):
    """(a, b) of the highest 2PL prior × likelihood at known abilities, on a fine grid."""
    log_a, b = np.meshgrid(np.linspace(-1.5, 2, 701), np.linspace(-8, 8, 1601), indexing="ij")
    value = -0.5 * (log_a / log_a_sd) ** 2 - 0.5 * (b / b_sd) ** 2
    for label, t in zip(labels, theta, strict=True):
        if not math.isnan(label):
            value += log_expit((1 if label else -1) * np.exp(log_a) * (t - b))
    best = np.unravel_index(value.argmax(), value.shape)
    return math.exp(log_a[best]), b[best]


# --- labels, consensus and measurability ----------------------------------------------------------------------------


def criterion_of(query, rubric):
    """The rubric's name without its query's prefix; if only a number is left, a mere position, the whole name."""
    own = rubric.removeprefix(f"{query}#")
    return rubric if own.isdigit() else own


def inferred_bottom(low, top):
    """Lowest level of a scale. low: its lowest label. top: its highest level.

    If no label is 0 or below, 1 for a top from 2 to 12, and 0 above; else ``low``, but below ``top``.
    """
    if low >= 1 and top > 1:
        return 0 if top > 12 else 1
    return low if low < top else top - 1


def label_levels(labels, scale_max=None, texts=None):
    """Rows with a label, with the columns ``level`` and ``n_levels``.

    scale_max: rubric → top of its scale; else the top is the highest label of the criterion. texts: rubric → its text,
    by which criteria are formed; else by ``criterion_of``.
    """
    known = labels.dropna(subset=["label"]).copy()
    texts = texts or {}
    criteria = [
        texts.get(r) or criterion_of(q, r) for q, r in zip(known["query"], known["rubric"], strict=True)
    ]
    ends = known["label"].groupby(criteria).agg(["min", "max"])
    lows, highs = (ends[end].reindex(criteria).to_numpy() for end in ("min", "max"))
    seen = np.where((lows == 0) & (highs == 0), 1, highs)
    tops = known["rubric"].map(scale_max or {}).astype(float).fillna(pd.Series(seen, index=known.index))
    bottoms = np.array([inferred_bottom(low, top) for low, top in zip(lows, tops, strict=True)])
    known["level"], known["n_levels"] = known["label"] - bottoms, tops - bottoms + 1
    return known


def reduce_cells(known, response="binary", tie="unknown", tolerance=0):
    """A frame of cells, indexed by (system, rubric), with n, agree and y, by group operations of pandas."""
    read = known["level"]
    if response == "binary":
        read, tolerance = (known["level"] >= (known["n_levels"] - 1) / 2).astype(float), 0
    groups = read.groupby([known["system"], known["rubric"]])
    cells = groups.agg(n="count", mean="mean", low="min", high="max")
    cells["agree"] = cells["high"] - cells["low"] <= tolerance
    if response == "binary":
        even = {"unknown": np.nan, "fail": 0.0, "pass": 1.0}[tie]
        cells["y"] = cells["mean"].map(lambda share: even if share == 0.5 else float(share > 0.5))
    else:
        cells["y"] = groups.quantile(0.5, interpolation="lower")
    return cells


def agreement_counts(cells, rubrics):
    """(3, J) n_agree and n_total over cells of two labels or more, and the most labels of a cell, for each rubric."""
    instances = cells[cells["n"] >= 2]
    agree, total = (instances["agree"].groupby("rubric").agg(how) for how in ("sum", "count"))
    most = cells["n"].groupby("rubric").max()
    return np.array([found.reindex(rubrics, fill_value=0) for found in (agree, total, most)], dtype=int)


def consensus_matrix(cells, systems, rubrics):
    """(M, J) consensus labels; NaN if a cell is empty or undecided."""
    table = cells["y"].unstack()  # noqa: PD010
    return table.reindex(index=systems, columns=rubrics).to_numpy(dtype=float)


# --- judges ----------------------------------------------------------------------------------------------------


def subset_retention(panel, size):
    """Means over rubrics of (consistency, distinguishability, joint), by listing every subset of ``size`` systems."""
    shares = []
    for j in range(panel.shape[1]):
        rows = [row for row in panel[:, j] if not np.isnan(row).any()]
        sums = [2 * sum(row) - len(row) for row in rows]
        verdicts = [int(np.sign(s)) for s in sums]
        agreed = [len(set(row)) == 1 for row in rows]
        if len(rows) < size:
            continue
        subsets = list(combinations(range(len(rows)), size))
        decided = list(combinations([i for i, v in enumerate(verdicts) if v], size))
        mixed = [len({verdicts[i] for i in s}) == 2 for s in decided]
        unanimous = [all(agreed[i] for i in s) for s in subsets]
        both = [u and len({verdicts[i] for i in s}) == 2 for u, s in zip(unanimous, subsets, strict=True)]
        shares.append((np.mean(unanimous), np.mean(mixed) if decided else math.nan, np.mean(both)))
    columns = list(zip(*shares, strict=True))
    return tuple(float(np.nanmean(c)) if not np.isnan(c).all() else math.nan for c in columns)


def naive_dawid_skene(labels, n_levels, steps, anchors=None, floor=1e-10):
    """Posterior (U, L) and confusion matrices (K, L, L) of Dawid and Skene (1979), after a fixed number of EM steps."""
    units, judges = labels.shape
    votes = [[int(v) for v in row if not math.isnan(v)] for row in labels]
    truth = np.array([[v.count(t) / len(v) if v else 1 / n_levels for t in range(n_levels)] for v in votes])
    fixed = {} if anchors is None else {u: int(a) for u, a in enumerate(anchors) if not math.isnan(a)}
    for u, a in fixed.items():
        truth[u] = np.eye(n_levels)[a]
    for _ in range(steps):
        prior = truth.mean(axis=0)
        said = np.zeros((judges, n_levels, n_levels))
        for u in range(units):
            for k in range(judges):
                if not math.isnan(labels[u, k]):
                    said[k, :, int(labels[u, k])] += truth[u]
        confusion = np.maximum(said / said.sum(axis=2, keepdims=True), floor)
        for u in range(units):
            log_joint = np.log(prior)
            for k in range(judges):
                if not math.isnan(labels[u, k]):
                    log_joint = log_joint + np.log(confusion[k, :, int(labels[u, k])])
            truth[u] = np.exp(log_joint - logsumexp(log_joint))
            if u in fixed:
                truth[u] = np.eye(n_levels)[fixed[u]]
    return truth, said / said.sum(axis=2, keepdims=True)


def naive_validity_votes(panel):
    """(J, K) 1 if judge k equals the majority of the others on every cell of the rubric that has one, else 0.

    NaN without such a cell.
    """
    _, rubrics, judges = panel.shape
    out = np.full((rubrics, judges), math.nan)
    for j in range(rubrics):
        for k in range(judges):
            matches = []
            for row in panel[:, j]:
                others = [v for m, v in enumerate(row) if m != k and not math.isnan(v)]
                if math.isnan(row[k]) or 2 * sum(others) == len(others):
                    continue
                matches.append(row[k] == (2 * sum(others) > len(others)))
            if matches:
                out[j, k] = float(all(matches))
    return out


def simulate_judges(units, sensitivity, specificity, prevalence, rng, shared=None, share=0.0):
    """Truth (U,) and votes (U, K); with probability ``share`` the second judge of ``shared`` copies the first."""
    truth = (rng.random(units) < prevalence).astype(float)
    chance = np.where(truth[:, None] == 1, sensitivity, 1 - np.asarray(specificity))
    votes = (rng.random(chance.shape) < chance).astype(float)
    if shared is not None:
        copied = rng.random(units) < share
        votes[copied, shared[1]] = votes[copied, shared[0]]
    return truth, votes


# --- experiments -----------------------------------------------------------------------------------------------


def naive_ranks(values):
    """Mean ranks from 1, the lowest value first, by counting; values within 1e-6 of each other tie."""
    return [
        sum(v < x - 1e-6 for v in values) + (sum(abs(v - x) <= 1e-6 for v in values) + 1) / 2 for x in values
    ]


def naive_spearman(first, second):
    """Pearson's correlation of the mean ranks; NaN if all values of one side tie."""
    x, y = (np.array(naive_ranks(list(v))) for v in (first, second))
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale else math.nan


def naive_kappa(first, second):
    """Cohen's kappa of two 0/1 lists with NaN unknown; NaN if it is undefined."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if not (math.isnan(a) or math.isnan(b))]
    if not pairs:
        return math.nan
    observed = sum(a == b for a, b in pairs) / len(pairs)
    p, q = sum(a for a, _ in pairs) / len(pairs), sum(b for _, b in pairs) / len(pairs)
    expected = p * q + (1 - p) * (1 - q)
    return math.nan if math.isclose(expected, 1) else (observed - expected) / (1 - expected)


def naive_majority(labels):
    """Strict majority of the known labels; NaN for a tie or without labels."""
    known = [x for x in labels if not math.isnan(x)]
    if 2 * sum(known) == len(known):
        return math.nan
    return float(2 * sum(known) > len(known))


def naive_eap(y, a, b, bank, nodes=DENSE_NODES):
    """EAP ability of each system from the rubrics of the bank alone, by the 2PL on a dense grid."""
    result = []
    for row in y:
        log_joint = -0.5 * nodes**2
        for j in bank:
            if not math.isnan(row[j]):
                log_joint = log_joint + log_expit((1 if row[j] else -1) * a[j] * (nodes - b[j]))
        weight = np.exp(log_joint - log_joint.max())
        result.append(float((weight * nodes).sum() / weight.sum()))
    return result


def naive_smallest(mean_rho, budgets, target):
    """Smallest bank size with mean_rho at the target or above, by bisection; None if no budget reaches it.

    Between the first budget that reaches the target and the one before.
    """
    reached = [k for k, budget in enumerate(budgets) if mean_rho(budget) >= target]
    if not reached:
        return None
    low, high = (budgets[reached[0] - 1] if reached[0] else 0), budgets[reached[0]]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mean_rho(middle) >= target else (middle, high)
    return high


def naive_instances(panel, tolerance=0):
    """(n_agree, n_total) of each rubric of a panel (M, J, K), label by label."""
    counts = []
    for j in range(panel.shape[1]):
        cells = [[x for x in cell if not math.isnan(x)] for cell in panel[:, j]]
        instances = [cell for cell in cells if len(cell) >= 2]
        counts.append((sum(max(c) - min(c) <= tolerance for c in instances), len(instances)))
    return counts


def naive_pair_kappa(panel, levels, shrinkage=10):
    """(J,) rubric kappa, disagreement D, expected disagreement E and number of pairs N, of a panel (M, J, K)."""
    n_systems, n_rubrics, n_judges = panel.shape
    D, E, N = np.zeros((3, n_rubrics))
    for j in range(n_rubrics):
        labels = [x for x in panel[:, j].ravel() if not np.isnan(x)]
        unit = (levels[j] - 1) ** 2
        for i in range(n_systems):
            for k, other in itertools.combinations(range(n_judges), 2):
                x, z = panel[i, j, k], panel[i, j, other]
                if not np.isnan(x) and not np.isnan(z):
                    N[j] += 1
                    D[j] += (x - z) ** 2 / unit
        if labels:  # two labels drawn with replacement
            E[j] = N[j] * np.mean([(x - z) ** 2 / unit for x in labels for z in labels])
    if N.sum() == 0 or E.sum() == 0:
        return np.full(n_rubrics, np.nan), D, E, N
    rest_d, rest_e = shrinkage * D.sum() / N.sum(), shrinkage * E.sum() / N.sum()
    return 1 - (D + rest_d) / (E + rest_e), D, E, N


def naive_agree_share(panel, tolerance=0):
    """(J,) sum over a rubric's cells of the share of judge pairs that are at most ``tolerance`` levels apart."""
    shares = np.zeros(panel.shape[1])
    for i, j in np.ndindex(panel.shape[:2]):
        known = panel[i, j][~np.isnan(panel[i, j])]
        near = [abs(x - z) <= tolerance for x, z in itertools.combinations(known, 2)]
        shares[j] += np.mean(near) if near else 0
    return shares


def naive_share_weight(passes, missing):
    """Binomial variance over the variance of a cell's share of agreeing pairs. passes, missing: (M, J, K)."""
    within = binomial = 0.0
    for j in range(passes.shape[1]):
        shares = []
        for i in range(passes.shape[0]):
            known = passes[i, j][~missing[i, j]]
            if len(known) >= 2:
                shares.append(np.mean([x == z for x, z in itertools.combinations(known, 2)]))
        within += sum((share - np.mean(shares)) ** 2 for share in shares)
        binomial += len(shares) * np.mean(shares) * (1 - np.mean(shares)) if shares else 0
    return binomial / within


def naive_ability_covariance(y, theta, sd, log_a_sd=0.5, b_sd=2.0):
    """(M, M) covariance of abilities with 2PL items integrated out on a dense grid (Louis 1982).

    Origin and unit of the abilities are projected out.
    """
    log_a, b = (
        g.ravel() for g in np.meshgrid(np.linspace(-2.5, 2.5, 101), np.linspace(-10, 10, 201), indexing="ij")
    )
    z = np.exp(log_a) * (theta[:, None] - b)
    p = expit(z)
    precision = np.eye(len(theta))
    for labels in y.T:
        logp = np.where(labels[:, None] == 1, log_expit(z), log_expit(-z)).sum(axis=0)
        logp -= 0.5 * (log_a / log_a_sd) ** 2 + 0.5 * (b / b_sd) ** 2
        weights = np.exp(logp - logp.max())
        weights /= weights.sum()
        precision += np.diag((np.exp(2 * log_a) * p * (1 - p)) @ weights)
        precision -= np.cov(np.exp(log_a) * (labels[:, None] - p), aweights=weights, ddof=0)
    axes = np.stack([np.ones_like(theta), theta], axis=1)
    weight = np.diag(1 / sd**2)
    keep = np.eye(len(theta)) - axes @ np.linalg.inv(axes.T @ weight @ axes) @ axes.T @ weight
    return keep @ np.linalg.inv(precision) @ keep.T


# --- profiles ----------------------------------------------------------------------------------------------------


def against_others(scores, weights, member, system, confidence=0.95):
    """[queries, mean score, mean of the other systems, difference, low, high] of one system's scores in a group.

    The t interval is NaN with fewer than 5 effective queries.
    """
    from scipy.stats import t

    rows = []
    for n in range(scores.shape[1]):
        rest = [s for i, s in enumerate(scores[:, n]) if i != system and not math.isnan(s)]
        if member[n] and rest and not math.isnan(scores[system, n]):
            rows.append((weights[n], scores[system, n], math.fsum(rest) / len(rest)))
    if not rows:
        return [0] + [math.nan] * 5
    total = math.fsum(w for w, _, _ in rows)
    value, others = (math.fsum(row[0] * row[at] for row in rows) / total for at in (1, 2))
    shares = [w / total for w, _, _ in rows]
    concentration = math.fsum(w * w for w in shares)
    units = math.floor(1 / concentration + 0.05)
    if units < 5:
        return [len(rows), value, others, value - others, math.nan, math.nan]
    squares = math.fsum(
        (w * (a - b - (value - others))) ** 2 / (1 - 2 * w + concentration)
        for w, (_, a, b) in zip(shares, rows, strict=True)
    )
    half = t.ppf((1 + confidence) / 2, units - 1) * math.sqrt(squares)
    return [len(rows), value, others, value - others, value - others - half, value - others + half]


def head_to_head(share, slope, use, first, second):
    """{rubric: slope × difference} where shares differ, and counts (first better, second better, compared)."""
    pulls, better, worse, compared = {}, 0, 0, 0
    for j in range(share.shape[1]):
        a, b = share[first, j], share[second, j]
        if not (use[first, j] and use[second, j]) or math.isnan(a) or math.isnan(b):
            continue
        compared += 1
        better, worse = better + (a > b), worse + (a < b)
        if a != b and not math.isnan(slope[j]):
            pulls[j] = slope[j] * (a - b)
    return pulls, (better, worse, compared)


def clustered_standard_error(values, cluster):
    """Standard error of a mean whose terms depend on each other within clusters, by the sandwich formula."""
    mean, total, names = sum(values) / len(values), 0.0, sorted(set(cluster.tolist()))
    for name in names:
        total += sum(v - mean for v, c in zip(values, cluster, strict=True) if c == name) ** 2
    return math.sqrt(len(names) / (len(names) - 1) * total) / len(values)


def naive_curve_distance(new, old, slope, shift, nodes=81):
    """Mean over N(0, 1) of the squared difference of the old test characteristic curve and the new one, transformed."""
    total = weights = 0.0
    for k in range(nodes):
        theta = -4 + 8 * k / (nodes - 1)
        gap = 0.0
        for j in range(len(old.a)):
            gap += old.c[j] + (1 - old.c[j]) / (1 + math.exp(-old.a[j] * (theta - old.b[j])))
            a, b = new.a[j] / slope, slope * new.b[j] + shift
            gap -= new.c[j] + (1 - new.c[j]) / (1 + math.exp(-a * (theta - b)))
        weight = math.exp(-(theta**2) / 2)
        total, weights = total + weight * gap**2, weights + weight
    return total / weights


def naive_person_fit(probabilities, labels, scores):
    """Person fit lz*, by sums over all levels of all rubrics. probabilities, scores: [j][level]. labels: [j]."""
    covariance = information = 0.0
    for share, score in zip(probabilities, scores, strict=True):
        mean = sum(p * math.log(p) for p in share)
        covariance += sum(p * (math.log(p) - mean) * s for p, s in zip(share, score, strict=True))
        information += sum(p * s * s for p, s in zip(share, score, strict=True))
    c, total, variance = covariance / information, 0.0, 0.0
    for share, score, got in zip(probabilities, scores, labels, strict=True):
        mean = sum(p * math.log(p) for p in share)
        rest = [math.log(p) - mean - c * s for p, s in zip(share, score, strict=True)]
        total += rest[got]
        variance += sum(p * r * r for p, r in zip(share, rest, strict=True))
    return total / math.sqrt(variance)


def naive_mean_difference(new, old, query):
    """(mean difference, its standard error clustered by query, queries) over the rubrics with both values."""
    pairs = [
        (n - o, q) for n, o, q in zip(new, old, query, strict=True) if not (math.isnan(n) or math.isnan(o))
    ]
    mean = sum(d for d, _ in pairs) / len(pairs)
    by_query = {}
    for d, q in pairs:
        by_query[q] = by_query.get(q, 0.0) + (d - mean)
    n = len(by_query)
    return mean, math.sqrt(sum(r * r for r in by_query.values()) * n / (n - 1)) / len(pairs), n


def naive_transfer_excess(theta_bank, theta_pool, psi, floor, n):
    """(theta_bank - theta_pool)² - SE² of one system. psi: of each query with its labels. n: their effective number."""
    variance = n / (n - 1) * sum(p * p for p in psi) if n > 1 else 0.0
    return (theta_bank - theta_pool) ** 2 - max(variance, floor)


def naive_judge_shares(panel, unit):
    """Share of each judge in a system's labels (M, K), and its standard error (M, K). unit: (J,) queries."""
    systems, rubrics, judges = panel.shape
    given = np.zeros((systems, max(unit) + 1, judges))
    for i in range(systems):
        for j in range(rubrics):
            known = ~np.isnan(panel[i, j])
            if known.any():
                given[i, unit[j]] += known / known.sum()
    share, error = np.zeros((2, systems, judges))
    for i in range(systems):
        units = [row for row in given[i] if row.sum() > 0]
        total = sum(row.sum() for row in units)
        share[i] = sum(units) / total
        rest = sum((row - share[i] * row.sum()) ** 2 for row in units)
        error[i] = np.sqrt(rest * len(units) / max(len(units) - 1, 1)) / total
    return share, error


def naive_leniency(panel):
    """(K,) least-squares effects of the judges of a panel (M, J, K), with an effect of each cell; their mean is 0."""
    systems, rubrics, judges = panel.shape
    rows, labels = [], []
    for cell, (i, j) in enumerate(np.ndindex(systems, rubrics)):
        for k in np.flatnonzero(~np.isnan(panel[i, j])):
            row = np.zeros(systems * rubrics + judges)
            row[[cell, systems * rubrics + k]] = 1
            rows.append(row)
            labels.append(panel[i, j, k])
    found = np.linalg.lstsq(np.array(rows), np.array(labels), rcond=None)[0][-judges:]
    return found - found.mean()


def shown_of_unequal(weight):
    """(n, M) for units with these weights, the root of the share of a variance that each shows, over (n - 1) / n."""
    out = np.ones(weight.shape)
    for i in range(weight.shape[1]):
        share = weight[:, i] / weight[:, i].sum()
        squares = sum(w * w for w in share)
        n = math.floor(1 / squares + 0.05)
        for q, w in enumerate(share):
            if w > 0:
                out[q, i] = math.sqrt((1 - 2 * w + squares) * n / (n - 1))
    return out


def naive_domain_variances(psi, weight, domain, floor):
    """(M, M) variances as ``naive_variances`` with domains as units (docs/method.md §10), and effective units (M,)."""
    size, names = psi.shape[1], sorted(set(domain))
    sums, units = [], []
    for i in range(size):
        count = {d: sum(float(weight[q, i]) for q in range(len(psi)) if domain[q] == d) for d in names}
        share = {d: n / sum(count.values()) for d, n in count.items()}
        squares = sum(w * w for w in share.values())
        units.append(math.floor(1 / squares + 0.05))
        whole = {d: sum(psi[q, i] for q in range(len(psi)) if domain[q] == d) for d in names}
        shown = {d: 1 - 2 * share[d] + squares if count[d] else 1 - 1 / units[i] for d in names}
        sums.append([whole[d] / math.sqrt(shown[d]) for d in names])
    out = np.empty((size, size))
    for i in range(size):
        for k in range(size):
            gap = [x - (z if i != k else 0) for x, z in zip(sums[i], sums[k], strict=True)]
            out[i, k] = max(sum(g * g for g in gap), floor[i] + floor[k] if i != k else floor[i])
    return out, units


def naive_share_interval(values, confidence=0.95):
    """Interval of the mean of ``values`` {(i, k): share in [0, 1]} over pairs (Korn and Graubard 1998)."""
    systems = sorted({system for pair in values for system in pair})
    share, n = np.mean(list(values.values())), len(systems)
    without = [np.mean([v for pair, v in values.items() if system not in pair]) for system in systems]
    variance = (n - 1) ** 2 / n * np.var(without, ddof=1)
    level = (1 + confidence) / 2
    effective = share * (1 - share) / variance * (stats.norm.ppf(level) / stats.t.ppf(level, n - 1)) ** 2
    trials = min(max(effective, 1), len(values))
    met = share * trials
    low, high = stats.beta.ppf(1 - level, met, trials - met + 1), stats.beta.ppf(level, met + 1, trials - met)
    return low, high


def naive_restricted_loglik(x, kept, error, sd, rho):
    """Log likelihood of x (m, 2) = kept (mean + ability) + error, with abilities and means integrated on grids."""
    once = np.linspace(-5, 5, 41)
    ability = np.stack(np.meshgrid(once, once, indexing="ij"), axis=-1).reshape(-1, 2)
    cell = (once[1] - once[0]) ** 2
    spread = np.array([[sd[0] ** 2, rho * sd[0] * sd[1]], [rho * sd[0] * sd[1], sd[1] ** 2]])
    weight = stats.multivariate_normal.pdf(ability, np.zeros(2), spread) * cell
    likely = ability[weight > 1e-14]
    weight = weight[weight > 1e-14]
    total = np.zeros(len(ability))  # one value for each mean on the grid
    for value, share, noise in zip(x, kept, error, strict=True):
        true = ability[:, None] + likely
        total += np.log(
            stats.multivariate_normal.pdf(value - share * true, np.zeros(2), noise) @ weight + 1e-300
        )
    return logsumexp(total) + np.log(cell)


def dense_rate_below(agree, total, rate, nodes=150):
    """(J,) Pr(q_j <= rate_j), averaged over the posterior of the Beta prior's parameters on a dense grid."""
    low = 0.5 / (sum(total) + 1)
    log_weights, below = [], []
    for share in expit(np.linspace(np.log(low / (1 - low)), np.log((1 - low) / low), nodes)):
        for size in np.geomspace(0.1, 1000, nodes):
            a, b = size * share, size * (1 - share)
            shrink = size / (size + np.mean(total))
            drawn = betaln(a + agree, b + total - agree) - betaln(a, b)
            log_weights.append(drawn.sum() + np.log(shrink * (1 - shrink)))
            below.append(betainc(a + agree, b + total - agree, rate))
    return np.exp(np.array(log_weights) - logsumexp(log_weights)) @ np.array(below)
