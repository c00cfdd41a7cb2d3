// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // age, income
  array[N] int<lower=1, upper=4> y;  // blue, green, none, red
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [0, 0];
  row_vector[2] scale = [17.61139102257401, 17.35602270106835];
  matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  matrix[2, 3] beta;  // per standard deviation; by level but the first
}
model {
  matrix[N, 4] eta = append_col(rep_vector(0, N), z * beta);
  // logit[green,age]
  beta[1, 1] ~ normal(0, 2.5);
  // logit[none,age]
  beta[1, 2] ~ normal(0, 2.5);
  // logit[red,age]
  beta[1, 3] ~ normal(0.3, 0.7);
  // logit[green,income]
  beta[2, 1] ~ normal(0, 2.5);
  // logit[none,income]
  beta[2, 2] ~ normal(0, 2.5);
  // logit[red,income]
  beta[2, 3] ~ normal(0, 2.5);
  for (i in 1:N) {
    target += categorical_logit_lpmf(y[i] | eta[i]');
  }
}
generated quantities {
  matrix[2, 3] b = block(beta, 1, 1, 2, 3) ./ rep_matrix(scale', 3);  // per unit of the columns of x
}
