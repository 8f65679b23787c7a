// The world, with marks where places are. Moves by mouse, touch and keyboard, and says where it was clicked.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomBehavior, type ZoomTransform } from "d3-zoom";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../ui/Icon";
import { useWords } from "../words";
import { type At, marksOf } from "./marks";
import { projectionOf, useOutlines } from "./outlines";
import type { Place } from "./places";

const CLOSEST = 600;
const FIRST_CLOSEST = 14;
const STEP = 90;
const START_WIDTH = 800;

export interface Point {
  latitude: number;
  longitude: number;
}

export function World({ places, named, chosen, onChoose, pick, onPick }: {
  places: readonly Place[];
  /** What a mark is called. */
  named: (place: Place) => string;
  chosen: string;
  onChoose: (place: Place) => void;
  /** A point to show while a location is set. */
  pick: Point | null;
  onPick: ((point: Point) => void) | undefined;
}) {
  const words = useWords();
  const box = useRef<HTMLDivElement>(null);
  const behaviour = useRef<ZoomBehavior<HTMLDivElement, unknown> | null>(null);
  const [size, setSize] = useState({ width: START_WIDTH, height: 480 });
  const [transform, setTransform] = useState<ZoomTransform>(zoomIdentity);
  const { projection, height: whole } = useMemo(() => projectionOf(size.width), [size.width]);
  const { paths, failed } = useOutlines(projection, transform.k);
  useEffect(() => {
    const drawn = box.current;
    if (!drawn) return;
    const watch = new ResizeObserver(() => setSize({ width: drawn.clientWidth, height: drawn.clientHeight }));
    watch.observe(drawn);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const drawn = box.current;
    if (!drawn) return;
    const smallest = Math.max(1, size.height / whole);
    const moves = zoom<HTMLDivElement, unknown>()
      .scaleExtent([smallest, CLOSEST])
      .extent([[0, 0], [size.width, size.height]])
      .translateExtent([[0, 0], [size.width, whole]])
      .filter((event: MouseEvent) => !event.button && !(event.target as Element).closest("button.control"))
      .on("zoom", ({ transform: now }: { transform: ZoomTransform }) => setTransform(now));
    behaviour.current = moves;
    select(drawn).call(moves).on("dblclick.zoom", null);
    return () => void select(drawn).on(".zoom", null);
  }, [size, whole]);
  const fit = useCallback(
    (some: readonly Place[], closest: number) => {
      const drawn = box.current;
      const moves = behaviour.current;
      if (!drawn || !moves) return;
      const at = some.map((one) => projection([one.longitude, one.latitude])).filter((one) => one !== null);
      const [xs, ys] = [at.map(([x]) => x), at.map(([, y]) => y)];
      const [left, right, top, bottom] = at.length
        ? [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
        : [0, size.width, 0, whole];
      const k = Math.min(closest, 0.7 / Math.max((right - left) / size.width, (bottom - top) / size.height, 1e-6));
      const scale = Math.max(k, size.height / whole, 1);
      select(drawn).call(moves.scaleTo, scale).call(moves.translateTo, (left + right) / 2, (top + bottom) / 2);
    },
    [projection, size, whole],
  );
  // At first, and when the map gets another size: all that is there.
  const fitted = useRef("");
  useEffect(() => {
    const form = `${size.width} ${places.length > 0}`;
    if (fitted.current === form) return;
    fitted.current = form;
    fit(places, FIRST_CLOSEST);
  }, [fit, places, size.width]);
  const at = places.map((place): At | null => {
    const point = projection([place.longitude, place.latitude]);
    return point && { place, x: transform.applyX(point[0]), y: transform.applyY(point[1]) };
  });
  const seen = at.filter((one): one is At => one !== null && one.x > -20 && one.y > -20 && one.x < size.width + 20 && one.y < size.height + 20);
  const title = (inside: readonly At[]) => {
    const [first] = inside;
    return first ? `${named(first.place)}${inside.length > 1 ? ` +${inside.length - 1}` : ""}` : "";
  };
  const marks = marksOf(seen, title, size.width);
  const take = (x: number, y: number) => {
    const found = projection.invert?.([transform.invertX(x), transform.invertY(y)]);
    if (found && onPick) onPick({ longitude: Number(found[0].toFixed(5)), latitude: Number(found[1].toFixed(5)) });
  };
  const by = (x: number, y: number) => box.current && behaviour.current?.translateBy(select(box.current), x / transform.k, y / transform.k);
  const closer = (factor: number) => box.current && behaviour.current?.scaleBy(select(box.current), factor);
  const keys: Record<string, () => void> = {
    ArrowLeft: () => by(STEP, 0), ArrowRight: () => by(-STEP, 0), ArrowUp: () => by(0, STEP), ArrowDown: () => by(0, -STEP),
    "+": () => closer(1.6), "=": () => closer(1.6), "-": () => closer(1 / 1.6), "0": () => fit(places, FIRST_CLOSEST),
    Enter: () => take(size.width / 2, size.height / 2),
  };
  const pressed = (event: React.KeyboardEvent) => {
    const act = event.target === box.current && !event.ctrlKey && !event.metaKey ? keys[event.key] : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  };
  const clicked = (event: React.MouseEvent<HTMLElement>) => {
    if ((event.target as Element).closest("button")) return;
    const drawn = event.currentTarget.getBoundingClientRect();
    take(event.clientX - drawn.left, event.clientY - drawn.top);
  };
  const picked = pick && projection([pick.longitude, pick.latitude]);
  return (
    <div className={onPick ? "world picking" : "world"} ref={box} role="application" tabIndex={0} aria-label={words.map.world}
      onKeyDown={pressed} onClick={clicked}>
      <svg width={size.width} height={size.height} aria-hidden="true">
        {paths && (
          <g transform={transform.toString()}>
            <path className="land" d={paths.land} />
            <path className="borders" d={paths.borders} />
          </g>
        )}
      </svg>
      {failed && <p className="said bad">{words.map.unavailable}</p>}
      {marks.map((mark) => {
        const [first] = mark.inside;
        if (!first) return null;
        const many = mark.inside.length > 1;
        const current = mark.inside.some((one) => one.place.location_id === chosen);
        const together = mark.inside.every(({ place }) => place.latitude === first.place.latitude && place.longitude === first.place.longitude);
        const choose = () =>
          many && !together && transform.k < CLOSEST ? fit(mark.inside.map((one) => one.place), CLOSEST) : onChoose(first.place);
        return (
          <button type="button" key={first.place.location_id} className={["mark", current ? "current" : "", mark.before ? "before" : ""].filter(Boolean).join(" ")}
            style={{ transform: `translate(${mark.x}px, ${mark.y}px)` }} onClick={choose} aria-pressed={current}>
            <span className={many ? "dot many" : "dot"} aria-hidden="true">{many && mark.inside.length}</span>
            <span className={mark.named ? "name" : "hidden"} dir="auto">{title(mark.inside)}</span>
            {many && <span className="hidden">{words.map.cluster(mark.inside.length)}</span>}
          </button>
        );
      })}
      {picked && (
        <span className="pick" aria-hidden="true" style={{ transform: `translate(${transform.applyX(picked[0])}px, ${transform.applyY(picked[1])}px)` }} />
      )}
      <div className="controls">
        <button type="button" className="control" aria-label={words.map.closer} onClick={() => closer(1.6)}>+</button>
        <button type="button" className="control" aria-label={words.map.farther} onClick={() => closer(1 / 1.6)}>−</button>
        <button type="button" className="control" aria-label={words.map.all} onClick={() => fit(places, FIRST_CLOSEST)}>
          <Icon name="world" />
        </button>
      </div>
    </div>
  );
}
