// Rows with missing values are left out; columns of x are coded as listed.
// plan: reference level a
functions {
  real weibull_censored_lpdf(real y, real a, real b, int status) {
    if (status == 1) {
      return weibull_lccdf(y | a, b);
    }
    if (status == -1) {
      return weibull_lcdf(y | a, b);
    }
    return weibull_lpdf(y | a, b);
  }
}
data {
  int<lower=1> N;
  matrix[N, 3] x;  // x, plan=b, plan=c
  vector<lower=0>[N] y;  // hours
  array[N] int<lower=-1, upper=1> status;  // 0: y was seen; 1: it is larger; -1: it is smaller
  vector<lower=0>[N] weight;
}
parameters {
  real alpha;  // intercept at x = 0
  vector[3] beta;  // per unit
  real<lower=0> shape;  // shape of the Weibull distribution
}
model {
  vector[N] eta = alpha + x * beta;
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  shape ~ lognormal(0.5, 1);
  for (i in 1:N) {
    target += weight[i] * weibull_censored_lpdf(y[i] | shape, exp(eta[i] - lgamma(1 + 1 / shape)), status[i]);
  }
}
generated quantities {
  vector[3] b = beta;  // per unit of the columns of x
  real b_Intercept = alpha;  // at x = 0
}
