// Opens the run that the page shows: from the page itself, or from the server that it came from.
import { EmbeddedSource } from './embedded.ts';
import { ServedSource } from './served.ts';
import { outlineOf } from './run.ts';
import type { Source } from './source.ts';

export async function openSource(): Promise<Source> {
  if (document.getElementById('run') === null) return ServedSource.open();
  return EmbeddedSource.open(outlineOf(parsed('run')), {
    findings: () => parsed('findings'),
    slices: () => inflated('slices'),
    totals: () => inflated('totals'),
    arguments: () => inflated('arguments'),
    flows: () => inflated('flows'),
  });
}

function parsed(id: string) {
  return JSON.parse(taken(id));
}

// Returns the content of the script element with this id. Removes the element, so that memory holds
// the content only once.
function taken(id: string): string {
  const element = document.getElementById(id);
  element?.remove();
  return element?.textContent?.trim() ?? '';
}

async function inflated(id: string): Promise<Uint8Array> {
  const text = taken(id);
  if (text === '') return new Uint8Array(0);
  const binary = atob(text);
  const deflated = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) deflated[i] = binary.charCodeAt(i);
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
