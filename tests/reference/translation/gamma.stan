// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  vector<lower=0>[N] y;  // hours
  vector[N] offset_;  // the sum of all offset terms
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[3] centre = [2.8822499999999995, 0.525, 0.2];
  row_vector[3] scale = [1.6786683524448773, 0.49937460888595453, 0.4000000000000001];
  matrix[N, 3] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  real alpha;  // intercept at average predictors
  vector[3] beta;  // per standard deviation
  real<lower=0> shape;  // shape of the gamma distribution
}
model {
  vector[N] eta = alpha + z * beta + offset_;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  shape ~ lognormal(2, 2);
  y ~ gamma(shape, shape * exp(-eta));
}
generated quantities {
  vector[3] b = beta ./ scale';  // per unit of the columns of x
  real b_Intercept = alpha - centre * b;  // at x = 0
}
