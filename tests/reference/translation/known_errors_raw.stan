// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  vector[N] y;  // y
  vector<lower=0>[N] se;  // standard errors of y
  vector<lower=0>[N] weight;
}
parameters {
  real alpha;  // intercept at x = 0
  vector[2] beta;  // per unit
}
model {
  vector[N] eta = alpha + x * beta;
  alpha ~ normal(33, 127);
  // x
  beta[1] ~ normal(0, 38.2);
  // z
  beta[2] ~ normal(0, 62.7);
  for (i in 1:N) {
    target += weight[i] * normal_lpdf(y[i] | eta[i], se[i]);
  }
}
generated quantities {
  vector[2] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
}
