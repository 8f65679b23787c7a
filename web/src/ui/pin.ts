// Pinning: what is pinned always matters. It can be taken back at once.
import { useAct } from "../api/memory";
import { useWords } from "../words";
import { useNotices } from "./notices";

export function usePin(): (memoryId: string) => void {
  const act = useAct();
  const words = useWords();
  const { say } = useNotices();
  const mark = (memoryId: string, pinned: boolean, done: () => void) =>
    void act((client) => client.markMemory({ path: { memory_id: memoryId }, body: { pinned } }), done);
  return (memoryId) =>
    mark(memoryId, true, () =>
      say(words.thing.pinned, {
        action: { label: words.common.undo, act: () => mark(memoryId, false, () => say(words.common.undone)) },
      }),
    );
}
