//! `host-exchange.json`: requests and packets of published transfers.

use serde_json::Value;
use tilekiln_chip::exchange::MUX_HOST;
use tilekiln_chip::{ByteAddr, PhysTile, TileId};
use tilekiln_compiler::plan::{HostDirection, HostPage, HostPhase};
use tilekiln_compiler::schedule::host::BUFFER_OFFSET;
use tilekiln_compiler::schedule::{check as checker, schedule_host};

use super::tally::{BadFile, Tally};

/// One case a transfer: owner, multiplexer value, request and packets, word for word.
pub fn check(text: &str) -> Result<Tally, BadFile> {
    let file: Value = serde_json::from_str(text).map_err(BadFile::new)?;
    let cases = file["cases"].as_array().ok_or_else(|| missing("cases"))?;
    let mut tally = Tally::default();
    for (index, case) in cases.iter().enumerate() {
        let want = published(case)?;
        let got = ours(case)?;
        tally.compare(&format!("case {index}"), &got, &want);
    }
    Ok(tally)
}

/// What the file says.
fn published(case: &Value) -> Result<String, BadFile> {
    let (request, packets) = (words(case, "xreq_words")?, words(case, "target_packets")?);
    let (owner, mux) = (tile(case, "owner")?, text(case, "host_mux")?);
    Ok(format!("{owner}, {mux}: {request}: {packets}"))
}

/// What we make of the same transfer.
fn ours(case: &Value) -> Result<String, BadFile> {
    let target = tile(case, "target")?;
    let direction = match text(case, "direction")? {
        "h2d" => HostDirection::ToTiles,
        _ => HostDirection::ToHost,
    };
    let offset = hex(text(case, "host_offset")?)?;
    let page = HostPage {
        tile: target,
        tile_address: ByteAddr(hex(text(case, "tile_address")?)?),
        buffer_offset: offset
            .checked_sub(BUFFER_OFFSET)
            .ok_or_else(|| missing("buffer"))?,
        bytes: case["bytes"].as_u64().ok_or_else(|| missing("bytes"))? as u32,
    };
    let phase = HostPhase {
        direction,
        pages: vec![page],
    };
    let exchange = match schedule_host(&phase, None) {
        Ok(exchange) => exchange,
        Err(error) => return Ok(error.to_string()),
    };
    if let Err(error) = checker::host(&phase, None, &exchange) {
        return Ok(error.to_string());
    }
    let request = &exchange.requests[0];
    let (owner, mux) = (
        request.owner,
        MUX_HOST + u32::from(request.owner.physical().index()),
    );
    let packets = join(exchange.streams[0].headers.as_flattened());
    Ok(format!(
        "{owner}, {mux:x}: {}: {packets}",
        join(&request.words)
    ))
}

fn join(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
    words.join(" ")
}

fn missing(name: &str) -> BadFile {
    BadFile(format!("there is no {name}"))
}

fn text<'a>(case: &'a Value, name: &str) -> Result<&'a str, BadFile> {
    case[name].as_str().ok_or_else(|| missing(name))
}

fn words(case: &Value, name: &str) -> Result<String, BadFile> {
    let list = case[name].as_array().ok_or_else(|| missing(name))?;
    let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    Ok(words.join(" "))
}

fn hex(text: &str) -> Result<u32, BadFile> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).map_err(BadFile::new)
}

fn tile(case: &Value, name: &str) -> Result<TileId, BadFile> {
    let index = case[name]
        .as_u64()
        .and_then(|index| u16::try_from(index).ok());
    index
        .and_then(PhysTile::new)
        .map(PhysTile::logical)
        .ok_or_else(|| missing(name))
}
