// Precisions of a, b, U and V are integrated out. A rotation of U and V changes nothing: compare predictions alone.
data {
  int<lower=1> N;  // rows
  array[N] int<lower=1, upper=5> user;  // school
  array[N] int<lower=1, upper=3> item;  // class
  vector[N] y;  // y
  vector<lower=0>[N] w;  // weights
}
transformed data {
  real m = 0;
}
parameters {
  vector[5] a;
  vector[3] b;
  array[5] vector[1] U;
  array[3] vector[1] V;
}
model {
  real squares_U = 0;
  real squares_V = 0;
  target += -0.5 * 2 * dot_self(a);
  target += -2.5 * log(300 + 0.5 * dot_self(b));
  for (g in 1:5) squares_U += dot_self(U[g]);
  target += -3.5 * log(300 + 0.5 * squares_U);
  for (g in 1:3) squares_V += dot_self(V[g]);
  target += -3.5 * log(1 + 0.5 * squares_V);
  for (i in 1:N) {
    target += w[i] * normal_lpdf(y[i] | m + a[user[i]] + b[item[i]] + dot_product(U[user[i]], V[item[i]]), 1.414213562373095);
  }
}
