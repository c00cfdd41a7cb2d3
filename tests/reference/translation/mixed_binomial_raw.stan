// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 1] x;  // x
  array[N] int<lower=0> y;  // successes: succ
  array[N] int<lower=1> trials;
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
  matrix[N, 1] w_1;  // x (a column of 1 for Intercept)
}
parameters {
  real alpha;  // intercept at x = 0
  vector[1] beta;  // per unit
  vector<lower=0>[1] tau_1;  // standard deviations between groups
  matrix[1, J_1] v_1;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 1] effect_1 = (diag_matrix(tau_1) * v_1)';
}
model {
  vector[N] eta = alpha + x * beta + rows_dot_product(w_1, effect_1[group_1]);
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  tau_1 ~ normal(0, 1);
  to_vector(v_1) ~ std_normal();
  y ~ binomial_logit(trials, eta);
}
generated quantities {
  vector[1] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
  vector[1] sd_1 = tau_1;
  matrix[J_1, 1] r_1 = effect_1;
}
