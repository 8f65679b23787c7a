// Where a block is, besides its name: in a conversation's working memory, or at a node.
import type { Block } from "@memsvc/client";

export function placeOf(block: Block): { conversation?: string; node?: string } {
  return {
    ...(block.kind === "working" && block.conversation_id && { conversation: block.conversation_id }),
    ...(block.node_id && { node: block.node_id }),
  };
}
