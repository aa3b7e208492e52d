//! Instructions a second of one tile.
fn main() {
    divan::main();
}
