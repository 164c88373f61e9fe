import type { EdgeEntry, EdgeFleet } from 'svc/contracts/edge';
import type { MentionType } from 'svc/contracts/mention';
import { type ScopeSource, scopeOf } from 'svc/query';
import { type Handle, timestamp } from 'svc/sdk';

/** `@edge:3`, found by name or id. */
export const edgeMention = (
  fleet: Pick<EdgeFleet, 'list' | 'get'>,
  scopes: Handle<ScopeSource>,
): MentionType => ({
  type: 'edge',
  devices: 'narrowed',
  async search(q, principal, limit) {
    const seen = (await scopeOf(scopes, principal))?.ids;
    const wanted = q.toLowerCase();
    const fits = ({ id, name }: EdgeEntry): boolean =>
      name.toLowerCase().includes(wanted) || String(id) === wanted;
    const found = fleet.list().filter((edge) => isOf(edge, seen) && fits(edge));
    return found.slice(0, limit).map(({ id, name, status, agent_version: version }) => ({
      type: 'edge',
      id: String(id),
      label: name,
      insert: `@edge:${id}`,
      subtitle: version === null ? status : `${status}, agent ${version}`,
    }));
  },
  async resolve(id, principal) {
    const found = fleet.get(Number(id));
    return found === undefined || !isOf(found, (await scopeOf(scopes, principal))?.ids)
      ? undefined
      : {
          label: found.name,
          facts: { ...found, last_seen_at: found.last_seen_at && timestamp(found.last_seen_at) },
        };
  },
});

/** Undefined: all are seen. */
const isOf = ({ device_id: device }: EdgeEntry, seen: ReadonlySet<number> | undefined): boolean =>
  seen === undefined || (device !== null && seen.has(device));
