//! Draws a screen of the explorer as an SVG: `draw_screen SAVE OUT.svg 120x36 [KEYS]`. The pictures of the README are made by it.

use std::fmt::Write;
use std::path::PathBuf;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use voxscope::picture::palette::Palette;
use voxscope::tui::theme::ColorMode;
use voxscope::tui::{Driver, Settings};

/// Width and height of a cell; half a cell is square.
const CELL: [usize; 2] = [9, 18];

/// Around the screen.
const BORDER: usize = 12;

const TEXT: &str = "#d4d4d4";
const BACKGROUND: &str = "#14161a";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [save, out, size, keys @ ..] = arguments.as_slice() else {
        return Err("usage: draw_screen SAVE OUT.svg COLUMNSxROWS [KEYS]".into());
    };
    let (columns, rows) = size.split_once('x').ok_or("the size is COLUMNSxROWS, such as 120x36")?;
    let names = Palette::parse("[types]\n1 = { name = 'grass' }\n2 = { name = 'earth' }")?;
    let path = PathBuf::from(save);
    let settings = Settings { path, names, colors: ColorMode::True, ..Settings::default() };
    let mut driver = Driver::new(settings, columns.parse()?, rows.parse()?);
    driver.keys(&keys.join(" "));
    std::fs::write(out, svg(&driver.screen())?)?;
    Ok(())
}

fn svg(screen: &Buffer) -> Result<String, std::fmt::Error> {
    let (columns, rows) = (usize::from(screen.area.width), usize::from(screen.area.height));
    let [width, height] = [columns * CELL[0] + 2 * BORDER, rows * CELL[1] + 2 * BORDER];
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g transform=\"translate({BORDER},{BORDER})\">\n<g shape-rendering=\"crispEdges\">\n"
    );
    // Half rows: what is behind the text, and the halves of blocks.
    for half in 0..rows * 2 {
        let row = screen.content.iter().skip(half / 2 * columns).take(columns);
        let colors: Vec<Option<String>> = row.map(|cell| fill(cell, half % 2)).collect();
        let mut x = 0;
        for run in colors.chunk_by(|a, b| a == b) {
            if let Some(Some(color)) = run.first() {
                let (left, top, wide, high) = (x * CELL[0], half * CELL[1] / 2, run.len() * CELL[0], CELL[1] / 2);
                writeln!(out, "<path fill=\"{color}\" d=\"M{left} {top}h{wide}v{high}h-{wide}z\"/>")?;
            }
            x += run.len();
        }
    }
    out.push_str(
        "</g>\n<g font-family=\"DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"15\" xml:space=\"preserve\">\n",
    );
    for (y, row) in screen.content.chunks(columns).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|a, b| style(a) == style(b) && (is_text(a) || a.symbol() == " ") && b.symbol() != "▀")
        {
            let text: String = run.iter().map(Cell::symbol).collect();
            if let (Some(cell), false) = (run.first(), text.trim().is_empty() || !run.iter().any(is_text)) {
                let shown = text.trim_end();
                let skipped = shown.chars().count() - shown.trim_start().chars().count();
                let length = (shown.chars().count() - skipped) * CELL[0];
                let escaped = shown.trim_start().replace('&', "&amp;").replace('<', "&lt;");
                let (left, base) = ((x + skipped) * CELL[0], y * CELL[1] + 14);
                let (color, bold) = style(cell);
                let weight = if bold { " font-weight=\"bold\"" } else { "" };
                writeln!(
                    out,
                    "<text x=\"{left}\" y=\"{base}\" fill=\"{color}\"{weight} textLength=\"{length}\">{escaped}</text>"
                )?;
            }
            x += run.len();
        }
    }
    out.push_str("</g>\n</g>\n</svg>\n");
    Ok(out)
}

/// Whether a cell has something other than halves of blocks.
fn is_text(cell: &Cell) -> bool {
    !matches!(cell.symbol(), " " | "▀" | "▄" | "█")
}

/// What a half of a cell is filled with, the upper one first.
fn fill(cell: &Cell, half: usize) -> Option<String> {
    let (front, back) = if cell.modifier.contains(Modifier::REVERSED) {
        (color(cell.bg, BACKGROUND), Some(color(cell.fg, TEXT)))
    } else {
        (color(cell.fg, TEXT), (cell.bg != Color::Reset).then(|| color(cell.bg, BACKGROUND)))
    };
    match (cell.symbol(), half) {
        ("█", _) | ("▀", 0) | ("▄", 1) => Some(front),
        _ => back,
    }
}

/// The colour of a cell's text, and whether it is bold.
fn style(cell: &Cell) -> (String, bool) {
    let bold = cell.modifier.contains(Modifier::BOLD);
    match () {
        () if cell.modifier.contains(Modifier::REVERSED) => (color(cell.bg, BACKGROUND), bold),
        () if cell.modifier.contains(Modifier::DIM) => ("#8a8a8a".to_owned(), bold),
        () => (color(cell.fg, TEXT), bold),
    }
}

fn color(color: Color, default: &str) -> String {
    let named = match color {
        Color::Rgb(r, g, b) => return format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Black => "#14161a",
        Color::Red => "#e05252",
        Color::Green => "#3fb97f",
        Color::Yellow => "#d7a832",
        Color::Blue => "#5a93e0",
        Color::Magenta => "#c678c8",
        Color::Cyan => "#35b5c9",
        Color::Gray => "#c8c8c8",
        Color::DarkGray => "#7d828a",
        Color::LightRed => "#f47878",
        Color::LightGreen => "#62d69b",
        Color::LightYellow => "#f0cb5f",
        Color::LightBlue => "#84b4f4",
        Color::LightMagenta => "#dd9ade",
        Color::LightCyan => "#69d3e3",
        Color::White => "#f2f2f2",
        _ => default,
    };
    named.to_owned()
}
