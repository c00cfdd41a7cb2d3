// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  array[N] int<lower=0, upper=1> y;  // 1 where bin is yes
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
}
model {
  vector[N] eta = alpha + z * beta;
  alpha ~ student_t(4, 1, 3);
  // x
  beta[1] ~ double_exponential(1, 2);
  // plan=b
  beta[2] ~ normal(0, 10);
  // plan=c
  beta[3] ~ normal(0, 10);
  y ~ bernoulli_logit(eta);
}
generated quantities {
  vector[3] b = beta ./ scale';  // per unit of the columns of x
  real b_Intercept = alpha - centre * b;  // at x = 0
}
