// Which places are drawn together, and which names have room.
import type { Place } from "./places";

export interface At {
  place: Place;
  x: number;
  y: number;
}
export interface Mark {
  x: number;
  y: number;
  inside: At[];
  named: boolean;
  /** The name stands before the mark, because behind it there is no room. */
  before: boolean;
}
const CLOSE = 26;
const LETTER = 7;
const LINE = 18;

/** Places that are close together on the screen become one mark, around the first of them. */
export function marksOf(at: readonly At[], name: (inside: readonly At[]) => string, width: number): Mark[] {
  const marks: Mark[] = [];
  for (const one of at) {
    const near = marks.find((mark) => Math.hypot(mark.x - one.x, mark.y - one.y) < CLOSE);
    if (near) near.inside.push(one);
    else marks.push({ x: one.x, y: one.y, inside: [one], named: false, before: false });
  }
  const boxes: { left: number; right: number; y: number }[] = [];
  for (const mark of marks) {
    const long = 16 + LETTER * Math.min(30, name(mark.inside).length);
    mark.before = mark.x + long > width && mark.x > long;
    const box = { left: mark.x - (mark.before ? long : 8), right: mark.x + (mark.before ? 8 : long), y: mark.y };
    const taken = boxes.some((other) => Math.abs(other.y - box.y) < LINE && other.left < box.right && box.left < other.right);
    const hidden = marks.some((other) => other !== mark && Math.abs(other.y - box.y) < LINE && other.x > box.left && other.x < box.right);
    mark.named = !taken && !hidden;
    if (mark.named) boxes.push(box);
  }
  return marks;
}
