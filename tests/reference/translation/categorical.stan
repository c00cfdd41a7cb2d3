data {
  array[3] int<lower=0> n;  // rows of a, b, c
}
parameters {
  simplex[3] p;
}
model {
  p ~ dirichlet([0.1, 2, 0.1]');
  n ~ multinomial(p);
}
