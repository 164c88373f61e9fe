import type { EdgeHelloState } from 'svc/edge-protocol';
import { type ScopeSource, scopeOf } from 'svc/query';
import type {
  AuditTrailContract,
  Call,
  Clock,
  Handle,
  Ids,
  Logger,
  Principal,
  Tables,
} from 'svc/sdk';
import { type AuthenticatedEdge, closeCode, TunnelRefusal } from 'svc/tunnel';

import { edgeStore, found, foundFor } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeEvents } from '../record/events.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { EdgeView, ShownEdge } from '../record/shown.ts';
import type { EdgeTables } from '../record/tables.ts';
import type { CloneDetector } from './clone-detector.ts';
import { errors } from './errors.ts';

export interface ConflictParts {
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly scopes: Handle<ScopeSource>;
  readonly clones: CloneDetector;
  readonly view: EdgeView;
  readonly trail: Handle<AuditTrailContract>;
  readonly events: EdgeEvents;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

const system: Principal = { kind: 'system', id: 'edge', name: 'edge', role: 'system', grants: [] };
/** Retry times of refused machines, which stay refused until a person has looked. */
const away = { retryMinMs: 300_000, retryMaxMs: 900_000, graceMs: 0 } as const;

/** Two machines with the keys of one edge: neither is let in until a person says which of them is meant. */
export class Conflicts {
  readonly #parts: ConflictParts;

  constructor(parts: ConflictParts) {
    this.#parts = parts;
  }

  /** Throws TunnelRefusal while there is one, and afterwards for every machine but the chosen one. */
  assertNone({ id, conflict, onlyMachine }: EdgeRecord, machine: string): void {
    if (conflict) {
      throw new TunnelRefusal(
        closeCode.duplicate,
        `two machines use the keys of edge ${id}; choose one at the manager (resolve)`,
        {
          minMs: away.retryMinMs,
          maxMs: away.retryMaxMs,
        },
      );
    }
    if (onlyMachine !== null && onlyMachine !== machine) {
      throw new TunnelRefusal(
        closeCode.duplicate,
        `edge ${id} belongs to another machine; enrol this machine as its own edge`,
      );
    }
  }

  /** Throws TunnelRefusal for a machine with the secret of this edge that is not the one it belongs to; the edge tells of it. */
  assertItsMachine(
    record: EdgeRecord,
    { machineKey: key, state }: Pick<AuthenticatedEdge, 'machineKey' | 'state'>,
    ip: string,
  ): void {
    if (record.machineKey === null || record.machineKey === key) {
      record.refused = undefined;
      return;
    }
    const saysWhy =
      (state as EdgeHelloState).machine_key_damaged === true
        ? ' (its agent reports that its file machine.key was damaged, and that it made a new key)'
        : '';
    const shows = key === undefined ? 'shows none' : `has another${saysWhy}`;
    const reason = `edge ${record.id} belongs to a machine with a key of its own, and the one that came with its secret ${shows}`;
    if (record.refused?.reason !== reason || record.refused.ip !== ip) {
      this.#parts.log.warn(
        { event: 'edge.other_machine', edge: record.id, ip },
        'edge refused: another machine is using its secret',
      );
    }
    record.refused = { at: this.#parts.clock.now(), ip, key: key ?? null, reason };
    const remedy = `if this is its machine: "svc edge resolve ${record.id}"; otherwise rotate its secret`;
    throw new TunnelRefusal(closeCode.duplicate, `${reason}; ${remedy}`, {
      minMs: away.retryMinMs,
      maxMs: away.retryMaxMs,
    });
  }

  async declare(record: EdgeRecord, machines: readonly string[]): Promise<void> {
    const { tables, clock, log, events } = this.#parts;
    const since = clock.now();
    record.conflict = { since, machines };
    record.tunnel?.session.goAway(
      { code: closeCode.duplicate, message: 'two machines use the keys of this edge' },
      away,
    );
    await tables.write(async (tx) => {
      await found(record.id, tx);
      await edgeStore(tx).update(
        record.id,
        { conflict_since: since, conflict_machines: JSON.stringify(machines), only_machine: null },
        since,
      );
      const { trail, ids } = this.#parts;
      if (trail.available) {
        await trail.get().append(tx, {
          occurredAt: since,
          principal: system,
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
    log.warn(
      { event: 'edge.keys_shared', edge: record.id, machines },
      'edge refused: several machines are using its keys; choose one (resolve), or rotate its secret',
    );
    events.conflict(record);
  }

  /** Ends a conflict: with this machine, or with the one that connects first; or makes the machine that was refused the one of the edge. */
  async resolve(
    by: Pick<Call, 'principal' | 'note'>,
    id: number,
    machine: string | undefined,
  ): Promise<ShownEdge> {
    const { edgeTable, tables, scopes, clones, view, clock, log, events } = this.#parts;
    const seen = await scopeOf(scopes, by.principal);
    const row = await tables.write(async (tx) => {
      const before = await foundFor(seen, id, tx);
      const known = edgeTable.byId(id);
      const refused = known?.refused;
      if (before.conflict_since === null && refused === undefined) {
        throw errors.no_conflict({ id });
      }
      if (refused && known?.tunnel) {
        throw errors.own_machine_online({ id });
      }
      const anew = refused && {
        machine_key: refused.key,
        takes_device: before.device_id ?? before.takes_device,
      };
      const settled = {
        conflict_since: null,
        conflict_machines: null,
        only_machine: machine?.toLowerCase() ?? null,
        ...anew,
      };
      const after = await edgeStore(tx).update(id, settled, clock.now());
      by.note({ before: view.of(before), after: view.of(after) });
      return after;
    });
    const record = await edgeTable.reload(id);
    clones.forget(id);
    if (record) {
      record.refused = undefined;
      log.info({ edge: id, machine }, 'edge conflict resolved');
      events.conflict(record);
    }
    return view.of(row);
  }
}
