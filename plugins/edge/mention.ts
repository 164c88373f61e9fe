import { defineExtensionPoint, timestamp } from 'svc/sdk';

import type { MentionType } from '../mention/contract.ts';
import type { EdgeEntry, EdgeFleet } from './contract.ts';

/** By its id: the folder of that room may be taken away. */
export const mentions = defineExtensionPoint<MentionType>('mention.types');

/** `@edge:3`, found by name or id. */
export const edgeMention = (fleet: Pick<EdgeFleet, 'list' | 'get'>): MentionType => ({
  type: 'edge',
  search(q, _principal, limit) {
    const wanted = q.toLowerCase();
    const fits = ({ id, name }: EdgeEntry): boolean => name.toLowerCase().includes(wanted) || String(id) === wanted;
    const found = fleet.list().filter(fits).slice(0, limit);
    return Promise.resolve(
      found.map(({ id, name, status, agent_version: version }) => ({
        ...{ type: 'edge', id: String(id), label: name, insert: `@edge:${id}` },
        subtitle: version === null ? status : `${status}, agent ${version}`,
      })),
    );
  },
  resolve(id) {
    const found = fleet.get(Number(id));
    return Promise.resolve(found && { label: found.name, facts: { ...found, last_seen_at: found.last_seen_at && timestamp(found.last_seen_at) } });
  },
});
