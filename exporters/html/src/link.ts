// Keeps the address what a link to this view would be.
import { hashOf } from './hash.ts';
import type { Viewer } from './viewer.ts';

const kPause = 200; // ms: browsers refuse pages that change their address too often

export function keepLink(viewer: Viewer): void {
  let timer = 0;
  viewer.store.subscribe(() => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const hash = hashOf(viewer.store.state);
      if (hash !== location.hash) history.replaceState(null, '', hash);
    }, kPause);
  });
  // Someone put another link into the address.
  window.addEventListener('hashchange', () => viewer.follow(location.hash));
}
