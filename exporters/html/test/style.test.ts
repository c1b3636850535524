// Tests the style sheet's colours in both themes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrast, type Rgb } from '../src/oklch.ts';

// Returns the colours of a rule, by name.
function coloursOf(selector: string): Map<string, Rgb> {
  const css = readFileSync('style/colours.css', 'utf8');
  const start = css.indexOf(`${selector} {`);
  const rule = css.slice(start, css.indexOf('}', start));
  return new Map(
    [...rule.matchAll(/--([\w-]+): #([0-9a-f]{3,6});/g)].map(([, name, hex]) => {
      const digits = hex.length === 3 ? hex.replace(/./g, '$&$&') : hex;
      const parts = digits.match(/../g)!.map((part) => parseInt(part, 16) / 255);
      return [name, parts as Rgb];
    }),
  );
}

const light = coloursOf(':root');
const dark = coloursOf(":root[data-theme='dark']");

test('both themes have the same colours', () => {
  assert.ok(light.size > 20);
  assert.deepEqual([...light.keys()], [...dark.keys()]);
});

for (const [theme, colours] of [
  ['light', light],
  ['dark', dark],
] as const)
  test(`text can be read: ${theme}`, () => {
    const pairs = ['text', 'faint', 'accent', 'error', 'warning', 'info'].flatMap((name) =>
      ['back', 'page', 'stripe'].map((ground) => [name, ground]),
    );
    pairs.push(
      ['text', 'hover'],
      ['faint', 'hover'],
      ['compile-text', 'compile'],
      ['text', 'step'],
    );
    pairs.push(['text', 'began'], ['text', 'differs'], ['faint', 'began'], ['faint', 'dimmed']);
    for (const [name, ground] of pairs) {
      const found = contrast(colours.get(name)!, colours.get(ground)!);
      assert.ok(found >= 4.5, `${name} on ${ground}: ${found.toFixed(2)}`);
    }
  });
