data {
  int<lower=1> N;  // rows
  vector[N] fee;
  vector[N] age;
}
parameters {
  real a;
  real b;
  real c;
  real d;
  real f;
  real<lower=-1.0, upper=2.0> g;
  real<lower=0.0> h;
  real<lower=0.0> k;
  real<lower=0.0> l;
  real<lower=0.5> m;
  real<lower=0.0> o;
  real<lower=0.0, upper=1.0> p;
  real<lower=0.0> q;
  real<lower=0.0> t;
}
model {
  a ~ std_normal();
  b ~ skew_normal(0.5, 1.5, 2.0);
  c ~ student_t(4.0, 1.0, 2.0);
  d ~ double_exponential(0.0, 1.0);
  f ~ gumbel(1.0, 2.0);
  g ~ uniform(-1.0, 2.0);
  h ~ normal(0, 2.0);
  k ~ chi_square(3.0);
  l ~ weibull(1.5, 2.0);
  m ~ pareto(0.5, 2.0);
  o ~ gamma(2.0, 1.0);
  p ~ beta_proportion(0.3, 5.0);
  q ~ lognormal(0.0, 1.0);
  t ~ inv_gamma(3.0, 2.0);
  target += log_mix(p, (0 < a ? gamma_lpdf(a | 2.0, o) : negative_infinity()), std_normal_lpdf(a | ));
  target += normal_lpdf(b | a, h);
  target += std_normal_lpdf(b | );
  target += skew_normal_lpdf(c | a, h, b);
  target += student_t_lpdf(c | k, a, h);
  target += cauchy_lpdf(d | a, l);
  target += double_exponential_lpdf(d | f, o);
  target += double_exponential_lpdf(d | g, o);
  target += logistic_lpdf(f | d, q);
  target += gumbel_lpdf(f | b, h);
  target += log_mix(p, (log(2) + normal_lpdf(h | 0, q)), (log(2) + student_t_lpdf(h | o, 0.0, l)));
  target += log_sum_exp({(log(2) + cauchy_lpdf(l | 0, o)), exponential_lpdf(l | o)});
  target += gamma_lpdf(o | h, k) - inv_gamma_lpdf(o | h, k) / 2.0;
  target += chi_square_lpdf(q | o);
  target += lognormal_lpdf(q | b, o);
  target += weibull_lpdf(t | o, q);
  target += (0.4 <= m ? pareto_lpdf(m | 0.4, o) : negative_infinity());
  target += beta_lpdf(p | k, l);
  target += beta_proportion_lpdf(p | inv_logit(a), l);
  target += (-1.0 - h <= g && g <= 2.0 + h ? uniform_lpdf(g | -1.0 - h, 2.0 + h) : negative_infinity());
  for (n in 1:N) {
    real share = fee[n] / 25.0;
    fee[n] ~ normal(a, h);
    target += std_normal_lpdf(fee[n] - 12.0 | );
    fee[n] ~ skew_normal(c, o, b);
    fee[n] ~ student_t(k, a + c, h);
    fee[n] ~ cauchy(d, l);
    fee[n] ~ double_exponential(f, o);
    age[n] ~ double_exponential(f, 20.0);
    fee[n] ~ logistic(a * b, q);
    fee[n] ~ gumbel(d, h);
    fee[n] ~ normal(0, 10.0 * q);
    fee[n] ~ student_t(o, 0.0, l);
    fee[n] ~ cauchy(0, h);
    fee[n] ~ exponential(t);
    fee[n] ~ gamma(k, o);
    fee[n] ~ inv_gamma(k, l);
    fee[n] ~ chi_square(k + 5.0);
    fee[n] ~ lognormal(b, h);
    fee[n] ~ weibull(o, 10.0 * q);
    age[n] ~ pareto(m, h);
    share ~ beta(h, k);
    share ~ beta_proportion(p, o);
    fee[n] ~ uniform(a - 30.0, c + 40.0);
    target += normal_lpdf(log(age[n]) | a, h);
    target += (0 <= fee[n] - d ? (log(2) + normal_lpdf(fee[n] - d | 0, q)) : negative_infinity());
    target += (0 < age[n] - d ? gamma_lpdf(age[n] - d | k, o) : negative_infinity());
    target += log_mix(p, (0 < fee[n] - 10.0 ? lognormal_lpdf(fee[n] - 10.0 | b, h) : negative_infinity()), normal_lpdf(fee[n] | 10.0, 5.0));
    target += log_mix(p, (0 < fee[n] / 15.0 && fee[n] / 15.0 < 1 ? beta_lpdf(fee[n] / 15.0 | h, k) : negative_infinity()), (0 <= fee[n] - 8.0 ? (log(2) + normal_lpdf(fee[n] - 8.0 | 0, h)) : negative_infinity()));
    target += log_mix(p, (9.0 <= fee[n] ? pareto_lpdf(fee[n] | 9.0, o) : negative_infinity()), (7.0 <= fee[n] && fee[n] <= 12.0 + o ? uniform_lpdf(fee[n] | 7.0, 12.0 + o) : negative_infinity()));
  }
}
