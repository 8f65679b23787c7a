// Pinning: what is pinned always matters. Either can be taken back at once.
import { useAct } from "../api/memory";
import { useWords } from "../words";
import { useNotices } from "./notices";

/** Pins a memory, or takes its pin off; `changed` is called after each change, also after it is taken back. */
export function usePin(changed?: () => void): (memoryId: string, pinned?: boolean) => void {
  const act = useAct();
  const words = useWords();
  const { say } = useNotices();
  const mark = (memoryId: string, pinned: boolean, done: () => void) =>
    void act((client) => client.markMemory({ path: { memory_id: memoryId }, body: { pinned } }), () => {
      done();
      changed?.();
    });
  return (memoryId, pinned = true) =>
    mark(memoryId, pinned, () =>
      say(pinned ? words.thing.pinned : words.pinning.unpinned, {
        action: { label: words.common.undo, act: () => mark(memoryId, !pinned, () => say(words.common.undone)) },
      }),
    );
}
