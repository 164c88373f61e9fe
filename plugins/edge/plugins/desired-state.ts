import { createHash } from 'node:crypto';

import type { ConfigApply } from 'svc/edge-protocol';
import { type Ids, type Logger, messageOf } from 'svc/sdk';

import type { EdgeTable } from '../record/edge-table.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { ManagerAddresses, Told } from './addresses.ts';
import type { Catalogue } from './catalogue.ts';

export interface DesiredStateParts {
  readonly edgeTable: EdgeTable;
  readonly catalogue: Catalogue;
  readonly addresses: Pick<ManagerAddresses, 'all'>;
  readonly presence: { readonly up: ReadonlySet<number> };
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
}

/** A new version of the manager changes the configuration of the whole fleet at once. */
const atOnce = 32;
const applyMs = 30_000;

/**
 * Desired state of edges: an edge reports the hash of what it has, and is sent only what differs.
 */
export class DesiredState {
  readonly #parts: DesiredStateParts;
  /** Desired state of edges without any deviation from the defaults. */
  #usual: ConfigApply | undefined;
  readonly #waiting = new Set<EdgeRecord>();
  #running = 0;

  constructor(parts: DesiredStateParts) {
    this.#parts = parts;
  }

  of(record: EdgeRecord): ConfigApply {
    const { catalogue, addresses } = this.#parts;
    return record.wishes === undefined
      ? (this.#usual ??= configurationOf(catalogue, addresses.all(), undefined))
      : configurationOf(catalogue, addresses.all(), record.wishes);
  }

  /** Sends the configuration to this edge if it has another one; returns at once. */
  settle(record: EdgeRecord): void {
    if (record.tunnel && record.tunnel.configHash !== this.of(record).hash) {
      this.#waiting.add(record);
      this.#next();
    }
  }

  /** Tries those again that could not be settled. */
  settleAll(): void {
    const { edgeTable, presence } = this.#parts;
    for (const id of presence.up) {
      const record = edgeTable.byId(id);
      if (record) {
        this.settle(record);
      }
    }
  }

  /** Drops the defaults after a change of the catalogue or of the manager's addresses. */
  forgetDefaults(): void {
    this.#usual = undefined;
  }

  #next(): void {
    for (const record of this.#waiting) {
      if (this.#running >= atOnce) {
        return;
      }
      this.#waiting.delete(record);
      this.#running += 1;
      void this.#apply(record).finally(() => {
        this.#running -= 1;
        this.#next();
      });
    }
  }

  async #apply(record: EdgeRecord): Promise<void> {
    const { tunnel } = record;
    const wanted = this.of(record);
    if (
      !tunnel ||
      tunnel.settling ||
      tunnel.configHash === wanted.hash ||
      !tunnel.capabilities.methods.includes('config_apply')
    ) {
      return;
    }
    const { ids, log } = this.#parts;
    tunnel.settling = true;
    try {
      await tunnel.session.call('config_apply', wanted, {
        timeoutMs: applyMs,
        idempotencyKey: ids.uuid(),
      });
      tunnel.configHash = wanted.hash;
    } catch (error) {
      // Offline, late, or it has refused: it is tried again in a while, and at its next connection.
      log.warn(
        { event: 'edge.config_not_applied', edge: record.id, cause: messageOf(error) },
        'failed to apply plugin configuration on an edge; retrying within a minute',
      );
      return;
    } finally {
      tunnel.settling = false;
    }
    // It may have been changed meanwhile.
    if (this.of(record).hash !== wanted.hash) {
      this.#waiting.add(record);
    }
  }
}

function configurationOf(
  catalogue: Catalogue,
  managers: Told,
  wishes: EdgeRecord['wishes'],
): ConfigApply {
  const plugins = Object.fromEntries(
    catalogue.all().map(({ name, default_enabled: usually }) => {
      const wish = wishes?.get(name);
      return [
        name,
        {
          enabled: wish?.enabled ?? usually,
          spec: JSON.parse(wish?.spec ?? '{}') as Record<string, unknown>,
        },
      ];
    }),
  );
  // Without further addresses the hash is that of the plugins alone, which agents of any age have.
  const told = managers.length > 0 ? { managers } : {};
  const named = managers.length > 0 ? [plugins, managers] : plugins;
  return {
    hash: createHash('sha256').update(JSON.stringify(named)).digest('hex'),
    plugins,
    ...told,
  };
}
