// Starts the page.
import { render } from 'preact';
import { App } from './app.tsx';
import { SharedContext } from './context.ts';
import { Frames } from './frames.ts';
import { keepLink } from './link.ts';
import { openSource } from './open.ts';
import { onSystemTheme, rememberedTheme, wear } from './theme.ts';
import { printable } from './text.ts';
import { Viewer } from './viewer.ts';

// ms. The findings are requested when the first slices have arrived, or after this time, because no
// slices are requested if all lanes are folded.
const kLongestWait = 1000;

async function start(): Promise<void> {
  const opening = openSource();
  wear(rememberedTheme());
  const viewer = new Viewer(await opening);
  const frames = new Frames();
  const dress = () => {
    wear(viewer.store.state.theme);
    frames.newColours();
  };
  onSystemTheme(dress);
  viewer.store.subscribe((changed) => (changed.theme !== undefined ? dress() : frames.request()));
  document.title = `${printable(viewer.run.label || 'run', 100)} – xlaprof`;
  if (location.hash.length > 1) viewer.follow(location.hash);
  const page = document.getElementById('page')!;
  page.replaceChildren();
  render(
    <SharedContext.Provider value={{ viewer, frames }}>
      <App />
    </SharedContext.Provider>,
    page,
  );
  keepLink(viewer);
  // Without lanes there are no slices to wait for.
  setTimeout(() => void viewer.conclude(), viewer.run.lanes.length === 0 ? 0 : kLongestWait);
}

start().catch((error: Error) => {
  document.getElementById('page')!.textContent = `This view could not be opened: ${error.message}`;
});
