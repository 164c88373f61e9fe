import type { ComponentType } from 'preact';

import type { IconName } from '../kit/icon.tsx';
import { pages as text } from '../text/english/frame.ts';

/** A page of the console; `load` brings its code when it is opened first. */
export interface PageEntry {
  /** First part of its address, `/ui/<id>`; the empty one is the overview. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  readonly section?: string;
  /** `g` and this key lead there. */
  readonly key?: string;
  /** True to keep the page out of the navigation: it is reached by links. */
  readonly hidden?: boolean;
  /** The plugin it belongs to: without that one it is not in the navigation. */
  readonly room?: string;
  /** Permission that the page requires, such as `*` for administrators. */
  readonly right?: string;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/**
 * Returns all built-in pages, in the order of the navigation. A page is a folder here and an entry
 * below.
 */
export const pages = (): readonly PageEntry[] => [
  {
    id: '',
    title: text.overview,
    icon: 'overview',
    key: 'o',
    load: () => import('./overview/page.tsx'),
  },
  {
    id: 'incidents',
    title: text.incidents,
    icon: 'incidents',
    section: text.watch,
    key: 'i',
    room: 'alert',
    load: () => import('./incidents/page.tsx'),
  },
  {
    id: 'devices',
    title: text.devices,
    icon: 'devices',
    section: text.watch,
    key: 'd',
    room: 'device',
    load: () => import('./devices/page.tsx'),
  },
  {
    id: 'checks',
    title: text.checks,
    icon: 'checks',
    section: text.watch,
    room: 'checks',
    load: () => import('./checks/page.tsx'),
  },
  {
    id: 'heartbeats',
    title: text.heartbeats,
    icon: 'jobs',
    section: text.watch,
    room: 'heartbeats',
    load: () => import('./heartbeats/page.tsx'),
  },
  {
    id: 'dashboards',
    title: text.dashboards,
    icon: 'dashboards',
    section: text.watch,
    key: 'b',
    room: 'monitor',
    load: () => import('./dashboards/page.tsx'),
  },
  {
    id: 'explore',
    title: text.explore,
    icon: 'explore',
    section: text.watch,
    key: 'e',
    room: 'metricsdb',
    load: () => import('./explore/page.tsx'),
  },
  {
    id: 'logs',
    title: text.logs,
    icon: 'logs',
    section: text.watch,
    key: 'l',
    room: 'logs',
    load: () => import('./logs/page.tsx'),
  },
  {
    id: 'traces',
    title: text.traces,
    icon: 'traces',
    section: text.watch,
    key: 't',
    room: 'traces',
    load: () => import('./traces/page.tsx'),
  },
  {
    id: 'topology',
    title: text.topology,
    icon: 'topology',
    section: text.watch,
    key: 'm',
    room: 'topology',
    load: () => import('./topology/page.tsx'),
  },
  {
    id: 'rules',
    title: text.rules,
    icon: 'rules',
    section: text.alerting,
    key: 'r',
    room: 'alert',
    load: () => import('./rules/page.tsx'),
  },
  {
    id: 'silences',
    title: text.silences,
    icon: 'silences',
    section: text.alerting,
    key: 's',
    room: 'alert',
    load: () => import('./silences/page.tsx'),
  },
  {
    id: 'channels',
    title: text.channels,
    icon: 'channels',
    section: text.alerting,
    key: 'n',
    room: 'notify',
    load: () => import('./channels/page.tsx'),
  },
  {
    id: 'chat',
    title: text.chat,
    icon: 'chat',
    section: text.act,
    key: 'c',
    room: 'chat',
    load: () => import('./chat/page.tsx'),
  },
  {
    id: 'approvals',
    title: text.approvals,
    icon: 'approvals',
    section: text.act,
    key: 'a',
    room: 'approval',
    load: () => import('./approvals/page.tsx'),
  },
  {
    id: 'shell',
    title: text.shell,
    icon: 'shell',
    section: text.act,
    key: 'h',
    room: 'webshell',
    load: () => import('./shell/page.tsx'),
  },
  {
    id: 'agents',
    title: text.agents,
    icon: 'agents',
    section: text.act,
    room: 'persona',
    load: () => import('./agents/page.tsx'),
  },
  {
    id: 'schedules',
    title: text.schedules,
    icon: 'jobs',
    section: text.act,
    room: 'schedules',
    load: () => import('./schedules/page.tsx'),
  },
  {
    id: 'knowledge',
    title: text.knowledge,
    icon: 'knowledge',
    section: text.know,
    key: 'k',
    room: 'knowledge',
    load: () => import('./knowledge/page.tsx'),
  },
  {
    id: 'packs',
    title: text.packs,
    icon: 'packs',
    section: text.run,
    key: 'p',
    room: 'marketplace',
    load: () => import('./packs/page.tsx'),
  },
  {
    id: 'users',
    title: text.users,
    icon: 'users',
    section: text.run,
    key: 'u',
    room: 'iam',
    load: () => import('./users/page.tsx'),
  },
  {
    id: 'stores',
    title: text.stores,
    icon: 'link',
    section: text.run,
    room: 'connected-stores',
    load: () => import('./stores/page.tsx'),
  },
  {
    id: 'settings',
    title: text.settings,
    icon: 'settings',
    section: text.run,
    key: ',',
    room: 'setting',
    right: '*',
    load: () => import('./settings/page.tsx'),
  },
  {
    id: 'jobs',
    title: text.jobs,
    icon: 'jobs',
    section: text.run,
    key: 'j',
    room: 'jobs',
    right: 'job:read',
    load: () => import('./jobs/page.tsx'),
  },
  {
    id: 'audit',
    title: text.audit,
    icon: 'audit',
    section: text.run,
    room: 'audit',
    right: '*',
    load: () => import('./audit/page.tsx'),
  },
  {
    id: 'plugins',
    title: text.plugins,
    icon: 'plugins',
    section: text.run,
    room: 'host',
    load: () => import('./plugins/page.tsx'),
  },
  {
    id: 'api',
    title: text.api,
    icon: 'link',
    section: text.run,
    room: 'api-docs',
    load: () => import('./api/page.tsx'),
  },
  {
    id: 'evidence',
    title: text.evidence,
    icon: 'logs',
    hidden: true,
    room: 'skill',
    load: () => import('./evidence/page.tsx'),
  },
  {
    id: 'account',
    title: text.account,
    icon: 'users',
    hidden: true,
    room: 'session',
    load: () => import('./account/page.tsx'),
  },
];

export type { IconName };
