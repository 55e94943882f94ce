// Builds the page: node build.mjs [FOLDER] [PACKAGES], by default into gozero/frontends/web/static/ with the packages beside this file.

import { createRequire } from "node:module";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "..", "static"));
const packages = resolve(process.argv[3] ?? here, "node_modules");
const { build } = createRequire(join(packages, "x.js"))("esbuild");
const PACKAGES = ["@sabaki/shudan", "classnames", "preact"];

await mkdir(target, { recursive: true });
await build({
  absWorkingDir: here,
  nodePaths: [packages],
  entryPoints: { board: "src/main.jsx" },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".svg": "dataurl", ".png": "empty" },
  legalComments: "none",
  logLevel: "warning",
});
await copyFile(join(here, "src", "index.html"), join(target, "index.html"));
const licences = await Promise.all(
  PACKAGES.map(async (name) => {
    const folder = join(packages, name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${(await readFile(join(folder, "LICENSE"), "utf8")).trim()}\n`;
  }),
);
const head = "The page of gozero web is gozero's own (MIT) and holds these packages:\n\n";
await writeFile(join(target, "licences.txt"), head + licences.join(`\n${"-".repeat(72)}\n\n`));
