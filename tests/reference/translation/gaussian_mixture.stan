// Rows with missing values are left out.
data {
  int<lower=1> N;
  array[N] vector[2] x;  // x, z
}
parameters {
  vector[2] theta1;
  vector[2] theta2;
}
model {
  theta1 ~ normal(0, 3.1622776601683795);
  theta2 ~ normal(0, 3.1622776601683795);
  for (i in 1:N) {
    target += log_mix(0.5, normal_lpdf(x[i] | theta1, 1), normal_lpdf(x[i] | theta1 + theta2, 1));
  }
}
