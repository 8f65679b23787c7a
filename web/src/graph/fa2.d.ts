// The parts of the layout that the worker calls; the package describes only the whole.
declare module "graphology-layout-forceatlas2/iterate.js" {
  export default function iterate(settings: object, nodes: Float32Array, edges: Float32Array): void;
}
declare module "graphology-layout-forceatlas2/defaults.js" {
  const defaults: object;
  export default defaults;
}
