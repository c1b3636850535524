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

const kLongestWait = 1000; // ms: for the first slices, before the findings are asked for; all lanes may be folded

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
  // Where nothing comes to be drawn, nothing is to be waited for.
  setTimeout(() => void viewer.conclude(), viewer.run.lanes.length === 0 ? 0 : kLongestWait);
}

start().catch((error: Error) => {
  document.getElementById('page')!.textContent = `This view could not be opened: ${error.message}`;
});
