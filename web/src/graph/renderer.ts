// Sigma with the shapes, dashes and arrows of this page.
import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import {
  extremityArrow, layerDashed, layerFill, pathCurved, pathLine, pathLoop, sdfCircle, sdfDiamond, sdfSquare, sdfTriangle,
} from "sigma/rendering";
import type { Colours } from "./look";

export type Drawing = MultiDirectedGraph;
/** How far the camera may go in and out. */
const NEAREST = 0.02;
const FARTHEST = 3;

export function hasWebGL(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}

/** Whether the processor draws, because the graphics card cannot be used. */
function isDrawnBySoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const told = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = String(told ? gl?.getParameter(told.UNMASKED_RENDERER_WEBGL) : gl?.getParameter(gl.RENDERER));
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
let software: boolean | undefined;
const MANY_EDGES = 3_000;

/** Lets many lines wait while the picture moves, where the processor draws them. */
export function spareLines(sigma: Sigma): void {
  software ??= isDrawnBySoftware();
  const spared = software && sigma.getGraph().size > MANY_EDGES;
  if (isSpared(sigma) !== spared)
    sigma.setSettings({
      hideEdgesOnMove: spared, renderEdgeLabels: !spared, antiAliasingFeather: spared ? 0.4 : 1, minEdgeThickness: spared ? 0.4 : 0.6,
    });
}
export const isSpared = (sigma: Sigma): boolean => sigma.getSetting("hideEdgesOnMove");

export function makeRenderer(graph: Drawing, container: HTMLElement, colours: Colours): Sigma {
  const font = getComputedStyle(container).fontFamily;
  return new Sigma(graph, container, {
    primitives: {
      nodes: {
        shapes: [sdfCircle(), sdfSquare({ cornerRadius: 0.15 }), sdfDiamond(), sdfTriangle()],
        layers: [layerFill()],
        label: { font: { family: font, size: 12.5 }, margin: 4 },
      },
      edges: {
        paths: [pathLine(), pathLoop(), pathCurved()],
        extremities: [extremityArrow({ lengthRatio: 4, widthRatio: 3.4 })],
        // A dashed line whose gaps have a colour of their own: that of the line if it is to be whole.
        variables: { gap: { type: "color", default: "transparent" } },
        layers: [layerDashed({ dashSize: { value: 5 }, gapSize: { value: 4 }, gapColor: { attribute: "gap" }, solidExtremities: "head" })],
      },
    },
    styles: {
      nodes: {
        x: { attribute: "x" }, y: { attribute: "y" }, size: { attribute: "size" }, color: { attribute: "color" },
        shape: { attribute: "shape" }, label: { attribute: "label" }, labelColor: colours.ink,
        labelVisibility: (given, state) => (state.isHovered || given["forced"] ? "visible" : "auto"),
        depth: (given, state) => (state.isHovered || given["depth"] === "topNodes" ? "topNodes" : "nodes"),
        backdropVisibility: (given, state) => (state.isHovered || given["selected"] ? "visible" : "hidden"),
        backdropColor: colours.raised, backdropShadowColor: colours.line, backdropShadowBlur: 3, backdropPadding: 4,
        backdropBorderColor: colours.accent, backdropBorderWidth: 1, backdropCornerRadius: 5, backdropLabelPadding: 3,
        cursor: "pointer",
      },
      edges: {
        path: "line", parallelPath: "curved", selfLoopPath: "loop", head: { attribute: "head" }, size: { attribute: "size" },
        color: { attribute: "color" }, labelFont: font, labelSize: 11, gap: { attribute: "gap" }, label: { attribute: "label" }, labelColor: colours.soft,
        labelVisibility: (given) => (given["lit"] ? "visible" : "hidden"),
        labelBackgroundColor: colours.raised, labelBackgroundPadding: 2,
        depth: (given) => (given["depth"] === "topEdges" ? "topEdges" : "edges"),
      },
    },
    settings: {
      itemSizesReference: "screen", renderEdgeLabels: true, edgeLabelAnchors: "allNodes", minEdgeThickness: 0.6,
      labelDensity: 1.2, labelGridCellSize: 90, labelRenderedSizeThreshold: 5, enableCameraRotation: false,
      minCameraRatio: NEAREST, maxCameraRatio: FARTHEST, stagePadding: 44, allowInvalidContainer: true,
      gestureTarget: "graph", nodePickingPadding: 3,
    },
  }) as unknown as Sigma;
}
