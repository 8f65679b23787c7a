// Packs the files of a folder into one zip file, as the service reads a folder: with the paths of its files.
import { crcOf } from "./crc";

export interface Inside {
  /** Where it is in the folder, with slashes. */
  path: string;
  file: File;
}
const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UTF8 = 0x0800;
const DEFLATED = 8;

/** The time of a file as zip files have it: local, in steps of two seconds, from 1980 on. */
function clock(modified: number): [time: number, date: number] {
  const at = new Date(Math.max(modified, Date.UTC(1980, 0, 2)));
  return [
    (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1),
    ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(),
  ];
}

function record(...fields: [value: number, bytes: 2 | 4][]): Uint8Array<ArrayBuffer> {
  const made = new DataView(new ArrayBuffer(fields.reduce((sum, [, bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [value, bytes] of fields) {
    if (bytes === 2) made.setUint16(at, value, true);
    else made.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(made.buffer);
}

/** Below 4 GiB and 65,535 files; a folder that is larger is refused before. */
export async function pack(name: string, files: readonly Inside[], packed: (done: number) => void): Promise<File> {
  const parts: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let offset = 0;
  let listed = 0;
  for (const [index, { path, file }] of files.entries()) {
    const plain = await file.arrayBuffer();
    const stream = new Blob([plain]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    const body = await new Response(stream).blob();
    const title = new TextEncoder().encode(path);
    const [time, date] = clock(file.lastModified);
    const common: [number, 2 | 4][] = [
      [UTF8, 2], [DEFLATED, 2], [time, 2], [date, 2], [crcOf(new Uint8Array(plain)), 4], [body.size, 4],
      [plain.byteLength, 4], [title.length, 2], [0, 2],
    ];
    const head = record([LOCAL, 4], [VERSION, 2], ...common);
    parts.push(head, title, body);
    const entry = record([CENTRAL, 4], [VERSION, 2], [VERSION, 2], ...common, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]);
    directory.push(entry, title);
    offset += head.length + title.length + body.size;
    listed += entry.length + title.length;
    packed(index + 1);
  }
  const end = record([END, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [listed, 4], [offset, 4], [0, 2]);
  return new File([...parts, ...directory, end], `${name}.zip`, { type: "application/zip" });
}
