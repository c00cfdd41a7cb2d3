// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
functions {
  real zero_inflated_poisson_log_lpmf(int y, real eta, real zi) {
    if (y > 0) {
      return log1m(zi) + poisson_log_lpmf(y | eta);
    }
    return log_mix(zi, 0, poisson_log_lpmf(0 | eta));
  }
}
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  array[N] int<lower=0> y;  // count
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
  real<lower=0, upper=1> zi;  // chance of an extra zero
}
model {
  vector[N] eta = alpha + z * beta + offset_;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  zi ~ beta(1, 1);
  for (i in 1:N) {
    target += zero_inflated_poisson_log_lpmf(y[i] | eta[i], zi);
  }
}
generated quantities {
  vector[3] b = beta ./ scale';  // per unit of the columns of x
  real b_Intercept = alpha - centre * b;  // at x = 0
}
