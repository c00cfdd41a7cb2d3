data {
  int<lower=1> N;  // rows
  int<lower=1> K_region;
  int<lower=1> K_plan;
  vector[N] age;
  vector[N] fee;
  array[N] int<lower=1, upper=K_plan> plan;  // 1 basic, 2 pro
  array[N] int<lower=1, upper=K_region> region;  // 1 north, 2 south, 3 west
  array[N] int<lower=0> visits;
  array[N] int<lower=0> trials;
  array[N] int<lower=0, upper=1> y1;  // (churned == "yes")
}
parameters {
  real a;
  real<lower=0.0> s;
  vector[K_region] b;
  array[K_plan] vector[2] w;
  array[2] vector[3] m;
}
model {
  a ~ normal(0.0, 10.0);
  s ~ student_t(3.0, 0.0, 2.5);
  b ~ normal(0.0, s);
  for (i in 1:K_plan) w[i] ~ double_exponential(0.0, 1.0);
  for (i in 1:2) m[i] ~ cauchy(0.0, 2.0);
  for (n in 1:N) {
    real years = age[n] / 12.0 - fee[n]^2.0 / 100.0;
    real slope = w[plan[n], 1] * years + w[plan[n], 2] * fee[n] - (a - b[region[n]]) / 2.0;
    y1[n] ~ bernoulli_logit(slope + m[2, 3] * (40.0 < age[n] ? 1.0 : -1.0));
    visits[n] ~ binomial(trials[n], inv_logit(m[1, 1] - years * m[1, 2]));
  }
}
generated quantities {
  real odds = exp(a);
  vector[3] spread;
  for (i in 1:3) spread[i] = b[i] - mean({b[1], b[2], b[3]});
}
