// The outlines of land and countries (Natural Earth, public domain), as files of this server that load with the map.
import { type GeoProjection, geoMercator, geoPath } from "d3-geo";
import { useEffect, useMemo, useState } from "react";
import { feature, mesh } from "topojson-client";
import coarse from "world-atlas/countries-110m.json?url";
import fine from "world-atlas/countries-50m.json?url";

type Topology = Parameters<typeof feature>[0];
const NORTH = 80;
const SOUTH = -60;
/** Enlarged this much, the coarse outlines look it. */
const FINE_FROM = 4;

/** The whole world, as wide as the map; beyond 80 degrees north and 60 south there is nothing to see. */
export function projectionOf(width: number): { projection: GeoProjection; height: number } {
  const projection = geoMercator().scale(width / (2 * Math.PI)).translate([width / 2, 0]);
  const top = projection([0, NORTH])?.[1] ?? 0;
  const bottom = projection([0, SOUTH])?.[1] ?? 0;
  projection.translate([width / 2, -top]).clipExtent([[-1, -1], [width + 1, bottom - top + 1]]);
  return { projection, height: bottom - top };
}

/** The land and the borders as paths. */
export function useOutlines(projection: GeoProjection, enlarged: number) {
  const [found, setFound] = useState<Record<string, Topology>>({});
  const [failed, setFailed] = useState(false);
  const wanted = enlarged >= FINE_FROM ? fine : coarse;
  useEffect(() => {
    if (found[wanted]) return;
    let current = true;
    fetch(wanted).then((answer) => answer.json() as Promise<Topology>).then(
      (topology) => current && setFound((before) => ({ ...before, [wanted]: topology })),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [wanted, found]);
  const topology = found[wanted] ?? found[coarse];
  const paths = useMemo(() => {
    const { land, countries } = topology?.objects ?? {};
    if (!topology || !land || !countries) return null;
    const draw = geoPath(projection);
    const borders = mesh(topology as never, countries as never, (a, b) => a !== b);
    return { land: draw(feature(topology, land)) ?? "", borders: draw(borders) ?? "" };
  }, [topology, projection]);
  return { paths, failed: failed && !topology };
}
