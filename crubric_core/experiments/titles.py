"""What experiments, their figures, tables and columns are called where people read them."""

from __future__ import annotations

TITLES = {
    "crossfit": "Cross-fit (E2)",
    "new_systems": "Systems held out (E2)",
    "sweep": "Threshold sweep (L1)",
    "perturbation": "Perturbed task types (E1)",
    "ablation": "Ablation (B0–B4)",
    "attrition": "Attrition of the unanimity rule",
    "stability": "Stability",
}
FIGURES = {
    "crossfit": "How well a bank of B rubrics ranks the systems",
    "new_systems": "How well a bank of B rubrics places systems that it has not seen",
    "sweep": "Agreement of the rubrics kept at each threshold",
    "perturbation": "Effect of flipped task types on the gap",
    "ablation": "Gap between the best and the worst system",
    "attrition": "Rubrics kept as the number of systems grows",
    "stability": "Stability under each change",
}
TABLES = {
    "summary": "AUC, and the difference to greedy in the same splits",
    "curves": "ρ at each budget",
    "splits": "AUC of each split",
    "new_systems": "New systems on banks chosen without them, and the difference to random rubrics",
    "ahead": "How far pairs are ahead of each other selector",
    "budgets": "By bank size",
    "thresholds": "κ against coverage",
    "quartiles": "By quartile of measurability",
    "correlation": "Measurability with a rubric's own κ",
    "flips": "Flipped task types",
    "scorers": "Adaptive and binary scores",
    "agreement": "Agreement of the two rankings",
    "external": "Compared with the human ranking",
    "configurations": "Five configurations on the same labels",
    "scores": "Score of each system",
    "curve": "By number of systems",
    "models": "Two models of the curve",
    "kinds": "By kind of change",
    "variants": "Each change",
}
_COLUMNS = {
    "auc": "AUC",
    "delta": "difference",
    "delta_splits": "splits compared",
    "kappa": "κ",
    "with_kappa": "with a κ",
    "tau_c": "τ_c",
    "q_mean": "measurability",
    "r": "Pearson's r",
    "rho": "ρ",
    "rho_b0": "ρ to B0",
    "rho_reference": "ρ to humans",
    "rho_least": "ρ at least",
    "rho_m": "ρ_m",
    "sd": "spread",
    "iqr": "IQR",
    "m": "systems",
    "r_squared": "R²",
    "rmse": "RMSE",
    "epsilon": "ε",
    "homogeneous": "one rate",
    "beta": "Beta mixture",
    "degradation": "change of the gap",
    "theta": "θ",
    "theta_sd": "sd of θ",
    "theta_full": "θ, all rubrics",
    "theta_full_sd": "sd, all rubrics",
    "new_pairs": "new pairs in order",
    "new_old": "new and old in order",
    "tau": "Kendall's τ",
    "human": "τ to humans",
    "score_error": "error of the pool's score",
    "new_pairs_gain": "ahead of random",
    "new_old_gain": "ahead of random",
    "tau_gain": "ahead of random",
    "human_gain": "ahead of random",
    "score_error_gain": "ahead of random",
}


def column_title(name: str) -> str:
    """A column's name as people read it; ends of intervals are "from" and "to"."""
    if name in ("low", "high") or name.endswith(("_low", "_high")):
        return {"rank_low": "best rank", "rank_high": "worst rank"}.get(
            name, "from" if name.endswith("low") else "to"
        )
    return _COLUMNS.get(name, name.replace("_", " "))
