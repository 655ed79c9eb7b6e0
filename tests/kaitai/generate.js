// Compiles docs/formats/*.ksy to Rust: `node generate.js OUT`, with the npm packages kaitai-struct-compiler and js-yaml.
const fs = require("fs");
const path = require("path");
const compiler = require("kaitai-struct-compiler");
const yaml = require("js-yaml");

const source = path.join(__dirname, "../../docs/formats");
const load = (name) => yaml.load(fs.readFileSync(path.join(source, name + ".ksy"), "utf8"));

(async () => {
  const out = process.argv[2];
  for (const file of fs.readdirSync(source).filter((name) => name.endsWith(".ksy")).sort()) {
    const made = await compiler.compile("rust", load(path.basename(file, ".ksy")), {
      importYaml: async (name) => load(path.basename(name)),
    }, false);
    for (const [name, text] of Object.entries(made)) {
      // The crate registry has no runtime for these readers: tests/kaitai/runtime.rs takes its place.
      const rust = text.replace("extern crate kaitai;\n", "").replace("use kaitai::*;", "use crate::runtime::*;");
      fs.writeFileSync(path.join(out, name), rust);
    }
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
