// Rows with missing values are left out; columns of x are coded as listed.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  vector[N] y;  // y
  vector<lower=0>[N] weight;
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [0, 0];
  row_vector[2] scale = [1.6786683524448773, 1.0231044668067872];
  matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
  // population standard deviation of y
  real y_centre = 0;
  real y_scale = 6.412339257244582;
}
parameters {
  vector[2] beta;  // per standard deviation, in y_scale
  real<lower=0> sigma_std;  // residual scale, in y_scale
}
model {
  vector[N] eta = y_centre + y_scale * (z * beta);
  beta ~ normal(0, 10);
  sigma_std ~ inv_gamma(2, 1);
  for (i in 1:N) {
    target += weight[i] * normal_lpdf(y[i] | eta[i], y_scale * sigma_std);
  }
}
generated quantities {
  vector[2] b = y_scale * beta ./ scale';  // per unit of the columns of x
  real sigma = y_scale * sigma_std;
}
