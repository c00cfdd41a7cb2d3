data {
  int<lower=1> N;  // rows
  vector[N] fee;
  array[N] int<lower=0> visits;
  array[N] int<lower=0> trials;
  array[N] int<lower=1, upper=3> region;  // 1 north, 2 south, 3 west
  vector[N] age;
  array[N] int<lower=0, upper=1> y1;  // (churned == "yes")
  array[N] int<lower=1> y2;  // (visits + 1)
  array[N] int<lower=0, upper=1> y3;  // churned == "yes"
  array[N] int y4;  // visits - 1
  array[N] int<lower=1> y5;  // visits - 3 * (visits > 2) + 1
  array[N] int<lower=1> y6;  // visits + 1
}
parameters {
  real a;
  real b;
  real<lower=0.0> h;
  real<lower=0.0> k;
  real<lower=0.0, upper=1.0> p;
  simplex[3] theta;
  ordered[5] cut;
  ordered[2] pair;
  vector[2] v;
}
model {
  a ~ normal(0.0, 1.0);
  b ~ normal(0.0, 0.1);
  h ~ exponential(1.0);
  k ~ exponential(0.5);
  p ~ beta(2.0, 3.0);
  theta ~ dirichlet([2.0, 1.0, 0.5]');
  cut ~ normal(0.0, 3.0);
  v ~ normal(0.0, 1.0);
  3 ~ poisson(k);
  1 ~ neg_binomial_2_log(a, k);
  0 ~ neg_binomial_2_log(a, k);
  4 ~ neg_binomial_2_log(a, k);
  5 ~ binomial(7, p);
  1 ~ bernoulli(theta[2]);
  2 ~ categorical(theta);
  for (i in 1:2) target += normal_lpdf(square(pair[i]) | 0.0, 2.0);
  for (n in 1:N) {
    real z = a + b * (fee[n] - 12.0);
    y1[n] ~ bernoulli(p);
    y1[n] ~ bernoulli_logit(z);
    visits[n] ~ binomial(trials[n], p);
    visits[n] ~ binomial_logit(trials[n], z);
    visits[n] ~ beta_binomial(trials[n], h, k);
    visits[n] ~ poisson(h);
    trials[n] ~ poisson_log(z);
    visits[n] ~ neg_binomial_2(h, k);
    trials[n] ~ neg_binomial_2_log(z, h);
    visits[n] ~ neg_binomial(1, p / (1 - p));
    y2[n] ~ ordered_logistic(z, cut);
    region[n] ~ categorical(theta);
    region[n] ~ categorical_logit([0.0, v[1] + b * age[n], v[2]]');
    target += log_mix(p, bernoulli_lpmf(y3[n] | inv_logit(v[1])), bernoulli_logit_lpmf(y3[n] | v[2]));
    target += log_sum_exp({binomial_lpmf(visits[n] | trials[n], p), binomial_logit_lpmf(visits[n] | trials[n], z), beta_binomial_lpmf(visits[n] | trials[n], k, h)});
    target += (0.0 < 1.0 * visits[n] ? log1p(-p) + (0 <= y4[n] ? poisson_lpmf(y4[n] | k) : negative_infinity()) : log(p));
    target += log_mix(p, poisson_log_lpmf(visits[n] | z), neg_binomial_lpmf(visits[n] | 1, p / (1 - p)));
    target += log_mix(p, neg_binomial_2_lpmf(trials[n] | k, h), neg_binomial_2_log_lpmf(trials[n] | z, k));
    target += log_mix(p, categorical_lpmf(region[n] | theta), categorical_logit_lpmf(region[n] | [v[1], v[2], 0.0]'));
    target += ordered_logistic_lpmf(y5[n] | v[1], pair);
    target += log_mix(p, (0 <= y4[n] ? poisson_lpmf(y4[n] | k) : negative_infinity()), (0 <= visits[n] && visits[n] <= 3 ? binomial_lpmf(visits[n] | 3, p) : negative_infinity()));
    target += (1.0 * visits[n] < 3.0 ? log_mix(p, (1 <= y6[n] && y6[n] <= 3 ? ordered_logistic_lpmf(y6[n] | v[2], pair) : negative_infinity()), (0 <= visits[n] && visits[n] <= 1 ? bernoulli_lpmf(visits[n] | p) : negative_infinity())) : 0.0);
  }
}
