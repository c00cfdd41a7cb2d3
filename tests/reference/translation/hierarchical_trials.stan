// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  int<lower=1> G;  // groups of school
  array[N] int<lower=1, upper=G> g;  // that of each row
  matrix[N, 2] x;  // x, z
  array[N] int<lower=0> y;  // successes: succ
  array[N] int<lower=1> trials;
  vector[N] offset_;  // the sum of all offset terms
  vector<lower=0>[N] weight;
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [2.8822499999999995, 0.06349999999999995];
  row_vector[2] scale = [1.6786683524448773, 1.0231044668067872];
  matrix[N, 3] z = append_col(rep_matrix(1, N, 1), (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N));
}
parameters {
  vector[3] mu;  // means over groups
  cov_matrix[3] Sigma;  // covariance between groups
  matrix[3, G] v;  // deviations of groups from mu, uncorrelated with unit variance
}
transformed parameters {
  matrix[3, G] theta = rep_matrix(mu, G) + cholesky_decompose(Sigma) * v;
}
model {
  vector[N] eta = rows_dot_product(z, theta[ : , g]') + offset_;
  mu ~ multi_normal([0, 0, 0]', Sigma / 0.01);
  Sigma ~ inv_wishart(5, diag_matrix([1, 1, 1]'));
  to_vector(v) ~ std_normal();
  for (i in 1:N) {
    target += weight[i] * binomial_logit_lpmf(y[i] | trials[i], eta[i]);
  }
}
generated quantities {
  // on the scale of the columns of x
  matrix[3, 3] T = append_col(append_row([1]', rep_vector(0, 2)), append_row(-centre ./ scale, diag_matrix((1 ./ scale)')));
  vector[3] mu_x = T * mu;
  matrix[3, 3] Sigma_x = T * Sigma * T';
  matrix[3, G] theta_x = T * theta;
}
