// Builds the page into the Python package. Names of files carry a hash, so browsers keep them for ever.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const api = process.env["MEMSVC_PUBLIC_URL"] ?? `http://127.0.0.1:${process.env["MEMSVC_PORT"] ?? 8765}`;

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@memsvc/client": new URL("../examples/typescript/memsvc.mjs", import.meta.url).pathname } },
  // No inline data: the policy of the page allows nothing but files of this server.
  build: {
    outDir: "../memsvc/web/dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "licences.md" },
  },
  server: { proxy: Object.fromEntries(["/v1", "/page", "/docs", "/schema"].map((path) => [path, api])) },
});
