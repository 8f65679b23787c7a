// The same as commands, for those who want to do it without the page.
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const named = (user?: string) => (user ? ` -H ${quoted(`X-Memsvc-User: ${user}`)}` : "");
const python = (lines: string) =>
  `import os\n\nfrom memsvc.client import Memory\n\nmemory = Memory(${JSON.stringify(location.origin)}, os.environ["KEY"])\n${lines}\n`;

type Query = Record<string, string | readonly string[]>;

export function readAsCurl(path: string, user?: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const asked = given.length > 0 ? `${path}?${new URLSearchParams(given).toString()}` : path;
  return `curl -s ${quoted(location.origin + asked)} -H "Authorization: Bearer $KEY"${named(user)}\n`;
}

export function fileAsCurl(user?: string): string {
  return `curl -s ${location.origin}/v1/documents -H "Authorization: Bearer $KEY"${named(user)} -F file=@FILE -F dry_run=true\n`;
}

export const fileAsPython = () => python('print(memory.ingest("FILE"))');
export const talkAsPython = (id: string) =>
  python(`for message in memory.messages(${JSON.stringify(id)}):\n    print(message.speaker, message.text)`);
export const documentAsPython = (id: string) => python(`print(memory.get_document(${JSON.stringify(id)}))`);
