// Finds what the page is to show: in its own file, or at the server that it came from.
import { EmbeddedSource } from './embedded.ts';
import { ServedSource } from './served.ts';
import type { Source } from './source.ts';

export async function openSource(): Promise<Source> {
  const run = document.getElementById('run');
  if (run === null) return ServedSource.open();
  run.remove();
  return EmbeddedSource.open(JSON.parse(run.textContent!), {
    slices: () => inflated('slices'),
    arguments: () => inflated('arguments'),
    flows: () => inflated('flows'),
  });
}

// The bytes that are in the script element with this id, which is removed: they are in memory once.
async function inflated(id: string): Promise<Uint8Array> {
  const element = document.getElementById(id);
  const text = element?.textContent?.trim() ?? '';
  element?.remove();
  if (text === '') return new Uint8Array(0);
  const binary = atob(text);
  const deflated = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) deflated[i] = binary.charCodeAt(i);
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
