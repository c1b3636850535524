// The search for events by name.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useShown, useViewer } from './context.ts';
import { Icon } from './icons.tsx';
import { kSearchId } from './keys.ts';
import type { Found } from './source.ts';
import { count, plural } from './text.ts';

const kPause = 150; // ms between the last key and the search

export function Search() {
  const viewer = useViewer();
  const query = useShown((state) => state.query);
  const found = useShown((state) => state.found);
  const [typed, type] = useState(query);
  const timer = useRef(0);
  useEffect(() => type(query), [query]);
  const search = (direction: 'next' | 'previous') => {
    clearTimeout(timer.current);
    void viewer.search(typed, direction);
  };
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search('next');
      }}
    >
      <Icon name="search" />
      <input
        id={kSearchId}
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder="Find events by name  ( / )"
        aria-label="Find events by name"
        value={typed}
        onInput={(event) => {
          const text = event.currentTarget.value;
          type(text);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => void viewer.search(text, 'next'), kPause);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !event.shiftKey) return;
          event.preventDefault();
          search('previous');
        }}
      />
      <output>{found === null ? '' : foundText(found)}</output>
      <button
        type="button"
        class="quiet"
        aria-label="Previous"
        title="Previous (Shift+Enter)"
        disabled={!found?.count}
        onClick={() => search('previous')}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="quiet"
        aria-label="Next"
        title="Next (Enter)"
        disabled={!found?.count}
        onClick={() => search('next')}
      >
        <Icon name="down" />
      </button>
    </form>
  );
}

// Returns which match is shown, and how many events match if not all can be shown.
function foundText({ count: shown, index, events }: Found): string {
  const place = `${count((index ?? 0) + 1)} of ${count(shown)}`;
  if (events === undefined) return shown === 0 ? 'none' : place;
  const all = events === null ? 'more are merged' : plural(events, 'event');
  if (shown > 0) return `${place} places (${all})`;
  return events === 0 ? 'none' : `${all}, merged`;
}
