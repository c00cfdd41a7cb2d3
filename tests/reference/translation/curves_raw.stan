// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  array[N] int<lower=0> y;  // count
  vector<lower=0>[N] weight;
  matrix[N, 3] c_1;  // functions that bend s(x)
  matrix[N, 4] c_2;  // functions that bend s(z)
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
}
parameters {
  real alpha;  // intercept at x = 0
  vector[2] beta;  // per unit
  vector[3] curve_1;  // their coefficients in units of the standard deviation
  vector[4] curve_2;  // their coefficients in units of the standard deviation
  real<lower=0> shape;  // shape of the overdispersion
  real<lower=0> tau_curve_1;  // standard deviation of s(x) around its line
  real<lower=0> tau_curve_2;  // standard deviation of s(z) around its line
  vector<lower=0>[1] tau_1;  // standard deviations between groups
  matrix[1, J_1] v_1;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 1] effect_1 = (diag_matrix(tau_1) * v_1)';
}
model {
  vector[N] eta = alpha + x * beta + c_1 * (tau_curve_1 * curve_1) + c_2 * (tau_curve_2 * curve_2) + effect_1[group_1, 1];
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  curve_1 ~ std_normal();
  curve_2 ~ std_normal();
  shape ~ lognormal(2, 2);
  tau_curve_1 ~ student_t(3, 0, 2.5);
  tau_curve_2 ~ exponential(2);
  tau_1 ~ student_t(3, 0, 2.5);
  to_vector(v_1) ~ std_normal();
  for (i in 1:N) {
    target += weight[i] * neg_binomial_2_log_lpmf(y[i] | eta[i], shape);
  }
}
generated quantities {
  vector[2] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
  real sd_curve_1 = tau_curve_1;
  vector[3] bend_1 = sd_curve_1 * curve_1;
  real sd_curve_2 = tau_curve_2;
  vector[4] bend_2 = sd_curve_2 * curve_2;
  vector[1] sd_1 = tau_1;
  matrix[J_1, 1] r_1 = effect_1;
}
