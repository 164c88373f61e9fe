import { type Call, type Clock, type Ids, type Logger, type Page, type PageRequest, SvcError, type Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import type { EdgeFleet, UpgradeOrder, UpgradeState } from '../contract.ts';
import { actorOf, causeOf, found } from '../edges.ts';
import type { Packages } from './packages.ts';
import type { EdgeRecord } from '../record.ts';
import type { UpgradePackageRequest, UpgradeRequest, UpgradeStarted } from '../schema.ts';
import { type ShownUpgrade, shownUpgrade } from '../shown.ts';
import type { EdgeTables } from '../tables.ts';
import type { Telling } from '../events.ts';
import { toldShape } from '../shape-check.ts';
import { upgradeStore } from './upgrade-store.ts';
import { upgradeStates, UpgradeStateEvent } from '../wire.ts';

type By = Pick<Call, 'principal' | 'note'>;

/** Other versions of the agent: ordered here, done and judged by the edge, followed here. */
export interface Upgrades {
  start(by: By, edgeId: number, request: Static<typeof UpgradeRequest>): Promise<Static<typeof UpgradeStarted>>;
  startPackage(by: By, edgeId: number, request: Static<typeof UpgradePackageRequest>): Promise<Static<typeof UpgradeStarted>>;
  list(edgeId: number, page: PageRequest): Promise<Page<ShownUpgrade>>;
  /** An `upgrade_state` event of an edge. */
  note(record: EdgeRecord, event: unknown): Promise<void>;
  /** Gives up on those that nothing is heard of. */
  sweep(): Promise<void>;
}

export interface UpgradeParts {
  readonly tables: Tables<EdgeTables>;
  readonly fleet: EdgeFleet;
  readonly packages: Packages;
  readonly telling: Telling;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly publicUrl: () => string;
  readonly managerVersion: string;
}

export const packagePath = '/internal/edge/packages';
const orderMs = 15_000;
const silentMs = 30 * 60_000;
const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'rolled_back']);

