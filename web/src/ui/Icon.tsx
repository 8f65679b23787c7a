// The few icons of the page, drawn with the colour of the text.
const PATHS = {
  close: "M4 4l8 8M12 4l-8 8",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3L14 14",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  copy: "M5.5 5.5h8v8h-8zM10.5 2.5h-8v8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  up: "M5 14V7l3-5 1 .5V6h4l-1 8zM2 7h1v7H2z",
  off: "M3 3l10 10M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z",
  pin: "M6 2h4l-.5 5L12 9v1H4V9l2.5-2zM8 10v4",
  world: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2.5 2 2.5 10 0 12M8 2c-2.5 2-2.5 10 0 12",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  play: "M5 3l8 5-8 5z",
  pause: "M5 3v10M11 3v10",
  menu: "M2 4.5h12M2 8h12M2 11.5h12",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg className="drawn" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
