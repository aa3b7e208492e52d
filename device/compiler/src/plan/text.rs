//! Text.
use super::Plan;
/// The plan.
pub fn text(_plan: &Plan) -> String {
    String::new()
}
