// Rows with missing values are left out; columns of x are coded as listed.
// region: reference level east
data {
  int<lower=1> N;
  matrix[N, 4] x;  // age, income, region=north, region=west
  array[N] int<lower=1, upper=4> y;  // red, none, blue, green
  vector<lower=0>[N] weight;
}
transformed data {
  matrix[N, 5] z = append_col(rep_vector(1, N), x);
}
parameters {
  matrix[5, 3] beta;  // intercept at x = 0, then per unit; by level but the first
}
model {
  matrix[N, 4] eta = append_col(rep_vector(0, N), z * beta);
  beta[1] ~ student_t(3, 0, 2);
  to_vector(beta[2:5]) ~ normal(0, 1);
  for (i in 1:N) {
    target += weight[i] * categorical_logit_lpmf(y[i] | eta[i]');
  }
}
generated quantities {
  matrix[4, 3] b = block(beta, 2, 1, 4, 3);  // per unit of the columns of x
  row_vector[3] b_Intercept = beta[1];  // at x = 0
}
