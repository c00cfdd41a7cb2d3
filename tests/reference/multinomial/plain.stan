// Rows with missing values are left out; columns of x are coded as listed.
// region: reference level east
data {
  int<lower=1> N;
  matrix[N, 4] x;  // age, income, region=north, region=west
  array[N] int<lower=1, upper=4> y;  // blue, green, none, red
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[4] centre = [50.1625, 33.72600000000002, 0.31, 0.38];
  row_vector[4] scale = [17.61139102257401, 17.35602270106835, 0.46249324319388885, 0.4853864439804642];
  matrix[N, 5] z = append_col(rep_vector(1, N), (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N));
}
parameters {
  matrix[5, 3] beta;  // intercept at average predictors, then per standard deviation; by level but the first
}
model {
  matrix[N, 4] eta = append_col(rep_vector(0, N), z * beta);
  beta[1] ~ normal(0, 2.5);
  to_vector(beta[2:5]) ~ normal(0, 2.5);
  for (i in 1:N) {
    target += categorical_logit_lpmf(y[i] | eta[i]');
  }
}
generated quantities {
  matrix[4, 3] b = block(beta, 2, 1, 4, 3) ./ rep_matrix(scale', 3);  // per unit of the columns of x
  row_vector[3] b_Intercept = beta[1] - centre * b;  // at x = 0
}
