// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 1] x;  // x
  array[N] int<lower=0> y;  // count
  vector[N] offset_;  // the sum of all offset terms
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
  matrix[N, 2] w_1;  // Intercept, x (a column of 1 for Intercept)
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[1] centre = [2.8822499999999995];
  row_vector[1] scale = [1.6786683524448773];
  matrix[N, 1] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
  // population standard deviations of the columns of w_1; they are not centred
  row_vector[2] w_scale_1 = [1, 1.6786683524448773];
  matrix[N, 2] ws_1 = w_1 ./ rep_matrix(w_scale_1, N);
}
parameters {
  real alpha;  // intercept at average predictors
  vector[1] beta;  // per standard deviation
  real<lower=0> shape;  // shape of the overdispersion
  vector<lower=0>[2] tau_1;  // standard deviations between groups
  matrix[2, J_1] v_1;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 2] effect_1 = (diag_matrix(tau_1) * v_1)';
}
model {
  vector[N] eta = alpha + z * beta + rows_dot_product(ws_1, effect_1[group_1]) + offset_;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  shape ~ lognormal(2, 2);
  tau_1 ~ student_t(3, 0, 2.5);
  to_vector(v_1) ~ std_normal();
  y ~ neg_binomial_2_log(eta, shape);
}
generated quantities {
  vector[1] b = beta ./ scale';  // per unit of the columns of x
  real b_Intercept = alpha - centre * b;  // at x = 0
  row_vector[2] unit_1 = [1, 0.59571028341814];
  vector[2] sd_1 = tau_1 .* unit_1';  // on the scale of the data
  matrix[J_1, 2] r_1 = effect_1 .* rep_matrix(unit_1, J_1);
}
