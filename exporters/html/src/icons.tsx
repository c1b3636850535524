// Small icons, drawn in the colour of the text.
const paths = {
  down: 'M3 6l5 5 5-5',
  right: 'M6 3l5 5-5 5',
  up: 'M3 10l5-5 5 5',
  pin: 'M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10 10l4 4',
  help: 'M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9 8 10M8 12.5v.5',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
};

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
