// Chooses a person or thing by typing a part of its name.
import type { MatchedNode } from "@memsvc/client";
import { Command } from "cmdk";
import { useDeferredValue, useState } from "react";
import { MOST_NAME_CHARS, useAsked } from "../api/memory";
import { useWords } from "../words";

const SHOWN = 6;

export function NodePicker({ label, without, chosen, onChoose }: {
  label: string;
  without: readonly string[];
  chosen: MatchedNode | null;
  onChoose: (node: MatchedNode) => void;
}) {
  const words = useWords();
  const [typed, setTyped] = useState("");
  const name = useDeferredValue(typed.trim().slice(0, MOST_NAME_CHARS));
  const { data } = useAsked(
    name ? (client) => client.searchNodes({ query: { q: name, limit: SHOWN + without.length } }) : undefined,
    [name],
  );
  const items = (data?.items ?? []).filter((node) => !without.includes(node.node_id)).slice(0, SHOWN);
  return (
    <Command className="palette picker" label={label} shouldFilter={false} loop>
      <Command.Input value={typed} onValueChange={setTyped} placeholder={label} maxLength={500} />
      <Command.List label={label}>
        {items.map((node) => (
          <Command.Item key={node.node_id} value={node.node_id} onSelect={() => onChoose(node)}
            className={chosen?.node_id === node.node_id ? "chosen" : ""}>
            <span className="label" dir="auto">{node.label ?? node.name}</span>
            <small>{[node.type, node.description].filter(Boolean).join(" · ")}</small>
          </Command.Item>
        ))}
        {name && data && items.length === 0 && <p className="lead">{words.find.nothing}</p>}
      </Command.List>
    </Command>
  );
}
