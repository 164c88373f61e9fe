import type { EdgeFleet } from 'svc/contracts/edge';
import {
  type UpgradeOrder,
  type UpgradeState,
  upgradeStates,
  UpgradeStateEvent,
} from 'svc/edge-protocol';
import { type ScopeSource, scopeOf } from 'svc/query';
import {
  type Call,
  type Clock,
  type Handle,
  type Ids,
  type Logger,
  messageOf,
  type Page,
  type PageRequest,
  type Principal,
  type Tables,
} from 'svc/sdk';
import type { Static } from 'typebox';

import { foundFor } from '../record/edge-store.ts';
import type { EdgeEvents } from '../record/events.ts';
import type { EdgeRecord } from '../record/record.ts';
import type { UpgradePackageRequest, UpgradeRequest, UpgradeStarted } from '../record/schema.ts';
import { shapeCheck } from '../record/shape-check.ts';
import { actorOf, type ShownUpgrade, shownUpgrade } from '../record/shown.ts';
import type { EdgeRow, EdgeTables } from '../record/tables.ts';
import { errors } from './errors.ts';
import type { Packages } from './packages.ts';
import { upgradeStore } from './upgrade-store.ts';

type Actor = Pick<Call, 'principal' | 'note'>;
type Started = Static<typeof UpgradeStarted>;

export interface UpgradeParts {
  readonly tables: Tables<EdgeTables>;
  readonly scopes: Handle<ScopeSource>;
  readonly fleet: EdgeFleet;
  readonly packages: Packages;
  readonly events: EdgeEvents;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly build: { readonly publicUrl: string };
  readonly managerVersion: string;
}

export const packagePath = '/internal/edge/packages';
const orderMs = 15_000;
const silentMs = 30 * 60_000;
const ended: ReadonlySet<string> = new Set(['succeeded', 'failed', 'rolled_back']);

/** Other versions of the agent: ordered here, done and judged by the edge, followed here. */
export class Upgrades {
  readonly #parts: UpgradeParts;
  readonly #fits = shapeCheck<UpgradeStateEvent>(UpgradeStateEvent);

  constructor(parts: UpgradeParts) {
    this.#parts = parts;
  }

