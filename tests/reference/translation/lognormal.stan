// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  vector<lower=0>[N] y;  // hours
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [2.8822499999999995, 0.06349999999999995];
  row_vector[2] scale = [1.6786683524448773, 1.0231044668067872];
  matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  real alpha;  // intercept at average predictors
  vector[2] beta;  // per standard deviation
  real<lower=0> sigma;  // standard deviation of the logarithm
}
model {
  vector[N] eta = alpha + z * beta;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma ~ student_t(1, 0, 1);
  y ~ lognormal(eta, sigma);
}
generated quantities {
  vector[2] b = beta ./ scale';  // per unit of the columns of x
  real b_Intercept = alpha - centre * b;  // at x = 0
}
