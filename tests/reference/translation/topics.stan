// Topics have no order, so chains disagree about their numbers: compare only what does not depend on these.
data {
  int<lower=1> N;  // rows
  int<lower=1> M;  // levels of school
  array[N] int<lower=1, upper=M> doc;
  array[N] int<lower=1, upper=3> word;  // plan
}
parameters {
  array[M] simplex[10] theta;  // shares of topics
  array[10] simplex[3] phi;  // probabilities of words
}
model {
  for (d in 1:M) {
    theta[d] ~ dirichlet(rep_vector(0.1, 10));
  }
  for (k in 1:10) {
    phi[k] ~ dirichlet(rep_vector(0.5, 3));
  }
  for (i in 1:N) {
    vector[10] lp = log(theta[doc[i]]);
    for (k in 1:10) {
      lp[k] += log(phi[k][word[i]]);
    }
    target += log_sum_exp(lp);
  }
}
