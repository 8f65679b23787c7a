// Takes what is shown along: as a picture, Mermaid or GraphML; or the question that reads it.
import { type RefObject, useEffect, useRef } from "react";
import { useMemory } from "../api/memory";
import { Copy } from "../ui/Copy";
import { useNotices } from "../ui/notices";
import { useTimes } from "../ui/times";
import { useWords } from "../words";
import type { Asked } from "./address";
import { momentOf } from "./days";
import { asGraphml, asMermaid, save } from "./exports";
import type { Picture } from "./Stage";
import type { Shown } from "./view";

export function ExportMenu({ shown, asked, knownAt, picture }: {
  shown: Shown;
  asked: Asked;
  knownAt: string | null;
  picture: RefObject<Picture | null>;
}) {
  const words = useWords();
  const times = useTimes();
  const { me } = useMemory();
  const { say } = useNotices();
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const opened = box.current;
      if (!opened?.open) return;
      const escaped = event instanceof KeyboardEvent && event.key === "Escape";
      if (escaped) opened.querySelector("summary")?.focus();
      if (escaped || (event.type === "pointerdown" && !opened.contains(event.target as Node))) opened.open = false;
    };
    document.addEventListener("keydown", close);
    document.addEventListener("pointerdown", close);
    return () => {
      document.removeEventListener("keydown", close);
      document.removeEventListener("pointerdown", close);
    };
  }, []);
  const name = `memsvc-${[asked.as_of, asked.known_at].filter(Boolean).join("-") || times.field(new Date())}`;
  const png = async () => {
    const made = await picture.current?.png();
    if (made) save(`${name}.png`, made);
    else say(words.graph.noPicture, { bad: true });
  };
  const given = { as_of: asked.as_of ? momentOf(asked.as_of) : "always", ...(knownAt && { known_at: knownAt }) };
  const query = new URLSearchParams(given).toString();
  const user = me.user.external_id;
  const curl = () => {
    const named = user ? ` -H 'X-Memsvc-User: ${user.replaceAll("'", String.raw`'\''`)}'` : "";
    return `curl -s '${location.origin}/v1/graph?${query}' -H "Authorization: Bearer $KEY"${named}\n`;
  };
  const python = () => {
    const named = user ? `, "X-Memsvc-User": ${JSON.stringify(user)}` : "";
    return `import os\n\nimport httpx\n
headers = {"Authorization": f"Bearer {os.environ['KEY']}"${named}}
answer = httpx.get(${JSON.stringify(`${location.origin}/v1/graph`)}, params=${JSON.stringify(given)}, headers=headers)
print(answer.json())\n`;
  };
  return (
    <details className="menu export" ref={box}>
      <summary className="button">{words.graph.export}</summary>
      <div className="sheet">
        <button type="button" className="link" onClick={() => void png()}>{words.graph.png}</button>
        <button type="button" className="link" onClick={() => save(`${name}.mmd`, asMermaid(shown, times.span))}>Mermaid</button>
        <button type="button" className="link" onClick={() => save(`${name}.graphml`, asGraphml(shown), "application/xml")}>GraphML</button>
        <div className="copies">
          <Copy label={words.ask.copyLink} text={() => location.href} />
          <Copy label={words.ask.copyCurl} text={curl} />
          <Copy label={words.ask.copyPython} text={python} />
        </div>
      </div>
    </details>
  );
}
