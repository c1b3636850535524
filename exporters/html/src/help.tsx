// What hands can do, in a dialog.
import { useEffect, useRef } from 'preact/hooks';
import { useShown, useViewer } from './context.ts';
import { Icon } from './icons.tsx';

const hands: [string, string][] = [
  ['W, S or ↑, ↓', 'zoom in and out, at the pointer; with Shift faster'],
  ['A, D or ←, →', 'move left and right; with Shift faster'],
  ['Ctrl + wheel, pinch', 'zoom at the pointer; over the ruler the wheel alone does'],
  ['Wheel', 'scroll the lanes; sideways, or with Shift, moves in time'],
  ['Drag', 'measure, in the lanes that it touches: length, and a table by name'],
  ['Drag on the ruler', 'the same, in all lanes'],
  ['Shift + drag', 'move'],
  ['Click', 'select; a step on its lane or in the strip is measured'],
  ['Double click, F', 'fit what is selected; again: everything'],
  [', and .', 'the slice before and behind the selected one'],
  ['M', 'mark what is selected, or the place under the pointer; again: unmark'],
  ['/', 'find events by name; Enter or N next, Shift + Enter or Shift + N previous'],
  ['Page up, Page down', 'scroll the lanes'],
  ['Escape', 'close what was opened last'],
];

export function Help() {
  const viewer = useViewer();
  const isOpen = useShown((state) => state.help);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current!.showModal();
    else dialog.current!.close();
  }, [isOpen]);
  const close = () => viewer.store.set({ help: false });
  return (
    <dialog ref={dialog} aria-label="Help" onClose={close}>
      <button class="quiet close" aria-label="Close" onClick={close}>
        <Icon name="close" />
      </button>
      <h2>Hands</h2>
      <dl>
        {hands.map(([hand, what]) => (
          <>
            <dt>{hand}</dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <h2>Signs</h2>
      <dl>
        <dt>
          <i class="sample compile" />
        </dt>
        <dd>a compilation</dd>
        <dt>
          <i class="sample gap" />
        </dt>
        <dd>a device that idles or waits, by a finding</dd>
        <dt>
          <i class="sample unknown" />
        </dt>
        <dd>no source looked at this time</dd>
      </dl>
      <p class="calm">
        A name has the same colour in every run. The address holds what you see: send it to show a
        colleague the same. xlaprof {viewer.run.xlaprof}
      </p>
    </dialog>
  );
}
