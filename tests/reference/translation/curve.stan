// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  vector[N] y;  // y
  matrix[N, 8] c_1;  // functions that bend s(x)
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [2.8822499999999995, 0.06349999999999995];
  row_vector[2] scale = [1.6786683524448773, 1.0231044668067872];
  matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
  // mean and population standard deviation of y
  real y_centre = 32.529500000000006;
  real y_scale = 6.412339257244582;
}
parameters {
  real alpha;  // intercept at average predictors, in y_scale from y_centre
  vector[2] beta;  // per standard deviation, in y_scale
  vector[8] curve_1;  // their coefficients in units of the standard deviation
  real<lower=0> sigma_std;  // residual scale, in y_scale
  real<lower=0> tau_curve_1;  // standard deviation of s(x) around its line, in y_scale
}
model {
  vector[N] eta = y_centre + y_scale * (alpha + z * beta + c_1 * (tau_curve_1 * curve_1));
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  curve_1 ~ std_normal();
  sigma_std ~ student_t(3, 0, 2.5);
  tau_curve_1 ~ student_t(3, 0, 2.5);
  y ~ normal(eta, y_scale * sigma_std);
}
generated quantities {
  vector[2] b = y_scale * beta ./ scale';  // per unit of the columns of x
  real b_Intercept = y_centre + y_scale * alpha - centre * b;  // at x = 0
  real sigma = y_scale * sigma_std;
  real sd_curve_1 = y_scale * tau_curve_1;
  vector[8] bend_1 = sd_curve_1 * curve_1;
}
