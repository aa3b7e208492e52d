//! Looks whether a plan is right.
use super::Plan;
/// Why a plan is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {}
/// Checks.
pub fn check(_plan: &Plan) -> Result<(), CheckError> {
    Ok(())
}
