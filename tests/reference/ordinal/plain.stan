// Rows with missing values are left out; columns of x are coded as listed.
// temp: reference level cold
// contact: reference level no
data {
  int<lower=1> N;
  matrix[N, 2] x;  // temp=warm, contact=yes
  array[N] int<lower=1, upper=5> y;  // 1 < 2 < 3 < 4 < 5
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [0.5, 0.5];
  row_vector[2] scale = [0.5, 0.5];
  matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  ordered[4] cut;  // cut points at average predictors
  vector[2] beta;  // per standard deviation
}
model {
  vector[N] eta = z * beta;
  cut ~ student_t(3, 0, 2.5);
  beta ~ normal(0, 2.5);
  y ~ ordered_logistic(eta, cut);
}
generated quantities {
  vector[2] b = beta ./ scale';  // per unit of the columns of x
  vector[4] b_cut = cut + centre * b;  // at x = 0
}
