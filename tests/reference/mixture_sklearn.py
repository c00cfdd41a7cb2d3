"""Time and result of scikit-learn's BayesianGaussianMixture on two normal clusters in the plane, 100,000 points.

What `ergodic bench mixture-normal` is compared with: the same kind of points (centres 8 and 2.5 standard deviations apart),
a truncated Dirichlet process with up to ten components. It is variational: one approximate answer, no draws. Seconds are
processor time.
"""

import time

import numpy as np
from sklearn.metrics import mutual_info_score
from sklearn.mixture import BayesianGaussianMixture

COUNT = 100_000


def variation_of_information(a, b):
    def entropy(labels):
        shares = np.unique(labels, return_counts=True)[1] / len(labels)
        return -(shares * np.log(shares)).sum()

    return entropy(a) + entropy(b) - 2 * mutual_info_score(a, b)


for words, distance in [("separated", 8.0), ("overlapping", 2.5)]:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, COUNT)
    points = rng.normal(size=(COUNT, 2))
    points[:, 0] += distance * truth
    begun = time.process_time()
    model = BayesianGaussianMixture(
        n_components=10, weight_concentration_prior=0.5, max_iter=1000, random_state=1
    ).fit(points)
    seconds = time.process_time() - begun
    labels = model.predict(points)
    used = len(np.unique(labels))
    print(
        f"{words}: {used} components used, {(model.weights_ > 0.01).sum()} with more than 1 % of the weight, "
        f"distance to truth {variation_of_information(labels, truth):.3f}, {seconds:.1f} s, "
        f"{model.n_iter_} iterations, converged: {model.converged_}"
    )
