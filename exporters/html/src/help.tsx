// A dialog that lists the mouse and keyboard controls, and the symbols of the timeline.
import { useEffect, useRef } from 'preact/hooks';
import { useShown, useViewer } from './context.ts';
import { Icon } from './icons.tsx';

const hands: [string, string][] = [
  ['W, S or ↑, ↓', 'zoom in and out at the pointer; Shift makes it faster'],
  ['A, D or ←, →', 'move left and right; Shift makes it faster'],
  ['Ctrl + wheel, pinch', 'zoom at the pointer; over the ruler, the wheel alone zooms'],
  ['Wheel', 'scroll the lanes; a horizontal wheel, or Shift + wheel, moves in time'],
  ['Drag', 'measure a range in the lanes under the drag: its length, and its events by name'],
  ['Drag on the ruler', 'measure a range in all lanes'],
  ['Shift + drag', 'move in time, and scroll the lanes'],
  ['Click', 'select; a click on a step, in its lane or in the strip, measures the step'],
  ['Double click, F', 'fit the selection to the window; again: show the whole run'],
  [
    ', and .',
    'select the slice before or after the selected one, or else the last or first in view',
  ],
  ['J and K', 'select the slice at the same time on the row below or above'],
  [
    'R',
    'measure the selected event, or else the window; Shift + R: stretch the range to the event',
  ],
  ['M', 'mark the selection, or else the time under the pointer; again: remove the mark'],
  ['/', 'find events by name; Enter or N: next, Shift + Enter or Shift + N: previous'],
  ['L', 'show only lanes with such a name; Escape: show all lanes'],
  ['Page up, Page down', 'scroll the lanes'],
  ['Escape', 'close the help or the open panel; if none is open, clear the search'],
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
      <h2>Mouse and keyboard</h2>
      <dl>
        {hands.map(([hand, what]) => (
          <>
            <dt>{hand}</dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <h2>Symbols</h2>
      <dl>
        <dt>
          <i class="sample compile" />
        </dt>
        <dd>a compilation</dd>
        <dt>
          <i class="sample gap" />
        </dt>
        <dd>a finding says that a device idles or waits here</dd>
        <dt>
          <i class="sample unknown" />
        </dt>
        <dd>no source covers this time</dd>
      </dl>
      <p class="calm">
        A name has the same colour in every run. The address of this page includes the current view:
        send it to a colleague to show the same view. xlaprof {viewer.run.xlaprof}
      </p>
    </dialog>
  );
}
