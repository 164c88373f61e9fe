import { type AuditTrailContract, type Clock, type Handle, type Ids, type Logger, type Principal, SvcError, type Tables } from 'svc/sdk';
import { closeCode, TunnelRefusal } from 'svc/tunnel';

import { edgeStore } from '../edge-store.ts';
import type { EdgeRecord } from '../record.ts';
import type { EdgeTables } from '../tables.ts';
import type { Telling } from '../events.ts';

/** Two machines with the keys of one edge: neither is let in until a person says which of them is meant. */
export interface Conflicts {
  /** Throws TunnelRefusal while there is one, and afterwards for every machine but the chosen one. */
  assertNone(record: EdgeRecord, machine: string): void;
  declare(record: EdgeRecord, machines: readonly string[]): Promise<void>;
}

export interface ConflictParts {
  readonly tables: Tables<EdgeTables>;
  readonly trail: Handle<AuditTrailContract>;
  readonly telling: Telling;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

const watchman: Principal = { kind: 'system', id: 'edge', name: 'edge', role: 'system', grants: [] };
/** They will be refused again until somebody has looked. */
const away = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

export function createConflicts({ tables, trail, telling, clock, ids, log }: ConflictParts): Conflicts {
  return {
    assertNone({ id, conflict, onlyMachine }, machine) {
      if (conflict) {
        throw new TunnelRefusal(closeCode.duplicate, `two machines use the keys of edge ${id}; somebody has to say at the manager which one is meant`, {
          minMs: away.retryMinMs,
          maxMs: away.retryMaxMs,
        });
      }
      if (onlyMachine !== null && onlyMachine !== machine) {
        throw new TunnelRefusal(closeCode.duplicate, `edge ${id} was given to another machine; enrol this one anew`);
      }
    },

    async declare(record, machines) {
      const since = clock.now();
      record.conflict = { since, machines };
      record.tunnel?.session.goAway({ code: closeCode.duplicate, message: 'two machines use the keys of this edge' }, away);
      await tables.write(async (tx) => {
        const before = await edgeStore(tx).find(record.id);
        if (!before) {
          throw new SvcError('not_found', `there is no edge ${record.id}`);
        }
        await edgeStore(tx).update(record.id, { conflict_since: since, conflict_machines: JSON.stringify(machines), only_machine: null }, since);
        if (trail.available) {
          await trail.get().append(tx, {
            occurredAt: since,
            principal: watchman,
            ip: '',
            userAgent: '',
            action: 'edge:conflict',
            resourceType: 'edge',
            resourceId: String(record.id),
            status: 'success',
            httpStatus: 0,
            error: undefined,
            requestId: ids.uuid(),
            before: { conflict: null },
            after: { conflict: { machine_uuids: machines } },
          });
        }
      });
      log.warn({ edge: record.id, machines }, `edge ${record.id} is used by several machines at once; all of them are refused`);
      telling.conflict(record);
    },
  };
}
