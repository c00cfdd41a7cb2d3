// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  vector[N] y;  // y
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
  matrix[N, 3] w_1;  // Intercept, x, z (a column of 1 for Intercept)
  int<lower=1> J_2;  // groups of class
  array[N] int<lower=1, upper=J_2> group_2;  // that of each row
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [2.8822499999999995, 0.06349999999999995];
  row_vector[2] scale = [1.6786683524448773, 1.0231044668067872];
  matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
  // mean and population standard deviation of y
  real y_centre = 32.529500000000006;
  real y_scale = 6.412339257244582;
  // population standard deviations of the columns of w_1; they are not centred
  row_vector[3] w_scale_1 = [1, 1.6786683524448773, 1.0231044668067872];
  matrix[N, 3] ws_1 = w_1 ./ rep_matrix(w_scale_1, N);
}
parameters {
  real alpha;  // intercept at average predictors, in y_scale from y_centre
  vector[2] beta;  // per standard deviation, in y_scale
  real<lower=0> sigma_std;  // residual scale, in y_scale
  vector<lower=0>[3] tau_1;  // standard deviations between groups, in y_scale
  cholesky_factor_corr[3] L_1;
  vector<lower=0>[1] tau_2;  // standard deviations between groups, in y_scale
  matrix[3, J_1] v_1;  // effects in units of their standard deviation
  matrix[1, J_2] v_2;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 3] effect_1 = (diag_pre_multiply(tau_1, L_1) * v_1)';
  matrix[J_2, 1] effect_2 = (diag_matrix(tau_2) * v_2)';
}
model {
  vector[N] eta = y_centre + y_scale * (alpha + z * beta + rows_dot_product(ws_1, effect_1[group_1]) + effect_2[group_2, 1]);
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma_std ~ student_t(3, 0, 2.5);
  // Intercept
  tau_1[1] ~ student_t(3, 0, 2.5);
  // x
  tau_1[2] ~ exponential(1);
  // z
  tau_1[3] ~ student_t(3, 0, 2.5);
  L_1 ~ lkj_corr_cholesky(2);
  to_vector(v_1) ~ std_normal();
  tau_2 ~ student_t(3, 0, 2.5);
  to_vector(v_2) ~ std_normal();
  y ~ normal(eta, y_scale * sigma_std);
}
generated quantities {
  vector[2] b = y_scale * beta ./ scale';  // per unit of the columns of x
  real b_Intercept = y_centre + y_scale * alpha - centre * b;  // at x = 0
  real sigma = y_scale * sigma_std;
  row_vector[3] unit_1 = [6.412339257244582, 3.8198964363064354, 6.267531288626022];
  vector[3] sd_1 = tau_1 .* unit_1';  // on the scale of the data
  matrix[J_1, 3] r_1 = effect_1 .* rep_matrix(unit_1, J_1);
  matrix[3, 3] cor_1 = multiply_lower_tri_self_transpose(L_1);
  row_vector[1] unit_2 = [6.412339257244582];
  vector[1] sd_2 = tau_2 .* unit_2';  // on the scale of the data
  matrix[J_2, 1] r_2 = effect_2 .* rep_matrix(unit_2, J_2);
}
