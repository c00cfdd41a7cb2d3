// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  vector<lower=0, upper=1>[N] y;  // share
  vector<lower=0>[N] weight;
}
parameters {
  real alpha;  // intercept at x = 0
  vector[2] beta;  // per unit
  real<lower=0> phi;  // precision of the beta distribution
}
model {
  vector[N] eta = alpha + x * beta;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  phi ~ exponential(0.1);
  for (i in 1:N) {
    target += weight[i] * beta_proportion_lpdf(y[i] | inv_logit(eta[i]), phi);
  }
}
generated quantities {
  vector[2] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
}
