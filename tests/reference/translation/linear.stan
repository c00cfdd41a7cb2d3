// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  vector[N] y;  // y
  vector[N] offset_;  // the sum of all offset terms
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[3] centre = [2.8822499999999995, 0.525, 0.2];
  row_vector[3] scale = [1.6786683524448773, 0.49937460888595453, 0.4000000000000001];
  matrix[N, 3] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
  // mean and population standard deviation of y - offset_
  real y_centre = 30.713749999999997;
  real y_scale = 6.365047009842111;
}
parameters {
  real alpha;  // intercept at average predictors, in y_scale from y_centre
  vector[3] beta;  // per standard deviation, in y_scale
  real<lower=0> sigma_std;  // residual scale, in y_scale
}
model {
  vector[N] eta = y_centre + y_scale * (alpha + z * beta) + offset_;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma_std ~ student_t(3, 0, 2.5);
  y ~ normal(eta, y_scale * sigma_std);
}
generated quantities {
  vector[3] b = y_scale * beta ./ scale';  // per unit of the columns of x
  real b_Intercept = y_centre + y_scale * alpha - centre * b;  // at x = 0
  real sigma = y_scale * sigma_std;
}
