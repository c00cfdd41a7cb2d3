// Hidden units have no order, so chains disagree about their numbers: compare only what does not depend on these.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  array[N] int<lower=1, upper=3> y;  // a, b, c
}
transformed data {
  // means and population standard deviations of the columns of x
  row_vector[2] centre = [2.8822499999999995, 0.06349999999999995];
  row_vector[2] scale = [1.6786683524448773, 1.0231044668067872];
  matrix[N, 2] v = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);
}
parameters {
  // weights in units of their prior standard deviation
  vector[3] hidden_bias;  // intercepts of hidden units
  matrix[3, 2] hidden;  // weights of predictors in hidden units
  vector[3] output_bias;  // intercepts of levels
  matrix[3, 3] output;  // weights of hidden units in levels
  real<lower=0> precision_hidden_bias;
  real<lower=0> precision_hidden;
  real<lower=0> precision_output_bias;
  real<lower=0> precision_output;
}
model {
  matrix[N, 3] s = rep_matrix(to_row_vector(hidden_bias) / sqrt(precision_hidden_bias), N) + v * hidden' / sqrt(precision_hidden);
  hidden_bias ~ std_normal();
  to_vector(hidden) ~ std_normal();
  output_bias ~ std_normal();
  to_vector(output) ~ std_normal();
  precision_hidden_bias ~ gamma(1, 1);
  precision_hidden ~ gamma(1, 1);
  precision_output_bias ~ gamma(1, 1);
  precision_output ~ gamma(1, 1);
  for (i in 1:N) {
    vector[3] h = softmax(s[i]');
    vector[3] r = output_bias / sqrt(precision_output_bias) + output * h / sqrt(precision_output);
    target += categorical_logit_lpmf(y[i] | r);
  }
}
