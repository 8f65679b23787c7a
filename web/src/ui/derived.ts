// What memsvc writes itself: hidden among people and things unless somebody asks for it.
import type { ShownFact } from "@memsvc/client";

/** Types of nodes that sleep mode writes, for itself and for answers. */
export const DERIVED = new Set(["Summary", "Reflection", "Critique", "Plan", "ConceptGroup", "DocumentVersion"]);
const TIES = new Set(["REFLECTS_ON", "SUMMARIZES", "DERIVED_FROM"]);

/** Whether a fact only says that something written by sleep mode is about this node. */
export const isTie = (fact: ShownFact, nodeId: string): boolean => TIES.has(fact.type) && fact.to_node === nodeId;
