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
  /** Only for those who hold the right, such as `*` for administrators. */
  readonly right?: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** All pages of the house, in the order of the navigation. A page is a folder here and one line below. */
export const pages = (): readonly PageEntry[] => [{ id: '', title: text.overview, icon: 'overview', key: 'o', load: () => import('./overview/page.tsx') }];

export type { IconName };
