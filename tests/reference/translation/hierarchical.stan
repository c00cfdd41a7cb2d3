// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  int<lower=1> G;  // groups of school
  array[N] int<lower=1, upper=G> g;  // that of each row
  matrix[N, 1] x;  // x
  array[N] int<lower=0, upper=1> y;  // 1 where bin is yes
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[1] centre = [2.8822499999999995];
  row_vector[1] scale = [1.6786683524448773];
  matrix[N, 2] z = append_col(rep_matrix(1, N, 1), (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N));
}
parameters {
  vector[2] mu;  // means over groups
  cov_matrix[2] Sigma;  // covariance between groups
  matrix[2, G] v;  // deviations of groups from mu, uncorrelated with unit variance
}
transformed parameters {
  matrix[2, G] theta = rep_matrix(mu, G) + cholesky_decompose(Sigma) * v;
}
model {
  vector[N] eta = rows_dot_product(z, theta[ : , g]');
  mu ~ multi_normal([0, 0]', Sigma / 0.01);
  Sigma ~ inv_wishart(5, diag_matrix([1, 2]'));
  to_vector(v) ~ std_normal();
  y ~ bernoulli_logit(eta);
}
generated quantities {
  // on the scale of the columns of x
  matrix[2, 2] T = append_col(append_row([1]', rep_vector(0, 1)), append_row(-centre ./ scale, diag_matrix((1 ./ scale)')));
  vector[2] mu_x = T * mu;
  matrix[2, 2] Sigma_x = T * Sigma * T';
  matrix[2, G] theta_x = T * theta;
}
