import { writeCookie } from './cookies.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Shows a theme, now and from the first paint of later pages. */
export function applyTheme(theme: Theme): void {
  if (document.documentElement.dataset.theme === theme) return
  document.documentElement.dataset.theme = theme
  writeCookie('tributary_theme', theme)
}
