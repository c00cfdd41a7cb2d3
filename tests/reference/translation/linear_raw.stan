// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  vector[N] y;  // y
}
parameters {
  real alpha;  // intercept at x = 0
  vector[3] beta;  // per unit
  real<lower=0> sigma;  // residual scale
}
model {
  vector[N] eta = alpha + x * beta;
  alpha ~ normal(33, 148);
  // x
  beta[1] ~ normal(0, 38.2);
  // plan=b
  beta[2] ~ normal(0, 128);
  // plan=c
  beta[3] ~ normal(0, 160);
  sigma ~ student_t(3, 0, 16.025);
  y ~ normal(eta, sigma);
}
generated quantities {
  vector[3] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
}
