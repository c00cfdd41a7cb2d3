// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 1] x;  // x
  array[N] int<lower=0> y;  // successes: succ
  array[N] int<lower=1> trials;
  vector[N] offset_;  // the sum of all offset terms
  vector<lower=0>[N] weight;
}
parameters {
  real alpha;  // intercept at x = 0
  vector[1] beta;  // per unit
}
model {
  vector[N] eta = alpha + x * beta + offset_;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  for (i in 1:N) {
    target += weight[i] * binomial_logit_lpmf(y[i] | trials[i], eta[i]);
  }
}
generated quantities {
  vector[1] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
}
