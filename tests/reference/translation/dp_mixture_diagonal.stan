// AN APPROXIMATION: Stan cannot sample partitions, so the Dirichlet process is cut off at K clusters and the
// cluster of each unit is summed over. K = 20 or more is close where fewer than 10 clusters have units.
// Clusters have no order, so chains disagree about their numbers: compare only what does not depend on these.
data {
  int<lower=1> N;  // rows
  int<lower=2> K;  // most clusters
  array[N] vector[2] x;  // x, z
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
  vector<lower=0, upper=1>[K - 1] stick;  // shares of what is left
  array[K] vector[2] mean_z;
  array[K] vector<lower=0>[2] variance_z;
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
  stick ~ beta(1, 1);
  for (k in 1:K) {
    variance_z[k] ~ inv_gamma(1.5, [0.375, 0.375]');
    mean_z[k] ~ normal(0, sqrt(variance_z[k] / 0.1));
    for (i in 1:N) {
      lp[i, k] += normal_lpdf(z[i] | mean_z[k], sqrt(variance_z[k]));
    }
  }
  for (i in 1:N) {
    target += log_sum_exp(lp[i]);
  }
}
