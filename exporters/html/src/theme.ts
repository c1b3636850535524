// Light or dark: the system's, or the one that was chosen, which is remembered where the browser
// lets a page remember.
import type { Theme } from './state.ts';

const kKey = 'xlaprof.theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

export function rememberedTheme(): Theme {
  try {
    const theme = localStorage.getItem(kKey);
    return theme === 'light' || theme === 'dark' ? theme : 'system';
  } catch {
    return 'system';
  }
}

export function rememberTheme(theme: Theme): void {
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // The page forgets it, then.
  }
}

// Gives the page the theme's colours.
export function wear(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && prefersDark.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

export function onSystemTheme(changed: () => void): void {
  prefersDark.addEventListener('change', changed);
}
