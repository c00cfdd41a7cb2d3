// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  vector[N] y;  // y
  vector<lower=0>[N] se;  // standard errors of y
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
}
transformed data {
  // mean and population standard deviation of y
  real y_centre = 32.529500000000006;
  real y_scale = 6.412339257244582;
}
parameters {
  real alpha;  // intercept at average predictors, in y_scale from y_centre
  vector<lower=0>[1] tau_1;  // standard deviations between groups, in y_scale
  matrix[1, J_1] v_1;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 1] effect_1 = (diag_matrix(tau_1) * v_1)';
}
model {
  vector[N] eta = y_centre + y_scale * (alpha + effect_1[group_1, 1]);
  alpha ~ normal(0, 10);
  tau_1 ~ student_t(3, 0, 2.5);
  to_vector(v_1) ~ std_normal();
  y ~ normal(eta, se);
}
generated quantities {
  real b_Intercept = y_centre + y_scale * alpha;  // at x = 0
  row_vector[1] unit_1 = [6.412339257244582];
  vector[1] sd_1 = tau_1 .* unit_1';  // on the scale of the data
  matrix[J_1, 1] r_1 = effect_1 .* rep_matrix(unit_1, J_1);
}
