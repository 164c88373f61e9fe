import { createHash } from 'node:crypto';

import type { DashboardView } from 'svc/contracts/monitor';

import { logsUid, metricsUid } from './data-sources.ts';

/** Tag by which a dashboard of svc is recognized in Grafana. */
export const ownTag = 'svc';

const longestUid = 40;

/** Theirs have 40 characters at most, and a namespace that all of their users share. */
export function grafanaUid(uid: string): string {
  const own = `svc-${uid}`;
  return own.length <= longestUid
    ? own
    : `${own.slice(0, longestUid - 9)}-${createHash('sha256').update(uid).digest('hex').slice(0, 8)}`;
}

/**
 * A dashboard as Grafana's API takes it, without the id and version that only Grafana knows, and
 * with queries that come back here.
 */
export function dashboardJson(view: DashboardView): Readonly<Record<string, unknown>> {
  const {
    id: _id,
    version: _version,
    __inputs: _inputs,
    __requires: _requires,
    tags,
    ...whole
  } = view.grafana({ metrics: metricsUid, logs: logsUid });
  return {
    ...whole,
    uid: grafanaUid(view.uid),
    tags: [...(Array.isArray(tags) ? tags.filter((tag) => tag !== ownTag) : []), ownTag],
  };
}
