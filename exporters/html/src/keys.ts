// Handles the keys of the whole page.
import type { Viewer } from './viewer.ts';

export const kSearchId = 'search';
export const kFilterId = 'filter';

// Handles a key press. Returns whether the viewer uses this key.
export function press(viewer: Viewer, event: KeyboardEvent): boolean {
  if (event.key === 'Escape') {
    const { activeElement } = document;
    const isFilter = activeElement?.id === kFilterId;
    if (isFilter || activeElement?.id === kSearchId) (activeElement as HTMLElement).blur();
    if (isFilter && viewer.store.state.filter !== '') viewer.setFilter('');
    else viewer.escape();
    return true;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const target = event.target as HTMLElement;
  if (target.closest('input, select, textarea')) return false;
  // Elements with data-arrows handle the arrow keys themselves.
  if (event.key.startsWith('Arrow') && target.closest('[data-arrows]')) return false;
  const action = actionOf(viewer, event.key, event.shiftKey);
  if (action === null) return false;
  action();
  return true;
}

const kFaster = 4; // factor with shift

function actionOf(viewer: Viewer, key: string, shift: boolean): (() => void) | null {
  const step = 0.1 * (shift ? kFaster : 1);
  const at = viewer.hover.state.time ?? undefined;
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case 'w':
    case 'ArrowUp':
      return () => viewer.zoom(1 - step, at);
    case 's':
    case 'ArrowDown':
      return () => viewer.zoom(1 / (1 - step), at);
    case 'a':
    case 'ArrowLeft':
      return () => viewer.pan(-step);
    case 'd':
    case 'ArrowRight':
      return () => viewer.pan(step);
    case 'PageUp':
      return () => viewer.scrollBy(-viewer.paneHeight * 0.9);
    case 'PageDown':
      return () => viewer.scrollBy(viewer.paneHeight * 0.9);
    case 'f':
      return () => viewer.fit();
    case 'm':
      return () => viewer.toggleFlag();
    case ',':
      return () => viewer.chooseNeighbour(-1);
    case '.':
      return () => viewer.chooseNeighbour(1);
    case 'j':
      return () => viewer.chooseBeside(1);
    case 'k':
      return () => viewer.chooseBeside(-1);
    case 'r':
      return () => viewer.measureChosen(shift);
    case '/':
      return () => (document.getElementById(kSearchId) as HTMLInputElement).select();
    case 'l':
      return () => (document.getElementById(kFilterId) as HTMLInputElement | null)?.select();
    case 'n':
      return () => void viewer.search(viewer.store.state.query, shift ? 'previous' : 'next');
    case '?':
      return () => viewer.store.set({ help: !viewer.store.state.help });
    default:
      return null;
  }
}
