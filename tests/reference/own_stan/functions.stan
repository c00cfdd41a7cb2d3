data {
  int<lower=1> N;  // rows
  int<lower=1> K_region;
  int<lower=1> K_plan;
  int<lower=1> K_x;
  int<lower=1> K_counts;
  matrix[N, K_x] x;  // age, fee
  array[N] int<lower=1, upper=K_region> region;  // 1 north, 2 south, 3 west
  array[N] int<lower=1, upper=K_plan> plan;  // 1 basic, 2 pro
  array[N, K_counts] int<lower=0> counts;  // visits, trials
  vector[N] fee;
  vector[N] age;
  vector[N] visits;
  vector[N] trials;
  array[N] int<lower=0, upper=1> y1;  // (churned == "yes")
}
parameters {
  real a;
  real b;
  real<lower=0.0> s;
  real<lower=0.0, upper=1.0> q;
  vector[K_x] w;
  array[K_region] vector[K_plan] e;
  array[K_plan] vector[3] u;
  array[3] vector[K_x] A;
  array[2] vector[3] B;
  real<lower=-1.0> near;
  vector<lower=-1.0, upper=3.0>[2] within;
}
transformed parameters {
  array[3] vector[3] P;
  for (i in 1:3) for (j in 1:3) P[i, j] = A[i, 1] * B[1, j] + A[i, 2] * B[2, j];
  vector[3] r;
  for (i in 1:3) r[i] = w[1] * B[1, i] + w[2] * B[2, i];
  vector[2] scaled;
  for (i in 1:2) scaled[i] = w[i] * s + 1.0;
}
model {
  a ~ normal(0.0, 1.0);
  b ~ normal(0.0, 1.0);
  s ~ exponential(1.0);
  q ~ beta(2.0, 2.0);
  w ~ normal(0.0, 1.0);
  for (i in 1:K_region) e[i] ~ normal(0.0, s);
  u[1, 1] ~ normal(0.0, 2.0);
  u[1, 2] ~ normal(0.0, 2.0);
  u[1, 3] ~ normal(1.0, 2.0);
  u[2, 1] ~ normal(0.0, 2.0);
  u[2, 2] ~ normal(0.0, 2.0);
  u[2, 3] ~ normal(1.0, 2.0);
  for (i in 1:3) A[i] ~ normal(0.0, 1.0);
  for (i in 1:2) B[i] ~ normal(0.0, 1.0);
  near ~ normal(0.0, 1.0);
  within ~ normal(1.0, 1.0);
  target += -exp(a) + log(s) + log1p(s) - expm1(b) - sqrt(s) - square(a) - abs(b) - lgamma(s + 1.0) - tanh(a) * atan(b);
  target += inv_logit(a) + inv_logit(b) - inv_logit(a * b) + log1p_exp(a) - log1p_exp(b) + log(q) - logit(q)^2.0;
  target += sin(a) + cos(b) + erf(a) - erfc(b) + Phi(b) + normal_lcdf(3.0 * a - 2.0 | 0, 1) + log1m_exp(-s) + log_diff_exp(s + a, a);
  target += log_mix(q, a, b) - log_sum_exp({a, b, s}) - min({a, b}) + max({a, b, 0.0}) - log_sum_exp({-positive_infinity(), near});
  target += -sum({w[1]^2.0, w[2]^2.0}) - mean({square(within[1]), square(within[2])}) + w[1] * within[1] + w[2] * within[2] - log_sum_exp({w[1], w[2]}) - min({within[1], within[2]}) + max({w[1] * 2.0, r[1]}) * 0.1;
  target += -0.5 * (r[1] * r[1] + r[2] * r[2] + r[3] * r[3]) / 3.0 - 0.1 * sum({square(dot_product(P[1], r)), square(dot_product(P[2], r)), square(dot_product(P[3], r))});
  target += -0.5 * ((within[1] - 1.0) * (1.0 * (within[1] - 1.0) + 0.5 * (within[2] - 1.0)) + (within[2] - 1.0) * (0.5 * (within[1] - 1.0) + 2.0 * (within[2] - 1.0)));
  target += -a^2.0 - (a - (b - s)) / (1.0 + s * s) - (-a)^2.0 / 2.0^(-b) - 2.0^(s^q) / 10.0 + 1.0 * (a < b) - 1.0 * (q < a) * 0.5 + 1 - 1.0 * (s == 1.0) + pi() / (1.0 + s);
  target += (a < 2.0 ? normal_lcdf(a | 0.0, 1.0) + normal_lccdf(b | a, s) + log(normal_cdf(b | a, s)) : -1.0);
  target += lognormal_lcdf(s | a, 1.0) + lognormal_lccdf(s | b, 2.0) + logistic_lcdf(a | b, s) + logistic_lccdf(b | a, s);
  for (n in 1:N) {
    vector[3] layer;
    layer[1] = tanh(A[1, 1] * ((x[n, 1] - 40.0) / 10.0) + A[1, 2] * ((x[n, 2] - 12.0) / 10.0));
    layer[2] = tanh(A[2, 1] * ((x[n, 1] - 40.0) / 10.0) + A[2, 2] * ((x[n, 2] - 12.0) / 10.0));
    layer[3] = tanh(A[3, 1] * ((x[n, 1] - 40.0) / 10.0) + A[3, 2] * ((x[n, 2] - 12.0) / 10.0));
    real inner = w[1] * ((x[n, 1] - 40.0) / 10.0) + w[2] * ((x[n, 2] - 12.0) / 10.0) + e[region[n], plan[n]] + u[plan[n], 1] * layer[1] + u[plan[n], 2] * layer[2] + u[plan[n], 3] * layer[3];
    y1[n] ~ bernoulli_logit(inner);
    for (i in 1:2) counts[n, i] ~ poisson(s);
    fee[n] ~ normal(sum({(x[n, 1] - 40.0) / 10.0, (x[n, 2] - 12.0) / 10.0}) + mean({(x[n, 1] - 40.0) / 10.0, (x[n, 2] - 12.0) / 10.0}) * a - mean(x[n]) / 40.0 + sum(x[n]) / 60.0 - log_sum_exp({(x[n, 1] - 40.0) / 10.0, (x[n, 2] - 12.0) / 10.0}) + min({(x[n, 1] - 40.0) / 10.0, (x[n, 2] - 12.0) / 10.0}) * max({(x[n, 1] - 40.0) / 10.0, (x[n, 2] - 12.0) / 10.0}), s);
    target += (40.0 <= age[n] ? normal_lccdf(fee[n] | 12.0 + a, s + 5.0) : normal_lpdf(fee[n] | b, s));
    target += (region[n] == 2 ? log(normal_cdf(fee[n] | 15.0 + a, 5.0)) : normal_lcdf(fee[n] | 10.0 * b, 5.0));
    target += weibull_lccdf(fee[n] | s + 0.5, 20.0) + weibull_lcdf(age[n] | q + 1.0, 40.0) + exponential_lccdf(fee[n] | s / 10.0) + exponential_lcdf(age[n] | s / 20.0);
    target += log(Phi(a * fee[n] / 20.0)) + normal_lcdf(b - fee[n] / 10.0 | 0, 1) + 0.1 * erf(a * (x[n, 2] - 12.0) / 10.0) - 0.1 * erfc(b * (x[n, 1] - 40.0) / 10.0);
    target += 0.1 * sin(a * age[n]) * cos(b * fee[n]) - sqrt(square(a) + fee[n]) + abs(b - (x[n, 1] - 40.0) / 10.0) + (1 - 1.0 * (visits[n] == 2.0) != 0 ? a : b) * 1.0 * (trials[n] <= 5.0);
  }
}
generated quantities {
  real total = sum({scaled[1], scaled[2]});
  vector[2] half;
  for (i in 1:2) half[i] = scaled[i] / 2.0;
}
