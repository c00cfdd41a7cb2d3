// Rows with missing values are left out.
data {
  int<lower=1> N;
  vector[N] x;  // x
}
parameters {
  real mu;
  real<lower=0> tau;
}
model {
  mu ~ normal(0, inv_sqrt(tau));
  tau ~ gamma(5, 1);
  for (i in 1:N) {
    target += normal_lpdf(x[i] | mu, inv_sqrt(tau));
  }
}
