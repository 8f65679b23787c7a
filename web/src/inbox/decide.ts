// Decides one item, and says how that is taken back. A decision that somebody made before is no error: it is said, and the
// item leaves the list.
import { type EditIn, type Memsvc, MemsvcError } from "@memsvc/client";
import { isEdgeType, type Item } from "./kinds";

export type Verdict = "accept" | "reject";
/** What a person changed before accepting: a fact, the words of a lesson, or the description of a type. */
export interface Edited {
  review?: EditIn;
  text?: string;
  /** Of a contradiction: the version of the fact that is true. */
  chosen?: string;
  reason?: string;
}
export interface Outcome {
  /** Somebody had decided before. */
  already: boolean;
  /** Takes the decision back; left out: it cannot be. */
  undo?: (client: Memsvc) => Promise<unknown>;
}
const DECIDED = new Set([
  "review_decided", "pair_decided", "proposal_decided", "type_state", "review_unknown", "pair_unknown",
  "proposal_unknown", "node_unknown", "not_found", "version_superseded",
]);
const ALREADY: Outcome = { already: true };

export async function decide(client: Memsvc, item: Item, verdict: Verdict, edited: Edited = {}): Promise<Outcome> {
  try {
    return await done(client, item, verdict === "accept", edited);
  } catch (error) {
    if (error instanceof MemsvcError && DECIDED.has(error.code)) return ALREADY;
    throw error;
  }
}

async function undone(client: Memsvc, changeId: string | null | undefined): Promise<void> {
  if (changeId) await client.undoChange({ path: { change_id: changeId } });
}

async function done(client: Memsvc, item: Item, accept: boolean, edited: Edited): Promise<Outcome> {
  switch (item.kind) {
    case "reviews": {
      const path = { review_id: item.one.review_id };
      const { change } = edited.review
        ? await client.editReview({ path, body: edited.review })
        : await (accept ? client.acceptReview({ path }) : client.rejectReview({ path }));
      const undo = async (then: Memsvc) => {
        await undone(then, change?.change_id);
        await then.reopenReview({ path });
      };
      return { already: false, undo };
    }
    case "duplicates": {
      const path = { node_id: item.one.a.node_id, other_id: item.one.b.node_id };
      const made = await (accept ? client.acceptDuplicate({ path }) : client.rejectDuplicate({ path }));
      if (accept && !made.change_id) return ALREADY;
      const undo = async (then: Memsvc) => {
        await undone(then, made.change_id);
        await then.reopenDuplicate({ path });
      };
      return { already: false, undo };
    }
    case "splits":
    case "aliases":
    case "links":
    case "core":
    case "outdated": {
      const path = { proposal_id: item.one.proposal_id };
      const made = await (accept ? client.acceptProposal({ path }) : client.rejectProposal({ path }));
      // A line of the profile is changed back there: its history has the text from before.
      if (accept && (item.kind === "core" || item.kind === "outdated")) return { already: false };
      if (accept && !made.change_id) return ALREADY;
      const undo = async (then: Memsvc) => {
        await undone(then, made.change_id);
        await then.reopenProposal({ path });
      };
      return { already: false, undo };
    }
    case "lessons": return lesson(client, item.one.critique_id, accept, edited.text);
    case "types": return type(client, item, accept, edited.text);
    case "contradictions": return contradiction(client, item, accept, edited);
  }
}

async function lesson(client: Memsvc, critiqueId: string, accept: boolean, text: string | undefined): Promise<Outcome> {
  const path = { critique_id: critiqueId };
  await (accept ? client.acceptLesson({ path, body: text ? { text } : {} }) : client.rejectLesson({ path }));
  const { items } = await client.nodeHistory({ path: { node_id: critiqueId }, query: { limit: 1 } });
  const changeId = items[0]?.change_id;
  return { already: false, ...(changeId && { undo: (then: Memsvc) => undone(then, changeId) }) };
}

async function type(client: Memsvc, item: Item & { kind: "types" }, accept: boolean, text: string | undefined): Promise<Outcome> {
  const { one } = item;
  const types: "edge-types" | "node-types" = isEdgeType(one) ? "edge-types" : "node-types";
  const path = { types, name: one.name };
  if (text && text !== one.description) await client.describeType({ path, body: { description: text } });
  await client.decideType({ path: { ...path, decision: accept ? "approve" : "reject" } });
  if (accept) return { already: false }; // a type that may be in use is deprecated, not proposed again
  const { name, description, parent, category, reason } = one;
  const proposal = { name, description, parent, category, reason, proposed_by: one.proposed_by ?? "user" };
  const undo = async (then: Memsvc) => {
    await then.withdrawType({ path });
    if (!isEdgeType(one)) return then.proposeNodeType({ body: proposal });
    const { from_types, to_types, functional } = one;
    return then.proposeEdgeType({ body: { ...proposal, from_types, to_types, functional } });
  };
  return { already: false, undo };
}

async function contradiction(
  client: Memsvc, item: Item & { kind: "contradictions" }, accept: boolean, { chosen, reason }: Edited,
): Promise<Outcome> {
  const { facts } = item.one;
  const [first] = facts;
  const wrong = accept && facts.length > 1 ? facts.filter((fact) => fact.version_id !== chosen) : accept ? [] : facts;
  const change =
    wrong.length > 0
      ? await client.writeChanges({ body: { operations: wrong.map((fact) => ({ op: "retract", edge_id: fact.edge_id })) } })
      : await client.annotateFact({
          path: { edge_id: first?.edge_id ?? "" },
          body: { stance: "validated", reason: reason ?? "", version_id: first?.version_id ?? null },
        });
  if (change.results.every((result) => result.outcome === "unchanged")) return ALREADY;
  return { already: false, undo: (then) => undone(then, change.change_id) };
}
