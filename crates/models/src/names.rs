//! Identifiers of templates by which other parts of the program choose; each stands in the file of its template.

use super::Template;
use super::categorical::Categorical;
use super::dp_mixture::DpMixture;
use super::hierarchical::Hierarchical;
use super::linear::Linear;
use super::logistic::Logistic;
use super::mixed::Mixed;
use super::multinomial::Multinomial;
use super::negative_binomial::NegativeBinomial;
use super::ordered::Ordered;
use super::poisson::Poisson;
use super::student::Student;
use super::topics::TopicModel;

/// Shares of categories.
pub const CATEGORICAL: &str = Categorical::SPEC.id;
/// Mixtures without a number of components.
pub const DP_MIXTURE: &str = DpMixture::SPEC.id;
/// Logistic regression with coefficients by group.
pub const HIERARCHICAL: &str = Hierarchical::SPEC.id;
/// Linear regression.
pub const LINEAR: &str = Linear::SPEC.id;
/// Logistic regression.
pub const LOGISTIC: &str = Logistic::SPEC.id;
/// Mixed models.
pub const MIXED: &str = Mixed::SPEC.id;
/// Regression of levels without an order.
pub const MULTINOMIAL: &str = Multinomial::SPEC.id;
/// Regression of counts that vary more.
pub const NEGATIVE_BINOMIAL: &str = NegativeBinomial::SPEC.id;
/// Regression of levels with an order.
pub const ORDERED: &str = Ordered::SPEC.id;
/// Topics of documents.
pub const TOPICS: &str = TopicModel::SPEC.id;
/// Regression of counts.
pub const POISSON: &str = Poisson::SPEC.id;
/// Linear regression with outliers.
pub const STUDENT: &str = Student::SPEC.id;
