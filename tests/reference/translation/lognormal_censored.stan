// Rows with missing values are left out; columns of x are coded as listed.
functions {
  real lognormal_censored_lpdf(real y, real a, real b, int status) {
    if (status == 1) {
      return lognormal_lccdf(y | a, b);
    }
    if (status == -1) {
      return lognormal_lcdf(y | a, b);
    }
    return lognormal_lpdf(y | a, b);
  }
}
data {
  int<lower=1> N;
  matrix[N, 1] x;  // x
  vector<lower=0>[N] y;  // hours
  array[N] int<lower=-1, upper=1> status;  // 0: y was seen; 1: it is larger; -1: it is smaller
  int<lower=1> J_1;  // groups of school
  array[N] int<lower=1, upper=J_1> group_1;  // that of each row
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[1] centre = [2.8822499999999995];
  row_vector[1] scale = [1.6786683524448773];
  matrix[N, 1] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  real alpha;  // intercept at average predictors
  vector[1] beta;  // per standard deviation
  real<lower=0> sigma;  // standard deviation of the logarithm
  vector<lower=0>[1] tau_1;  // standard deviations between groups
  matrix[1, J_1] v_1;  // effects in units of their standard deviation
}
transformed parameters {
  matrix[J_1, 1] effect_1 = (diag_matrix(tau_1) * v_1)';
}
model {
  vector[N] eta = alpha + z * beta + effect_1[group_1, 1];
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma ~ student_t(3, 0, 1);
  tau_1 ~ student_t(3, 0, 2.5);
  to_vector(v_1) ~ std_normal();
  for (i in 1:N) {
    target += lognormal_censored_lpdf(y[i] | eta[i], sigma, status[i]);
  }
}
generated quantities {
  vector[1] b = beta ./ scale';  // per unit of the columns of x
  real b_Intercept = alpha - centre * b;  // at x = 0
  vector[1] sd_1 = tau_1;
  matrix[J_1, 1] r_1 = effect_1;
}
