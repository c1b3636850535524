// Builds viewer.html, or the file that the argument names: the page with its script and style,
// their hashes in its content security policy, and the licence of Preact. Equal sources give equal
// bytes.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

async function bundled(entry) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome110', 'firefox115', 'safari16.4'],
    charset: 'ascii', // so the hash does not depend on the encoding with which the file is read
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const text = result.outputFiles[0].text.trim();
  if (/<\/(script|style)|<!--/i.test(text))
    throw new Error(`${entry}: its text would end the element that it is in`);
  return text;
}

function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

const script = await bundled('src/main.tsx');
const style = await bundled('style/style.css');
const license = readFileSync(`${here}node_modules/preact/LICENSE`, 'utf8').trim();
const page = readFileSync(`${here}page.html`, 'utf8')
  .replace('SCRIPT_HASH', () => hashOf(script))
  .replace('STYLE_HASH', () => hashOf(style))
  .replace('PREACT_LICENSE', () => license)
  .replace('/*STYLE*/', () => style)
  .replace('/*SCRIPT*/', () => script);
writeFileSync(process.argv[2] ?? `${here}viewer.html`, page);
