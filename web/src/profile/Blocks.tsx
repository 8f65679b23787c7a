// Blocks of text in three tiers: always given, given in one conversation, and found by recall.
import type { Block } from "@memsvc/client";
import { useState } from "react";
import { useLiveAgain } from "../api/live";
import { useAsked, useMemory } from "../api/memory";
import { useWords } from "../words";
import { BlockRow } from "./BlockRow";
import { EditBlock } from "./EditBlock";

const MOST_NAMED = 500;
const SECTIONS = ["fixed_traits", "preferences", "current_state"] as const;

export function Blocks({ open }: { open: string }) {
  const words = useWords();
  const { may } = useMemory();
  const { data, error, again } = useAsked(async (client) => {
    const profile = await client.readProfile();
    const known = profile.working.length > 0 ? await client.listConversations({ query: { limit: MOST_NAMED } }) : { items: [] };
    return { ...profile, conversations: new Map(known.items.map((one) => [one.conversation_id, one.title || one.identifier])) };
  }, []);
  useLiveAgain(["PROFILE_UPDATE", "GRAPH_UPDATE"], again);
  const [adding, setAdding] = useState<string | null>(null);
  if (error && !data) return <p className="said bad" role="alert">{error}</p>;
  if (!data) return <p className="waiting" aria-live="polite">{words.common.loading}</p>;
  const number = (n: number) => n.toLocaleString(words.code);
  const share = Math.min(100, (data.core_tokens / data.core_limit_tokens) * 100);
  const missing = SECTIONS.filter((name) => !data.core.some((block) => block.name === name && !block.node_id));
  const rows = (blocks: readonly Block[]) =>
    blocks.map((block) => <BlockRow key={block.block_id} block={block} conversation={data.conversations.get(block.conversation_id ?? "") ?? ""} open={open === block.block_id} onChanged={again} />);
  return (
    <div className="tiers">
      <section aria-labelledby="core">
        <div className="bar">
          <h2 id="core">{words.profile.tiers.core}</h2>
          {may("write") && <button type="button" className="quiet" onClick={() => setAdding("")}>{words.profile.add}</button>}
        </div>
        <p className="lead">{words.profile.tierLeads.core}</p>
        <div className="room">
          <span className="track"><span className="part" style={{ inlineSize: `${share}%` }} /></span>
          <small>{words.ask.tokens(number(data.core_tokens), number(data.core_limit_tokens))}</small>
        </div>
        <ul className="blocks">{rows(data.core)}</ul>
        {may("write") && missing.length > 0 && (
          <p className="missing">
            <span className="lead">{words.profile.missing}</span>
            {missing.map((name) => (
              <button type="button" className="link" key={name} onClick={() => setAdding(name)}>{words.profile.names[name]}</button>
            ))}
          </p>
        )}
        {data.core.length === 0 && !may("write") && <p className="lead">{words.profile.noCore}</p>}
      </section>
      {(["working", "archival"] as const).map((tier) => (
        <section key={tier} aria-labelledby={tier}>
          <h2 id={tier}>{words.profile.tiers[tier]}</h2>
          <p className="lead">{words.profile.tierLeads[tier]}</p>
          {data[tier].length > 0 ? <ul className="blocks">{rows(data[tier])}</ul> : <p className="lead none">{words.profile.noneHere}</p>}
          {tier === "working" && data.working_truncated && <p className="lead">{words.profile.truncated}</p>}
        </section>
      ))}
      {adding !== null && <EditBlock block={null} name={adding} onClose={() => setAdding(null)} onChanged={again} />}
    </div>
  );
}
