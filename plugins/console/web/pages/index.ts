import type { ComponentType } from 'preact';

import type { IconName } from '../kit/icon.tsx';
import { words } from '../frame/words.ts';

const text = words('pages', {
  watch: 'Watch',
  act: 'Act',
  alerting: 'Alerting',
  know: 'Know',
  run: 'Run svc',
  overview: 'Overview',
  incidents: 'Incidents',
  devices: 'Devices',
  explore: 'Explore',
  logs: 'Logs',
  traces: 'Traces',
});

/** A page of the console; `load` brings its code when it is opened first. */
export interface PageEntry {
  /** First part of its address, `/ui/<id>`; the empty one is the overview. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  readonly section?: string;
  /** `g` and this key lead there. */
  readonly key?: string;
  /** Not in the navigation: reached by links. */
  readonly hidden?: boolean;
  /** The plugin it belongs to: without that one it is not in the navigation. */
  readonly room?: string;
  /** Only for those who hold the right, such as `*` for administrators. */
  readonly right?: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** All pages of the house, in the order of the navigation. A page is a folder here and one line below. */
export const pages = (): readonly PageEntry[] => [
  { id: '', title: text.overview, icon: 'overview', key: 'o', load: () => import('./overview/page.tsx') },
  { id: 'incidents', title: text.incidents, icon: 'incidents', section: text.watch, key: 'i', room: 'alert', load: () => import('./incidents/page.tsx') },
  { id: 'devices', title: text.devices, icon: 'devices', section: text.watch, key: 'd', room: 'device', load: () => import('./devices/page.tsx') },
  { id: 'explore', title: text.explore, icon: 'explore', section: text.watch, key: 'e', room: 'metricsdb', load: () => import('./explore/page.tsx') },
  { id: 'logs', title: text.logs, icon: 'logs', section: text.watch, key: 'l', room: 'logs', load: () => import('./logs/page.tsx') },
  { id: 'traces', title: text.traces, icon: 'traces', section: text.watch, key: 't', room: 'traces', load: () => import('./traces/page.tsx') },
];

export type { IconName };
