// Arranges the graph by ForceAtlas2 in a worker, so the page stays quick. No chance is involved: the same graph looks
// the same each time. Positions go back every few rounds.
import iterate from "graphology-layout-forceatlas2/iterate.js";
import type { Order, Step } from "./layout";

const PER_NODE = 10;
const TELL_MS = 120;
/** Drawing a large graph takes longer, so it is told less often. */
const TELL_MS_LARGE = 1_200;
const LARGE = 1_000;
let latest = 0;

self.onmessage = ({ data }: MessageEvent<Order>) => {
  latest = data.number;
  const count = data.nodes.length / PER_NODE;
  const tell = (done: boolean) => {
    const places = new Float32Array(count * 2);
    for (let n = 0; n < count; n++) {
      places[2 * n] = data.nodes[n * PER_NODE] ?? 0;
      places[2 * n + 1] = data.nodes[n * PER_NODE + 1] ?? 0;
    }
    const step: Step = { number: data.number, places, done };
    self.postMessage(step, { transfer: [places.buffer] });
  };
  let round = 0;
  const go = () => {
    if (latest !== data.number) return; // there is a newer order
    const until = performance.now() + (count > LARGE ? TELL_MS_LARGE : TELL_MS);
    while (round < data.rounds && performance.now() < until) {
      iterate(data.settings, data.nodes, data.edges);
      round++;
    }
    tell(round >= data.rounds);
    if (round < data.rounds) setTimeout(go);
  };
  go();
};