export function createUpgrades({ tables, fleet, packages, telling, clock, ids, log, publicUrl, managerVersion }: UpgradeParts): Upgrades {
  const { read, write } = tables;
  const fits = toldShape<Static<typeof UpgradeStateEvent>>(UpgradeStateEvent);

  async function order(by: By, edgeId: number, wish: Omit<UpgradeOrder, 'job_id'>): Promise<Static<typeof UpgradeStarted>> {
    if (!fleet.capabilities(edgeId)) {
      throw new SvcError('unavailable', `edge ${edgeId} is offline; it can be upgraded when it is back`);
    }
    const jobId = ids.uuid();
    const now = clock.now();
    await write(async (tx) => {
      const running = await upgradeStore(tx).running(edgeId);
      if (running) {
        throw new SvcError('conflict', `an upgrade of edge ${edgeId} is under way (${running.job_id}, ${running.state}); wait for its end`);
      }
      const row = await upgradeStore(tx).insert({
        ...{ job_id: jobId, edge_id: edgeId, state: 'queued', url: wish.url, sha256: wish.sha256, signature: wish.signature ?? null },
        ...{ version: wish.version ?? null, error: null, created_by: actorOf(by.principal), created_at: now, updated_at: now, ended_at: null },
      });
      by.note({ resourceType: 'edge', resourceId: edgeId, after: shownUpgrade(row) });
    });
    telling.upgrade(edgeId, jobId, 'queued', null);
    try {
      await fleet.call(edgeId, 'upgrade', { job_id: jobId, ...wish }, { timeoutMs: orderMs, idempotencyKey: jobId });
    } catch (error) {
      await end(edgeId, jobId, 'failed', `the edge did not take the order: ${causeOf(error)}`);
      throw error;
    }
    const state = ((await upgradeStore(read).find(jobId))?.state ?? 'queued') as UpgradeState;
    return { job_id: jobId, state };
  }

  async function end(edgeId: number, jobId: string, state: UpgradeState, error: string | null): Promise<void> {
    const now = clock.now();
    await write((tx) => upgradeStore(tx).update(jobId, { state, error, updated_at: now, ended_at: now }));
    telling.upgrade(edgeId, jobId, state, error);
  }

  async function follow(record: EdgeRecord, event: { job_id: string; state: UpgradeState; version?: string; error?: string }): Promise<void> {
    const moved = await write(async (tx) => {
      const row = await upgradeStore(tx).find(event.job_id);
      // Told again after a reconnect, too late, or about somebody else's.
      const forward = row && upgradeStates.indexOf(event.state) > upgradeStates.indexOf(row.state as UpgradeState);
      if (!row || row.edge_id !== record.id || row.ended_at !== null || !forward) {
        return false;
      }
      const now = clock.now();
      await upgradeStore(tx).update(row.job_id, {
        ...{ state: event.state, error: event.error ?? null, version: event.version ?? row.version },
        ...{ updated_at: now, ended_at: ended.has(event.state) ? now : null },
      });
      return true;
    });
    if (moved) {
      log.info({ edge: record.id, job: event.job_id, state: event.state }, `upgrade of edge ${record.id}: ${event.state}`);
      telling.upgrade(record.id, event.job_id, event.state, event.error ?? null);
    }
  }

  /** The manager's own, or any that nobody on the way can change. */
  function assertAddress(url: string): void {
    const given = URL.canParse(url) ? new URL(url) : undefined;
    const own = given?.origin === new URL(publicUrl()).origin;
    if (!given || !(given.protocol === 'https:' || (own && given.protocol === 'http:')) || given.username !== '' || given.password !== '') {
      const message = 'url is an https address, or one of this manager, without user and password';
      throw new SvcError('invalid_argument', message, { details: [{ path: '/url', message: 'is not such an address' }] });
    }
  }

  return {
    async start(by, edgeId, { url, sha256, version, signature, allow_downgrade, force }) {
      assertAddress(url);
      await found(edgeId, read);
      return await order(by, edgeId, {
        url,
        sha256: sha256.toLowerCase(),
        ...(version !== undefined && { version }),
        ...(signature !== undefined && { signature }),
        ...insisting(allow_downgrade, force),
      });
    },

    async startPackage(by, edgeId, { version = managerVersion, arch, allow_downgrade, force }) {
      const row = await found(edgeId, read);
      const told = row.host_info === null ? undefined : (JSON.parse(row.host_info) as { arch?: string }).arch;
      const itsArch = arch ?? told;
      if (itsArch === undefined) {
        throw new SvcError('conflict', `the machine of edge ${edgeId} has not told its architecture yet; name it with arch`);
      }
      const chosen = await packages.find(version, itsArch);
      return await order(by, edgeId, {
        ...{ url: `${packagePath}/${chosen.file}`, sha256: chosen.sha256, size_bytes: chosen.sizeBytes, version: chosen.version },
        ...(chosen.signature !== undefined && { signature: chosen.signature }),
        ...insisting(allow_downgrade, force),
      });
    },

    async list(edgeId, page) {
      await found(edgeId, read);
      const { items, ...rest } = await upgradeStore(read).list(edgeId, page);
      return { ...rest, items: items.map(shownUpgrade) };
    },

    async note(record, event) {
      if (!fits(event)) {
        return;
      }
      try {
        await follow(record, event);
      } catch (error) {
        log.warn({ edge: record.id, cause: causeOf(error) }, 'the state of an upgrade could not be kept; the edge tells it again');
        throw error;
      }
    },

    async sweep() {
      for (const row of await upgradeStore(read).silent(clock.now() - silentMs)) {
        await end(row.edge_id, row.job_id, 'failed', 'nothing was heard of it for half an hour');
      }
    },
  };
}

/** What is not asked for is not sent: agents of before these words know nothing of them. */
const insisting = (allowDowngrade = false, force = false): Pick<UpgradeOrder, 'allow_downgrade' | 'force'> => ({
  ...(allowDowngrade && { allow_downgrade: true }),
  ...(force && { force: true }),
});
