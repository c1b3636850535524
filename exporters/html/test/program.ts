// Runs xlaprof. The environment variable XLAPROF names the program.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

export const program = process.env.XLAPROF;
export const skip = program ? false : 'XLAPROF does not name the program';

export const folder = mkdtempSync(join(tmpdir(), 'xlaprof-tests-'));
after(() => rmSync(folder, { recursive: true }));

export function xlaprof(...args: string[]): void {
  execFileSync(program!, args);
}

// Serves a capture. Returns the URL, and a function that ends the server.
export function served(path: string): Promise<{ url: string; end: () => void }> {
  const server = spawn(program!, ['view', path, '--no-open'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((done, failed) => {
    server.on('exit', (status) => failed(new Error(`xlaprof view ended with ${status}`)));
    server.stdout.on('data', (said: Buffer) => {
      const url = String(said).match(/http:\S+/)?.[0];
      if (url) done({ url, end: () => server.removeAllListeners('exit').kill() });
    });
  });
}
