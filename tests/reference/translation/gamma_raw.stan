// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 1] x;  // x
  vector<lower=0>[N] y;  // hours
  vector<lower=0>[N] weight;
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
}
parameters {
  real alpha;  // intercept at x = 0
  vector[1] beta;  // per unit
  real<lower=0> shape;  // shape of the gamma distribution
  vector<lower=0>[1] tau_1;  // standard deviations between groups
  matrix[1, J_1] v_1;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 1] effect_1 = (diag_matrix(tau_1) * v_1)';
}
model {
  vector[N] eta = alpha + x * beta + effect_1[group_1, 1];
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  shape ~ gamma(2, 0.1);
  tau_1 ~ student_t(3, 0, 2.5);
  to_vector(v_1) ~ std_normal();
  for (i in 1:N) {
    target += weight[i] * gamma_lpdf(y[i] | shape, shape * exp(-eta[i]));
  }
}
generated quantities {
  vector[1] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
  vector[1] sd_1 = tau_1;
  matrix[J_1, 1] r_1 = effect_1;
}
