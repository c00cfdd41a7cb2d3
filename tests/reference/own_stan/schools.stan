data {
  int<lower=1> N;  // rows
  int<lower=1> K_region;
  vector[N] fee;
  array[N] int<lower=1, upper=K_region> region;  // 1 north, 2 south, 3 west
  vector[N] age;
}
parameters {
  real mu;
  real<lower=0.0, upper=20.0> tau;
  vector[K_region] z;
  real<upper=3.0> low;
  real<lower=0.0, upper=1.0> share;
  real<lower=0.0> rate;
}
transformed parameters {
  vector[3] theta;
  for (i in 1:3) theta[i] = mu + tau * z[i];
}
model {
  mu ~ normal(0.0, 5.0);
  tau ~ cauchy(0, 5.0);
  z ~ normal(0.0, 1.0);
  low ~ logistic(0.0, 1.0);
  share ~ beta(2.0, 3.0);
  rate ~ exponential(0.5);
  target += -abs(mu) - tanh(low)^2.0 + atan(mu) * min({tau, rate}) - log_sum_exp({z[1], z[2], z[3]});
  for (n in 1:N) {
    fee[n] ~ student_t(4.0, theta[region[n]], rate + log1p_exp(low));
    target += log_mix(share, normal_lpdf(age[n] | 40.0, 10.0), gumbel_lpdf(age[n] | 30.0, 5.0));
  }
}
