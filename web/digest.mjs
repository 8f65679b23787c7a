// Writes a digest of the sources beside the built files. tests/unit/test_web_built.py computes it again.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const whole = createHash("sha256");
const folder = new URL(".", import.meta.url);
const inside = readdirSync(new URL("src", folder), { recursive: true, withFileTypes: true })
  .filter((one) => one.isFile())
  .map((one) => `${one.parentPath.slice(folder.pathname.length)}/${one.name}`);
for (const name of [...inside, "index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"].sort())
  whole.update(`${name}\n`).update(createHash("sha256").update(readFileSync(new URL(name, folder))).digest("hex"));
writeFileSync(new URL("../memsvc/web/dist/sources.sha256", folder), `${whole.digest("hex")}\n`);
