// AN APPROXIMATION: Stan cannot sample partitions, so the Dirichlet process is cut off at K clusters and the
// cluster of each unit is summed over. K = 20 or more is close where fewer than 10 clusters have units.
// Clusters have no order, so chains disagree about their numbers: compare only what does not depend on these.
data {
  int<lower=1> N;  // rows
  int<lower=2> K;  // most clusters
  array[N] vector[2] x;  // x, z
  array[N] int<lower=1, upper=3> item_1;  // plan: `a`, `b`, `c`
}
transformed data {
  // means and population standard deviations of the columns of x
  vector[2] centre = [2.8822500000000004, 0.06350000000000007]';
  vector[2] scale = [1.6786683524448778, 1.0231044668067872]';
  array[N] vector[2] z;
  for (i in 1:N) {
    z[i] = (x[i] - centre) ./ scale;
  }
}
parameters {
  real<lower=0> alpha;
  vector<lower=0, upper=1>[K - 1] stick;  // shares of what is left
  array[K] vector[2] mean_z;
  array[K] cov_matrix[2] Sigma_z;
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
    Sigma_z[k] ~ inv_wishart(4, diag_matrix([0.75, 0.75]'));
    mean_z[k] ~ multi_normal(rep_vector(0, 2), Sigma_z[k] / 0.1);
    for (i in 1:N) {
      lp[i, k] += multi_normal_lpdf(z[i] | mean_z[k], Sigma_z[k]);
    }
  }
  for (k in 1:K) {
    p_1[k] ~ dirichlet(rep_vector(0.5, 3));
    for (i in 1:N) {
      lp[i, k] += log(p_1[k][item_1[i]]);
    }
  }
  for (i in 1:N) {
    target += log_sum_exp(lp[i]);
  }
}
