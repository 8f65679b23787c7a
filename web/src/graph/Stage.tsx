// The picture of the graph: draws what is shown, pans and zooms, and tells what was chosen.
import { MultiDirectedGraph } from "graphology";
import type Sigma from "sigma";
import { type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { Icon } from "../ui/Icon";
import { useWords } from "../words";
import type { Layout } from "./layout";
import { type Colours, coloursOf, edgeLook, type Emphasis, nodeLook } from "./look";
import { type Drawing, isSpared, makeRenderer, spareLines } from "./renderer";
import { nameOf, relationOf, type Shown, typeOf } from "./view";

export interface Picture {
  /** A PNG of what is drawn; null: the browser could not make one. */
  png: () => Promise<Blob | null>;
}
const MOST_ARROWS = 4_000;
/** With more changes it is quicker to draw all anew. */
const MOST_STEPS = 1_000;
/** So many nodes have room in their full size. */
const ROOMY = 500;
const STEP = 0.15;
const FOCUS_RATIO = 0.35;
/** The layout is round; a wide stage shows it wider. */
const stretchOf = (box: HTMLElement | null) => (box?.clientHeight ? Math.min(1.7, Math.max(0.75, box.clientWidth / box.clientHeight)) : 1);
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function Stage({ shown, layout, emphasis, focus, onSelect, picture }: {
  shown: Shown;
  layout: Layout;
  emphasis: Emphasis;
  /** Where to go, each time that the number changes. */
  focus: { nodes: readonly string[]; number: number } | null;
  onSelect: (node: string) => void;
  picture: Ref<Picture>;
}) {
  const words = useWords();
  const box = useRef<HTMLDivElement>(null);
  const graph = useRef<Drawing>(new MultiDirectedGraph());
  const sigma = useRef<Sigma>(null);
  const [theme, setTheme] = useState(0);
  const [colours, setColours] = useState<Colours | null>(null);
  const select = useRef(onSelect);
  useEffect(() => {
    select.current = onSelect;
  });
  useEffect(() => {
    const changed = () => setTheme((before) => before + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = new MutationObserver(changed);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    system.addEventListener("change", changed);
    return () => {
      chosen.disconnect();
      system.removeEventListener("change", changed);
    };
  }, []);
  const camera = useRef<ReturnType<ReturnType<Sigma["getCamera"]>["getState"]>>(undefined);
  useEffect(() => {
    if (!box.current) return;
    const found = coloursOf(box.current);
    stretch.current = stretchOf(box.current);
    const made = makeRenderer(graph.current, box.current, found);
    if (camera.current) made.getCamera().setState(camera.current);
    made.on("clickNode", ({ node }) => select.current(node));
    made.on("clickStage", () => select.current(""));
    sigma.current = made;
    setColours(found);
    return () => {
      camera.current = made.getCamera().getState();
      sigma.current = null;
      made.kill();
    };
  }, [theme]);

  const stretch = useRef(1);
  const placeOf = (id: string) => {
    const { x, y } = layout.places.get(id) ?? { x: 0, y: 0 };
    return { x: x * stretch.current, y };
  };
  // What is drawn. Attributes are given all at once, so sigma reads them once.
  useEffect(() => {
    if (!colours) return;
    const drawn = graph.current;
    const nodes = new Map(shown.nodes.map((one) => [one.node.node_id, one]));
    const edges = new Map(shown.edges.map((one) => [one.edge.version_id, one]));
    const arrows = edges.size <= MOST_ARROWS;
    const scale = Math.max(0.25, Math.min(1, Math.sqrt(ROOMY / (nodes.size + 1)))); // many nodes are drawn smaller
    const lookOf = (id: string) => {
      const one = nodes.get(id);
      return one && { ...placeOf(id), ...nodeLook(one, nameOf(one.node), typeOf(one.node), colours, emphasis, scale) };
    };
    const lineOf = (id: string) => {
      const one = edges.get(id);
      return one && edgeLook(one, relationOf(one.edge.type), colours, emphasis, arrows);
    };
    const addAll = (to: Drawing) => {
      for (const id of nodes.keys()) if (!to.hasNode(id)) to.addNode(id, lookOf(id));
      for (const [id, { edge }] of edges)
        if (!to.hasEdge(id) && to.hasNode(edge.from_node) && to.hasNode(edge.to_node))
          to.addDirectedEdgeWithKey(id, edge.from_node, edge.to_node, lineOf(id));
    };
    const gone = drawn.filterNodes((id) => !nodes.has(id)).length + drawn.filterEdges((id) => !edges.has(id)).length;
    const grown = nodes.size + edges.size - (drawn.order + drawn.size - gone);
    if (gone + grown > MOST_STEPS) {
      graph.current = new MultiDirectedGraph();
      addAll(graph.current);
      sigma.current?.setGraph(graph.current);
      if (sigma.current) spareLines(sigma.current);
      return;
    }
    drawn.forEachEdge((id) => !edges.has(id) && drawn.dropEdge(id));
    drawn.forEachNode((id) => !nodes.has(id) && drawn.dropNode(id));
    drawn.updateEachNodeAttributes((id, before) => lookOf(id) ?? before);
    // Named so that sigma sorts the lines again: it cannot repaint one that it has not drawn yet.
    drawn.updateEachEdgeAttributes((id, before) => lineOf(id) ?? before, { attributes: ["zIndex"] });
    addAll(drawn);
  }, [shown, colours, emphasis]);

  // Only places have changed. While they do, the frame follows; then it stays, so that nothing jumps.
  useEffect(() => {
    const drawn = graph.current;
    const made = sigma.current;
    if (!made || !drawn.order || (layout.busy && isSpared(made))) return;
    made.setCustomBBox(null);
    if (!layout.busy) made.once("afterRender", () => made.setCustomBBox(made.getBBox()));
    drawn.updateEachNodeAttributes((id, before) => ({ ...before, ...placeOf(id) }), { attributes: ["x", "y"] });
  }, [layout.version, layout.busy]);

  const drawnFocus = focus?.nodes.filter((id) => graph.current.hasNode(id)) ?? [];
  const reached = useRef(0);
  useEffect(() => {
    const made = sigma.current;
    if (!made || !focus || reached.current === focus.number) return;
    const go = () => {
      const places = drawnFocus.map((id) => made.getNodeDisplayData(id)).filter((one) => one !== undefined);
      if (!places.length) return;
      if (!layout.busy) reached.current = focus.number; // else once more when the nodes have their places
      const middle = (values: number[]) => (Math.min(...values) + Math.max(...values)) / 2;
      const extent = (values: number[]) => Math.max(...values) - Math.min(...values);
      const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
      const near = Math.min(FOCUS_RATIO, made.getCamera().getState().ratio);
      const ratio = Math.min(1.2, Math.max(near, 1.6 * Math.max(extent(xs), extent(ys))));
      const state = { x: middle(xs), y: middle(ys), ratio };
      if (calm()) made.getCamera().setState(state);
      else void made.getCamera().animate(state, { duration: 500 });
    };
    made.once("afterRender", go);
    made.scheduleRender();
    return () => void made.off("afterRender", go);
    // A new node may be drawn only after what is shown has changed.
  }, [focus?.number, drawnFocus.length, colours, layout.busy]);

  useImperativeHandle(picture, () => ({ png: () => pngOf(sigma.current, box.current) }), []);
  const zoom = (times: number) => {
    const at = sigma.current?.getCamera();
    if (!at) return;
    const state = { ratio: at.getBoundedRatio(at.getState().ratio * times) };
    if (calm()) at.setState(state);
    else void at.animate(state, { duration: 150 });
  };
  const fit = () => {
    const made = sigma.current;
    if (!made) return;
    made.setCustomBBox(null);
    made.refresh();
    made.setCustomBBox(made.getBBox());
    if (calm()) made.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
    else void made.getCamera().reset({ duration: 300 });
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = sigma.current?.getCamera();
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
    };
    const move = moves[event.key];
    if (move && at) {
      const { x, y, ratio } = at.getState();
      void at.animate({ x: x + move[0] * STEP * ratio, y: y + move[1] * STEP * ratio }, { duration: calm() ? 0 : 100 });
    } else if (event.key === "+" || event.key === "=") zoom(1 / 1.4);
    else if (event.key === "-") zoom(1.4);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") onSelect("");
    else return;
    event.preventDefault();
  };
  return (
    <div className="stage" role="group" tabIndex={0} aria-label={words.graph.stage} onKeyDown={pressed}>
      <div className="canvas" ref={box} />
      <div className="zooming">
        <button type="button" className="icon" aria-label={words.graph.nearer} onClick={() => zoom(1 / 1.5)}><Icon name="plus" /></button>
        <button type="button" className="icon" aria-label={words.graph.farther} onClick={() => zoom(1.5)}><Icon name="minus" /></button>
        <button type="button" className="icon" aria-label={words.graph.fit} onClick={fit}><Icon name="fit" /></button>
      </div>
    </div>
  );
}

/** WebGL keeps its picture only until the next frame, so it is drawn and copied in one go. */
function pngOf(sigma: Sigma | null, box: HTMLElement | null): Promise<Blob | null> {
  return new Promise((done) => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    if (!sigma || !box || !context) return done(null);
    sigma.refresh();
    const stage = sigma.getStageCanvas();
    [canvas.width, canvas.height] = [stage.width, stage.height];
    context.fillStyle = getComputedStyle(box).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(stage, 0, 0);
    canvas.toBlob(done, "image/png");
  });
}
