// Runs the tests. Each *.test.ts is bundled, then Node's own test runner runs all bundles. They wait
// for the browser most of the time, so several run at once.
//   node test/run.mjs [part of a file's name]
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = `${here}../.cache/test`;
mkdirSync(out, { recursive: true });
const tests = readdirSync(here).filter(
  (name) => name.endsWith('.test.ts') && name.includes(process.argv[2] ?? ''),
);
await build({
  absWorkingDir: here,
  entryPoints: tests,
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node18',
  packages: 'external',
  jsx: 'automatic',
  jsxImportSource: 'preact',
});
const files = tests.map((name) => `${out}/${name.replace(/ts$/, 'mjs')}`);
process.exit(
  spawnSync(process.execPath, ['--test', '--test-concurrency=3', ...files], {
    cwd: `${here}..`,
    stdio: 'inherit',
  }).status ?? 1,
);
