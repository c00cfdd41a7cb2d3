// Rows with missing values are left out.
data {
  int<lower=1> N;
  vector[N] x;  // z
}
parameters {
  vector[2] theta;
}
model {
  theta ~ normal(0, 1);
  for (i in 1:N) {
    target += normal_lpdf(x[i] | theta[1] + square(theta[2]), 2);
  }
}
