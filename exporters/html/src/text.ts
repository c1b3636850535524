// Formats numbers and names for people.

const units: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

// Returns three digits and a unit, as the report prints them: 652 ms, 1.64 s.
export function duration(ns: number | null): string {
  if (ns === null) return '–';
  if (ns === 0) return '0';
  const size = Math.abs(ns);
  const [scale, unit] = units.find(([scale]) => size >= scale * 0.9995) ?? units[3];
  const value = ns / scale;
  return `${trimmed(value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) + 1e-12)))))} ${unit}`;
}

// Returns a time with all its digits, in groups of three: 1.234 567 89 s.
export function exactTime(ns: number): string {
  if (ns === 0) return '0';
  const [scale, unit] = units.find(([scale]) => Math.abs(ns) >= scale) ?? units[3];
  const whole = Math.trunc(ns / scale);
  const rest = Math.abs(Math.round(ns - whole * scale));
  const digits = Math.round(Math.log10(scale));
  const fraction = rest === 0 ? '' : rest.toString().padStart(digits, '0').replace(/0+$/, '');
  const grouped = fraction.replace(/(\d{3})(?=\d)/g, '$1\u202f');
  const sign = whole === 0 && ns < 0 ? '-' : '';
  return `${sign}${count(whole)}${grouped && '.' + grouped} ${unit}`;
}

// Returns a sentence of the report with the units of this page: 839 us becomes 839 µs.
export function prose(text: string, most?: number): string {
  return printable(text, most).replace(/(\d) us\b/g, '$1 µs');
}

// Returns a number with separators: 449,936.
export function count(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// Returns a counter's value with four digits. Integers below 100,000 keep all their digits.
export function quantity(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e16) return value.toPrecision(4);
  if (size >= 1e5) {
    const power = Math.min(4, Math.floor(Math.log10(size) / 3));
    return `${trimmed((value / 1000 ** power).toPrecision(4))} ${['', 'k', 'M', 'G', 'T'][power]}`;
  }
  return trimmed(Number.isInteger(value) ? value.toString() : value.toPrecision(4));
}

// Returns a whole percentage: 63 %.
export function share(part: number): string {
  return part > 0 && part < 0.005 ? '< 1 %' : `${Math.round(part * 100)} %`;
}

// Returns a percentage with up to three digits, or with all digits of a larger whole one: 0.12 %,
// 63.4 %, 1,099 %.
export function percent(part: number): string {
  if (part > 0 && part < 0.0001) return '< 0.01 %';
  if (part >= 9.995) return `${count(part * 100)} %`;
  return `${trimmed((part * 100).toPrecision(part >= 0.1 ? 3 : 2))} %`;
}

export function plural(n: number, one: string, many = one + 's'): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// Returns what to call a slice that stands for several events.
export function mergedText(events: number): string {
  return `${count(events)} events, merged`;
}

function trimmed(digits: string): string {
  return digits.includes('.') && !digits.includes('e') ? digits.replace(/\.?0+$/, '') : digits;
}

// The characters that text of a capture must not put into the page: they would end lines, change
// the direction of other text, or be invisible.
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export const kMaxShown = 4096; // the most characters of one text

// Returns `text` on one line, with a visible sign for each unprintable character. A very long text
// is cut.
export function printable(text: string, most = kMaxShown): string {
  const cut =
    text.length > most ? `${text.slice(0, most)}… (${count(text.length)} characters)` : text;
  return cut.replace(unprintable, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
  });
}

// Returns the last part of a path.
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
