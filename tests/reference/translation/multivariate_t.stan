// Rows with missing values are left out.
data {
  int<lower=1> N;
  array[N] vector[2] x;  // x, z
}
parameters {
  vector[2] theta;
}
model {
  // theta: flat
  for (i in 1:N) {
    target += multi_student_t_lpdf(x[i] | 5, theta, add_diag(rep_matrix(1.2, 2, 2), 2.8));
  }
}
