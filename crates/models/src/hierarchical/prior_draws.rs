//! Draws of the prior, and outcomes simulated from them.

use super::*;

impl<F: RowFamily> PriorDraws for HierarchicalModel<F> {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        let p = self.layout.terms;
        let (mut mu, mut lower) = (vec![0.0; p], vec![0.0; p * p]);
        self.prior
            .niw
            .draw(&mut Cholesky::empty(p), rng, &mut mu, &mut lower)
            .map_err(|_not_positive| NoPriorDraws::Covariance)?;
        self.layout.read_population(&mu, &lower, u);
        for z in &mut u[self.layout.factor().end..] {
            *z = rng.sample(StandardNormal);
        }
        self.layout.read_deviations(u);
        Ok(())
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        let (design, p) = (&self.design, self.layout.terms);
        let (mut lower, mut theta) = (vec![0.0; p * p], vec![0.0; p]);
        self.layout.write_lower(u, &mut lower);
        for (k, y) in y.iter_mut().enumerate() {
            let i = rows.get(k);
            self.layout
                .write_theta(u, &lower, self.rows.group_of(i), &mut theta);
            let offset = design.offset.as_ref().map_or(0.0, |offset| offset[i]);
            let x = design.x.row(i);
            let z = offset + x.iter().zip(&theta).map(|(x, t)| x * t).sum::<f64>();
            let trials = design.trials.as_ref().map_or(1.0, |trials| trials[i]);
            *y = Family::Bernoulli.outcome().draw(z, trials, rng);
        }
    }
}
