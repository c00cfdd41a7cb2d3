// Rows with missing values are left out; columns of x are coded as listed.
// temp: reference level cold
// contact: reference level no
data {
  int<lower=1> N;
  matrix[N, 2] x;  // temp=warm, contact=yes
  array[N] int<lower=1, upper=5> y;  // poor < fair < good < very good < excellent
}
parameters {
  ordered[4] cut;  // cut points at x = 0
  vector[2] beta;  // per unit
}
model {
  vector[N] eta = x * beta;
  cut ~ student_t(3, 0, 4.33);
  beta ~ normal(0, 5);
  y ~ ordered_logistic(eta, cut);
}
generated quantities {
  vector[2] b = beta;  // per unit of the columns of x
  vector[4] b_cut = cut;  // at x = 0
}