  async start(by: Actor, edgeId: number, request: Static<typeof UpgradeRequest>): Promise<Started> {
    const { url, sha256, version, signature, allow_downgrade, force } = request;
    assertAddress(url, this.#parts.build.publicUrl);
    await this.#seen(by.principal, edgeId);
    return await this.#order(by, edgeId, {
      url,
      sha256: sha256.toLowerCase(),
      ...(version !== undefined && { version }),
      ...(signature !== undefined && { signature }),
      ...insisting(allow_downgrade, force),
    });
  }

  async startPackage(
    by: Actor,
    edgeId: number,
    request: Static<typeof UpgradePackageRequest>,
  ): Promise<Started> {
    const { packages, managerVersion } = this.#parts;
    const { version = managerVersion, arch, allow_downgrade, force } = request;
    const row = await this.#seen(by.principal, edgeId);
    const reported =
      row.host_info === null ? undefined : (JSON.parse(row.host_info) as { arch?: string }).arch;
    const itsArch = arch ?? reported;
    if (itsArch === undefined) {
      throw errors.arch_unknown({ edgeId });
    }
    const chosen = await packages.find(version, itsArch);
    return await this.#order(by, edgeId, {
      url: `${packagePath}/${chosen.file}`,
      sha256: chosen.sha256,
      size_bytes: chosen.sizeBytes,
      version: chosen.version,
      ...(chosen.signature !== undefined && { signature: chosen.signature }),
      ...insisting(allow_downgrade, force),
    });
  }

  async list(asker: Principal, edgeId: number, page: PageRequest): Promise<Page<ShownUpgrade>> {
    await this.#seen(asker, edgeId);
    const { items, ...rest } = await upgradeStore(this.#parts.tables.read).list(edgeId, page);
    return { ...rest, items: items.map(shownUpgrade) };
  }

  /** An `upgrade_state` event of an edge. */
  async receive(record: EdgeRecord, event: unknown): Promise<void> {
    if (!this.#fits(event)) {
      return;
    }
    try {
      await this.#follow(record, event);
    } catch (error) {
      this.#parts.log.warn(
        { event: 'edge.upgrade_not_stored', edge: record.id, cause: messageOf(error) },
        "failed to store an upgrade's state; the edge will resend it",
      );
      throw error;
    }
  }

  /** Gives up on upgrades without reports. */
  async sweep(): Promise<void> {
    const { tables, clock } = this.#parts;
    for (const row of await upgradeStore(tables.read).silent(clock.now() - silentMs)) {
      await this.#end(
        row.edge_id,
        row.job_id,
        'failed',
        `the edge has reported nothing about it for ${silentMs / 60_000} minutes`,
      );
    }
  }

  async #seen(asker: Principal, edgeId: number): Promise<EdgeRow> {
    return await foundFor(
      await scopeOf(this.#parts.scopes, asker),
      edgeId,
      this.#parts.tables.read,
    );
  }

  async #order(by: Actor, edgeId: number, wish: Omit<UpgradeOrder, 'job_id'>): Promise<Started> {
    const { tables, fleet, events, ids } = this.#parts;
    if (!fleet.capabilities(edgeId)) {
      throw errors.upgrade_offline({ edgeId });
    }
    const jobId = ids.uuid();
    await this.#queue(by, edgeId, jobId, wish);
    events.upgrade(edgeId, jobId, 'queued', null);
    try {
      await fleet.call(
        edgeId,
        'upgrade',
        { job_id: jobId, ...wish },
        { timeoutMs: orderMs, idempotencyKey: jobId },
      );
    } catch (error) {
      await this.#end(
        edgeId,
        jobId,
        'failed',
        `failed to send the order to the edge: ${messageOf(error)}`,
      );
      throw error;
    }
    const state = ((await upgradeStore(tables.read).find(jobId))?.state ??
      'queued') as UpgradeState;
    return { job_id: jobId, state };
  }

  async #queue(
    by: Actor,
    edgeId: number,
    jobId: string,
    wish: Omit<UpgradeOrder, 'job_id'>,
  ): Promise<void> {
    const now = this.#parts.clock.now();
    await this.#parts.tables.write(async (tx) => {
      const running = await upgradeStore(tx).running(edgeId);
      if (running) {
        throw errors.upgrade_running({ edgeId, job_id: running.job_id, state: running.state });
      }
      const row = await upgradeStore(tx).insert({
        job_id: jobId,
        edge_id: edgeId,
        state: 'queued',
        url: wish.url,
        sha256: wish.sha256,
        signature: wish.signature ?? null,
        version: wish.version ?? null,
        error: null,
        created_by: actorOf(by.principal),
        created_at: now,
        updated_at: now,
        ended_at: null,
      });
      by.note({ resourceType: 'edge', resourceId: edgeId, after: shownUpgrade(row) });
    });
  }

  async #end(
    edgeId: number,
    jobId: string,
    state: UpgradeState,
    error: string | null,
  ): Promise<void> {
    const { tables, events, clock } = this.#parts;
    const now = clock.now();
    await tables.write((tx) =>
      upgradeStore(tx).update(jobId, { state, error, updated_at: now, ended_at: now }),
    );
    events.upgrade(edgeId, jobId, state, error);
  }

  async #follow(record: EdgeRecord, event: UpgradeStateEvent): Promise<void> {
    const { tables, events, clock, log } = this.#parts;
    const moved = await tables.write(async (tx) => {
      const row = await upgradeStore(tx).find(event.job_id);
      // Sent again after a reconnect, too late, or about the job of another edge.
      const forward =
        row &&
        upgradeStates.indexOf(event.state) > upgradeStates.indexOf(row.state as UpgradeState);
      if (!row || row.edge_id !== record.id || row.ended_at !== null || !forward) {
        return false;
      }
      const now = clock.now();
      await upgradeStore(tx).update(row.job_id, {
        state: event.state,
        error: event.error ?? null,
        version: event.version ?? row.version,
        updated_at: now,
        ended_at: ended.has(event.state) ? now : null,
      });
      return true;
    });
    if (moved) {
      log.info(
        { edge: record.id, job: event.job_id, state: event.state, cause: event.error },
        'edge upgrade changed state',
      );
      events.upgrade(record.id, event.job_id, event.state, event.error ?? null);
    }
  }
}

/** The manager's own, or any that cannot be changed on the way. */
function assertAddress(url: string, publicUrl: string): void {
  const given = URL.canParse(url) ? new URL(url) : undefined;
  const own = given?.origin === new URL(publicUrl).origin;
  if (
    !given ||
    !(given.protocol === 'https:' || (own && given.protocol === 'http:')) ||
    given.username !== '' ||
    given.password !== ''
  ) {
    throw errors.package_url({
      details: [{ path: '/url', message: 'is not such an address' }],
    });
  }
}

/** Returns only the options that are set: older agents do not know these fields. */
const insisting = (
  allowDowngrade = false,
  force = false,
): Pick<UpgradeOrder, 'allow_downgrade' | 'force'> => ({
  ...(allowDowngrade && { allow_downgrade: true }),
  ...(force && { force: true }),
});
