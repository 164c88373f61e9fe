/** Shapes drawn on a grid of 16, in the colour of the text around them. */
const shapes = {
  overview: 'M2.5 9.5 8 3l5.5 6.5M4 8v5h8V8',
  incidents: 'M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.2v.3',
  devices: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  checks: 'M2 8h3l1.5-4 3 8L11 8h3',
  explore: 'M2.5 12.5 6 8l2.5 2.5 5-7M2.5 2.5v11h11',
  logs: 'M3 4h10M3 8h7M3 12h9',
  traces: 'M2.5 4h6M5 8h6M8 12h5.5',
  topology:
    'M8 5.5V8M8 8 4 10.5M8 8l4 2.5M8 2.5v3M2.5 10.5h3v3h-3zM10.5 10.5h3v3h-3zM6.5 2.5h3v3h-3z',
  dashboards: 'M2.5 2.5h5v6h-5zM9.5 2.5h4v3h-4zM9.5 7.5h4v6h-4zM2.5 10.5h5v3h-5z',
  chat: 'M2.5 3h11v8H7l-3 2.5V11H2.5z',
  approvals: 'M3 8.5 6.5 12 13 4.5',
  shell: 'M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10.5H11',
  rules: 'M3 4.5h10M3 8h10M3 11.5h10M6 3v3M10 6.5v3M5 10v3',
  silences: 'M3 6h2.5L9 3v10l-3.5-3H3zM11 6l3 4M14 6l-3 4',
  channels: 'M8 2.5a4 4 0 0 1 4 4V10l1.5 2h-11L4 10V6.5a4 4 0 0 1 4-4ZM6.5 13.5h3',
  agents: 'M8 3a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5ZM3 13.5c.5-3 2.5-4 5-4s4.500 1 5 4',
  knowledge: 'M3 3h4.500L8 4l.5-1H13v10H8.500L8 13.500 7.500 13H3zM8 4v9',
  packs: 'M8 2.500 13.500 5v6L8 13.500 2.500 11V5zM2.500 5 8 7.500 13.500 5M8 7.500v6',
  users:
    'M6 3a2.300 2.300 0 1 1 0 4.600A2.300 2.300 0 0 1 6 3ZM2 13c.3-2.800 1.800-4 4-4s3.700 1.200 4 4M10.500 3.500a2 2 0 0 1 0 4M11.500 9.300c1.500.4 2.300 1.600 2.500 3.700',
  settings: 'M3 4.500h5M11 4.500h2M3 11.500h2M8 11.500h5M9.500 3v3M6.500 10v3',
  jobs: 'M2.500 3.500h7v3h-7zM2.500 9.500h11v3h-11zM12 3.500v3',
  audit: 'M4 2.500h8v11H4zM6 5.500h4M6 8h4M6 10.500h2',
  plugins: 'M6 2.500v3M10 2.500v3M4 5.500h8v3a4 4 0 0 1-8 0zM8 12.500v1.500',
  search: 'M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8ZM10 10l3.500 3.500',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  close: 'M4 4l8 8M12 4l-8 8',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  sun: 'M8 5.500a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5ZM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500Z',
  table: 'M2.500 3.500h11v9h-11zM2.500 6.500h11M6.500 6.500v6',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  check: 'M3 8.500 6.500 12 13 4.500',
  plus: 'M8 3v10M3 8h10',
  trash: 'M3 4.500h10M6 4.500v-2h4v2M4.500 4.500l.5 9h6l.5-9',
  more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
  link: 'M9 3h4v4M13 3 7.500 8.500M11 9v4H3V5h4',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  play: 'M5 3l8 5-8 5z',
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      aria-hidden="true"
    >
      <path d={shapes[name]} stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
