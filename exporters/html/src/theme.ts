// The theme is light or dark: the system's, or the one that the user chose. The choice is
// remembered if the browser allows it.
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
    // The choice is lost when the page is closed.
  }
}

// Applies the theme's colours to the page.
export function wear(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && prefersDark.matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

export function onSystemTheme(changed: () => void): void {
  prefersDark.addEventListener('change', changed);
}
