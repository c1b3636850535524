// Serves a made-up run as docs/formats/view.md says that `xlaprof view` does.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeSlices, halves, sourceOf } from './encode.ts';
import type { Training } from './training.ts';

export interface Served {
  url: string;
  asked: string[]; // addresses, in order
  close: () => void;
}

export async function serve({ run, lanes, texts, data }: Training): Promise<Served> {
  const [outline, conclusions] = halves(run);
  const source = await sourceOf(data);
  const idOf = new Map([...texts].map(([id, text]) => [text, id]));
  const asked: string[] = [];

  async function answer(path: string, of: URLSearchParams): Promise<Uint8Array | string | null> {
    const number = (key: string) => Number(of.get(key));
    const wanted = of.get('lanes')?.split(',').map(Number) ?? lanes.map(({ id }) => id);
    if (path === '') return readFileSync(process.env.VIEWER ?? 'viewer.html');
    if (path === 'run.json') return JSON.stringify(outline);
    if (path === 'findings.json') return JSON.stringify(conclusions);
    // The answer may be finer and longer than requested, so it has all slices of these lanes.
    if (path === 'slices')
      return encodeSlices(
        lanes.filter(({ id }) => wanted.includes(id)),
        run.span.end_ns,
        texts,
      );
    if (path === 'event') return JSON.stringify(await source.event(number('id')));
    if (path === 'range')
      return JSON.stringify(await source.range(wanted, number('from_ns'), number('to_ns')));
    if (path !== 'search') return null;
    const direction = of.get('direction') as 'next' | 'previous';
    const [text, ts, id] = [of.get('text')!, number('ts_ns'), number('id')];
    const found = await source.search({ text, direction, ts, id });
    const names = found.names.map((name) => idOf.get(source.names.text(name)));
    return JSON.stringify({ ...found, names });
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1');
    asked.push(request.url!.replace('/secret/', ''));
    try {
      const body = pathname.startsWith('/secret/')
        ? await answer(pathname.slice(8), searchParams)
        : null;
      response.writeHead(body === null ? 404 : 200, { 'Content-Type': 'text/html' }).end(body);
    } catch (error) {
      response.writeHead(404).end(String((error as Error).message));
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/secret/`,
    asked,
    close: () => server.close(),
  };
}
