// AN APPROXIMATION: Stan cannot sample partitions, so the Dirichlet process is cut off at K clusters and the
// cluster of each unit is summed over. K = 20 or more is close where fewer than 10 clusters have units.
// Clusters have no order, so chains disagree about their numbers: compare only what does not depend on these.
data {
  int<lower=1> N;  // levels of school
  int<lower=2> K;  // most clusters
  int<lower=1> M;  // rows
  array[M] int<lower=1, upper=N> unit;
  array[M] int<lower=1, upper=3> item_1;  // plan: `a`, `b`, `c`
}
parameters {
  real<lower=0> alpha;
  vector<lower=0, upper=1>[K - 1] stick;  // shares of what is left
  array[K] simplex[3] p_1;
}
model {
  vector[K] log_weight;
  matrix[N, K] lp;  // of each unit in each cluster
  real rest = 0;
  for (k in 1:(K - 1)) {
    log_weight[k] = rest + log(stick[k]);
    rest += log1m(stick[k]);
  }
  log_weight[K] = rest;
  lp = rep_matrix(log_weight', N);
  alpha ~ gamma(2, 4);
  stick ~ beta(1, alpha);
  for (k in 1:K) {
    p_1[k] ~ dirichlet(rep_vector(0.5, 3));
    for (i in 1:M) {
      lp[unit[i], k] += log(p_1[k][item_1[i]]);
    }
  }
  for (i in 1:N) {
    target += log_sum_exp(lp[i]);
  }
}
