// first_picture.mjs xlaprof PROGRAM STORE
// first_picture.mjs perfetto PROGRAM STORE      in Perfetto's page, as `xlaprof view --perfetto` serves it
// first_picture.mjs xprof PROGRAM XSPACE        in XProf's trace_viewer@
// Prints, as JSON, the seconds until a timeline shows coloured slices in Debian's chromium, which renders in software: without
// the server's start (`page_s`) and with it (`wall_s`). Also prints the highest peak memory of a renderer (`page_mb`).
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { chromium } = createRequire(new URL('../../exporters/html/', import.meta.url))('playwright-core');
const kSize = { width: 1280, height: 800 };
const kSeen = { x: 400, y: 250, width: 600, height: 400 }; // a part of the page that shows lanes in every viewer
const kColoured = 0.005; // the share of its pixels that must have a colour
const kLongest_s = 180;

const [tool, program, path] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'first-picture-'));

// Starts a server. Resolves with the address that `find` finds in its output.
function serve(command, args, find) {
  const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const url = new Promise((done, failed) => {
    let said = '';
    const listen = (text) => {
      said += text;
      const found = find(said);
      if (found) done(found);
    };
    server.stdout.on('data', listen);
    server.stderr.on('data', listen);
    server.on('exit', (status) => failed(new Error(`${command} ended with ${status}: ${said.slice(-300)}`)));
  });
  return { url, end: () => server.removeAllListeners('exit').kill() };
}

function xprof() {
  const port = 20000 + (process.pid % 20000);
  mkdirSync(join(folder, 'plugins/profile/run'), { recursive: true });
  copyFileSync(path, join(folder, 'plugins/profile/run/host.xplane.pb'));
  const server = serve(program, ['--logdir', folder, '--port', port, '--grpc_port', port + 1], () => null);
  const data = encodeURIComponent('/data/plugin/profile/data?run=run&tag=trace_viewer@&host=host');
  const page = `http://127.0.0.1:${port}/data/plugin/profile/trace_viewer_index.html`;
  const answers = async () => {
    for (;;) {
      if (await fetch(page).then((answer) => answer.ok, () => false)) return;
      await new Promise((later) => setTimeout(later, 20));
    }
  };
  const url = Promise.race([server.url, answers()]).then(
    () => `${page}?is_streaming=true&is_oss=true&trace_data_url=${data}`,
  );
  return { url, end: server.end };
}

const ours = (...more) => serve(program, ['view', path, '--no-open', ...more], (said) => said.match(/http:\S+/)?.[0]);
const open = { xlaprof: () => ours(), perfetto: () => ours('--perfetto'), xprof }[tool];

// Returns the share of pixels that are not grey.
function coloured(blank, png) {
  return blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const ctx = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    ctx.drawImage(bitmap, 0, 0);
    const { data } = ctx.getImageData(0, 0, bitmap.width, bitmap.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [least, most] = [Math.min(data[i], data[i + 1], data[i + 2]), Math.max(data[i], data[i + 1], data[i + 2])];
      if (most - least > 40) ++count;
    }
    return count / (data.length / 4);
  }, png.toString('base64'));
}

// Returns the highest peak memory, in MB, of the descendants of this process that render pages.
function renderersPeak() {
  const parents = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const renders = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer');
      const number = (key) => Number(status.match(new RegExp(`^${key}:\\s*(\\d+)`, 'm'))?.[1] ?? 0);
      parents.set(Number(pid), { parent: number('PPid'), peak: renders ? number('VmHWM') : 0 });
    } catch {
      // The process has ended meanwhile.
    }
  const isMine = (pid) => pid === process.pid || (parents.has(pid) && isMine(parents.get(pid).parent));
  const peaks = [...parents].filter(([pid]) => isMine(pid)).map(([, { peak }]) => peak);
  return (Math.max(...peaks) * 1024) / 1e6;
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});
let server;
try {
  const blank = await browser.newPage();
  const page = await browser.newPage({ viewport: kSize });
  const start = performance.now();
  server = open();
  const url = await server.url;
  const served = performance.now();
  const seconds = (since) => (performance.now() - since) / 1000;
  await page.goto(url, { waitUntil: 'commit' });
  for (;;) {
    const png = await page.screenshot({ clip: kSeen });
    const taken = { page_s: seconds(served), wall_s: seconds(start) };
    if ((await coloured(blank, png)) > kColoured) {
      console.log(JSON.stringify({ ...taken, page_mb: renderersPeak() }));
      break;
    }
    if (taken.wall_s > kLongest_s) {
      await page.screenshot({ path: process.env.LAST_PICTURE ?? join(tmpdir(), 'first_picture.png') });
      throw new Error(`no picture after ${kLongest_s} s`);
    }
  }
} catch (error) {
  console.error(String(error.message));
  process.exitCode = 1;
} finally {
  server?.end();
  await browser.close();
  rmSync(folder, { recursive: true });
}
