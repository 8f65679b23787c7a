// All screens: where they are, what they are called, and who may see them. All but the first are loaded when opened.
import { type ComponentType, lazy } from "react";
import { AskPage } from "../ask/AskPage";
import type { Memory } from "../api/memory";
import { InboxMark } from "../inbox/waiting";
import type { Words } from "../words";

export interface ScreenProps {
  /** What follows the name of the screen in the address: the id of a thing, for example. */
  rest: readonly string[];
  query: URLSearchParams;
}
export interface Screen {
  path: string;
  group: "find" | "tend" | "run";
  title: (words: Words) => string;
  page: ComponentType<ScreenProps>;
  /** Left out: everybody who may read. */
  may?: (memory: Memory) => boolean;
  /** A number beside the title, such as what waits for a decision. */
  Mark?: ComponentType;
}

export const SCREENS: readonly Screen[] = [
  { path: "ask", group: "find", title: (words) => words.ask.title, page: AskPage },
  {
    path: "things", group: "find", title: (words) => words.things.title,
    page: lazy(() => import("../things/Things").then(({ Things }) => ({ default: Things }))),
  },
  {
    path: "graph", group: "find", title: (words) => words.graph.title,
    page: lazy(() => import("../graph/GraphPage").then(({ GraphPage }) => ({ default: GraphPage }))),
  },
  {
    path: "timeline", group: "find", title: (words) => words.timeline.title,
    page: lazy(() => import("../timeline/TimelinePage").then(({ TimelinePage }) => ({ default: TimelinePage }))),
  },
  {
    path: "map", group: "find", title: (words) => words.map.title,
    page: lazy(() => import("../map/MapPage").then(({ MapPage }) => ({ default: MapPage }))),
  },
  {
    path: "inbox", group: "tend", title: (words) => words.inbox.title, Mark: InboxMark,
    page: lazy(() => import("../inbox/InboxPage").then(({ InboxPage }) => ({ default: InboxPage }))),
  },
  {
    path: "sources", group: "tend", title: (words) => words.sources.title,
    page: lazy(() => import("../sources/Sources").then(({ Sources }) => ({ default: Sources }))),
  },
  {
    path: "notes", group: "find", title: (words) => words.notes.title,
    page: lazy(() => import("../notes/Notes").then(({ Notes }) => ({ default: Notes }))),
  },
  {
    path: "profile", group: "tend", title: (words) => words.profile.title,
    page: lazy(() => import("../profile/ProfilePage").then(({ ProfilePage }) => ({ default: ProfilePage }))),
  },
  {
    path: "night", group: "tend", title: (words) => words.night.title,
    page: lazy(() => import("../night/NightPage").then(({ NightPage }) => ({ default: NightPage }))),
  },
  {
    path: "operations", group: "run", title: (words) => words.operations.title, may: ({ may }) => may("admin"),
    page: lazy(() => import("../operations/OperationsPage").then(({ OperationsPage }) => ({ default: OperationsPage }))),
  },
];
export const GROUPS = ["find", "tend", "run"] as const;
