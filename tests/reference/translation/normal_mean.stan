// Rows with missing values are left out.
data {
  int<lower=1> N;
  vector[N] x;  // x
  vector<lower=0>[N] weight;
}
parameters {
  real theta;
}
model {
  theta ~ normal(0, 3.1622776601683795);
  for (i in 1:N) {
    target += weight[i] * normal_lpdf(x[i] | theta, 1);
  }
}
