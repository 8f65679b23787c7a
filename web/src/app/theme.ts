// Light, dark, or as the system has it.
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
const KEPT = "memsvc.theme";

export function keptTheme(): Theme {
  return THEMES.find((one) => one === localStorage.getItem(KEPT)) ?? "system";
}

export function showTheme(theme: Theme): void {
  localStorage.setItem(KEPT, theme);
  document.documentElement.dataset["theme"] = theme;
}
