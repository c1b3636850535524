// Opens a page in Debian's chromium, and records what no viewer may do.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type Data, fileOf } from './encode.ts';

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

const folder = mkdtempSync(join(tmpdir(), 'xlaprof-viewer-'));

// Writes a file with the data in it, as the exporter does, and returns its URL.
export function writeFile(name: string, data: Data): string {
  const page = readFileSync(process.env.VIEWER ?? 'viewer.html', 'utf8');
  const path = join(folder, `${name}.html`);
  writeFileSync(path, fileOf(page, data));
  return pathToFileURL(path).href;
}

export interface Watched {
  page: Page;
  wrongs: string[]; // errors, dialogs, and requests to other addresses
}

export async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const wrongs: string[] = [];
  page.on(
    'console',
    (message) => ['error', 'warning'].includes(message.type()) && wrongs.push(message.text()),
  );
  page.on('pageerror', (error) => wrongs.push(String(error.stack)));
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const file = url.split('#')[0];
  page.on('request', (request) => {
    const to = request.url();
    if (
      to.split('#')[0] !== file &&
      !to.startsWith('data:') &&
      !to.startsWith(file.slice(0, file.lastIndexOf('/') + 1))
    )
      wrongs.push(`request: ${to}`);
  });
  await page.goto(url);
  await page.waitForSelector('[aria-label=Findings]:not([aria-busy=true])');
  await settled(page);
  return { page, wrongs };
}

const kNever = 120_000; // ms
const kLonger = 250; // ms; longer than the page ever waits before it does something

// Waits until the page has nothing more to do, which is when it is the same twice in a row. This
// works on slow machines, too.
export async function settled(page: Page): Promise<void> {
  const look = () =>
    page.evaluate(
      (pause) =>
        new Promise<string>((done) => {
          const see = () => done(location.hash + document.body.innerText);
          setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(see)), pause);
        }),
      kLonger,
    );
  const begin = Date.now();
  for (let before = await look(); Date.now() - begin < kNever; ) {
    const now = await look();
    if (now === before) return;
    before = now;
  }
  throw new Error('the page does not come to rest');
}
