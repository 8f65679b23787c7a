// Merges a thing into another one.
import type { MatchedNode } from "@memsvc/client";
import { useState } from "react";
import { useAct } from "../api/memory";
import { go } from "../app/route";
import { Dialog } from "../ui/Dialog";
import { useWords } from "../words";
import { NodePicker } from "./NodePicker";
import type { Changed } from "./ThingPage";

export function Merge({ nodeId, name, onClose, onChanged }: {
  nodeId: string;
  name: string;
  onClose: () => void;
  onChanged: Changed;
}) {
  const words = useWords();
  const act = useAct();
  const [into, setInto] = useState<MatchedNode | null>(null);
  const merge = () =>
    into &&
    act(
      (client) => client.mergeNode({ path: { node_id: nodeId }, body: { into: into.node_id, reason: name } }),
      (change) => {
        onClose();
        onChanged(words.merge.done, change.change_id);
        go(["things", into.node_id]);
      },
    );
  return (
    <Dialog title={words.merge.title} onClose={onClose}>
      <div className="fields">
        <p>{words.merge.lead(name)}</p>
        <NodePicker label={words.merge.choose} without={[nodeId]} chosen={into} onChoose={setInto} />
        <footer>
          <button type="button" onClick={onClose}>{words.common.cancel}</button>
          <button type="button" className="primary" disabled={!into} onClick={merge}>
            {into ? words.merge.submit(into.label ?? into.name) : words.merge.title}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
