data {
  int<lower=1> N;  // rows
  int<lower=1> K_plan;
  vector[N] fee;
  array[N] int<lower=1, upper=K_plan> plan;  // 1 basic, 2 pro
  array[N] int<lower=0> visits;
  array[N] int<lower=0> trials;
  vector[N] age;
  array[N] int<lower=0> y1;  // (visits + trials)
}
parameters {
  simplex[3] p;
  array[K_plan] simplex[2] q;
  real<lower=0.0> phi;
  real<lower=0.0> g;
  vector[3] c;
}
model {
  p ~ dirichlet([1.0, 2.0, 3.0]');
  for (i in 1:K_plan) q[i] ~ dirichlet(rep_vector(0.7, 2));
  phi ~ inv_gamma(2.0, 1.0);
  g ~ lognormal(0.0, 1.0);
  c[1] ~ normal(0.0, 2.0);
  c[2] ~ normal(1.0, 2.0);
  c[3] ~ normal(-1.0, 2.0);
  for (n in 1:N) {
    real zero = p[1];
    real rate = exp(c[1] + c[2] * log(fee[n])) * q[plan[n], 1];
    target += (1.0 * visits[n] == 0.0 ? log_sum_exp({log(zero), log1p(-zero) + poisson_lpmf(visits[n] | rate)}) : log1p(-zero) + poisson_lpmf(visits[n] | rate));
    visits[n] ~ neg_binomial_2(rate + p[2] / p[3], phi);
    trials[n] ~ neg_binomial(1, inv_logit(c[3]) / (1 - inv_logit(c[3])));
    y1[n] ~ poisson_log(sqrt(g) + expm1(-phi / 10.0));
    fee[n] ~ weibull(1.5 + g, 12.0 / square(1.0 + q[plan[n], 2]));
    age[n] ~ gamma(2.0, rate / (rate + 1.0));
  }
}
