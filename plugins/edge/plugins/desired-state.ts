import { createHash } from 'node:crypto';

import { type Ids, isSvcError, type Logger } from 'svc/sdk';

import type { Catalogue } from './catalogue.ts';
import type { EdgeMethods } from '../contract.ts';
import type { EdgeRecord } from '../record.ts';
import type { Roll } from '../edge-table.ts';

type Configuration = EdgeMethods['config_apply']['params'];

/** Brings what edges run in line with what is wanted of them: an edge tells the hash of what it has, and is sent only what differs. */
export interface Desired {
  of(record: EdgeRecord): Configuration;
  /** Sends the configuration to this edge if it has another one; returns at once. */
  settle(record: EdgeRecord): void;
  /** Tries those again that could not be settled. */
  settleAll(): void;
  /** After a change of the catalogue. */
  forget(): void;
}

export interface DesiredParts {
  readonly roll: Roll;
  readonly catalogue: Catalogue;
  readonly up: ReadonlySet<number>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

/** A new version of the manager changes the configuration of the whole fleet at once. */
const atOnce = 32;
const applyMs = 30_000;

export function createDesired({ roll, catalogue, up, ids, log }: DesiredParts): Desired {
  let usual: Configuration | undefined;
  const waiting = new Set<EdgeRecord>();
  let busy = 0;

  function of(record: EdgeRecord): Configuration {
    return record.wishes === undefined ? (usual ??= configurationOf(catalogue, undefined)) : configurationOf(catalogue, record.wishes);
  }

  function next(): void {
    for (const record of waiting) {
      if (busy >= atOnce) {
        return;
      }
      waiting.delete(record);
      busy += 1;
      void apply(record).finally(() => {
        busy -= 1;
        next();
      });
    }
  }

  async function apply(record: EdgeRecord): Promise<void> {
    const { tunnel } = record;
    const wanted = of(record);
    if (!tunnel || tunnel.settling || tunnel.configHash === wanted.hash || !tunnel.capabilities.methods.includes('config_apply')) {
      return;
    }
    tunnel.settling = true;
    try {
      await tunnel.session.call('config_apply', wanted, { timeoutMs: applyMs, idempotencyKey: ids.uuid() });
      tunnel.configHash = wanted.hash;
    } catch (error) {
      // Offline, late, or it has refused: it is tried again in a while, and at its next connection.
      log.warn({ edge: record.id, cause: isSvcError(error) ? error.message : String(error) }, 'an edge did not take its configuration');
      return;
    } finally {
      tunnel.settling = false;
    }
    // Somebody may have changed it meanwhile.
    if (of(record).hash !== wanted.hash) {
      waiting.add(record);
    }
  }

  function settle(record: EdgeRecord): void {
    if (record.tunnel && record.tunnel.configHash !== of(record).hash) {
      waiting.add(record);
      next();
    }
  }

  return {
    of,
    settle,
    settleAll() {
      for (const id of up) {
        const record = roll.byId(id);
        if (record) {
          settle(record);
        }
      }
    },
    forget() {
      usual = undefined;
    },
  };
}

function configurationOf(catalogue: Catalogue, wishes: EdgeRecord['wishes']): Configuration {
  const plugins = Object.fromEntries(
    catalogue
      .all()
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, default_enabled: usually }) => {
        const wish = wishes?.get(name);
        return [name, { enabled: wish?.enabled ?? usually, spec: JSON.parse(wish?.spec ?? '{}') as Record<string, unknown> }];
      }),
  );
  return { hash: createHash('sha256').update(JSON.stringify(plugins)).digest('hex'), plugins };
}
