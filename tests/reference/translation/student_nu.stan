// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 1] x;  // x
  vector[N] y;  // y
  vector<lower=0>[N] weight;
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[1] centre = [2.8822499999999995];
  row_vector[1] scale = [1.6786683524448773];
  matrix[N, 1] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
  // mean and population standard deviation of y
  real y_centre = 32.529500000000006;
  real y_scale = 6.412339257244582;
}
parameters {
  real alpha;  // intercept at average predictors, in y_scale from y_centre
  vector[1] beta;  // per standard deviation, in y_scale
  real<lower=0> sigma_std;  // residual scale, in y_scale
}
model {
  vector[N] eta = y_centre + y_scale * (alpha + z * beta);
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma_std ~ student_t(1, 0, 2);
  for (i in 1:N) {
    target += weight[i] * student_t_lpdf(y[i] | 4, eta[i], y_scale * sigma_std);
  }
}
generated quantities {
  vector[1] b = y_scale * beta ./ scale';  // per unit of the columns of x
  real b_Intercept = y_centre + y_scale * alpha - centre * b;  // at x = 0
  real sigma = y_scale * sigma_std;
}
