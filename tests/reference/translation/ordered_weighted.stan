// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  array[N] int<lower=1, upper=4> y;  // 1 < 2 < 3 < 4
  vector[N] offset_;  // the sum of all offset terms
  vector<lower=0>[N] weight;
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[3] centre = [2.8822499999999995, 0.525, 0.2];
  row_vector[3] scale = [1.6786683524448773, 0.49937460888595453, 0.4000000000000001];
  matrix[N, 3] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  ordered[3] cut;  // cut points at average predictors
  vector[3] beta;  // per standard deviation
}
model {
  vector[N] eta = z * beta + offset_;
  cut ~ student_t(3, 0, 10);
  beta ~ normal(0, 10);
  for (i in 1:N) {
    target += weight[i] * ordered_logistic_lpmf(y[i] | eta[i], cut);
  }
}
generated quantities {
  vector[3] b = beta ./ scale';  // per unit of the columns of x
  vector[3] b_cut = cut + centre * b;  // at x = 0
}
