import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { DeviceEntry } from 'svc/contracts/device';
import type {
  Background,
  ChannelType,
  Notice,
  NoticeIncident,
  NoticeInstance,
  NoticeSource,
  Outcome,
} from 'svc/contracts/notify';
import { type Handle, type Logger, SvcError, timestamp } from 'svc/sdk';

import { Outbound, parseAllowed } from '../../../core/outbound/index.ts';
import { loadMigrations } from '../../../core/storage/migration-text.ts';
import type { Storage } from '../../../core/storage/index.ts';
import { Addresses } from '../../../plugins/notify/channels/address.ts';
import { ChannelStore } from '../../../plugins/notify/store/channel-store.ts';
import {
  type ChannelTypeRegistry,
  shippedTypes,
} from '../../../plugins/notify/types/channel-types.ts';
import { Channels } from '../../../plugins/notify/channels/channels.ts';
import { Dispatcher } from '../../../plugins/notify/queue/dispatcher.ts';
import { Knowledge } from '../../../plugins/notify/message/knowledge.ts';
import type { LinkOf } from '../../../plugins/notify/message/message.ts';
import { OutcomePublisher } from '../../../plugins/notify/queue/outcome-publisher.ts';
import type { Draft } from '../../../plugins/notify/channels/schema.ts';
import { Sender } from '../../../plugins/notify/queue/sender.ts';
import { DeliveryQueue } from '../../../plugins/notify/store/delivery-queue.ts';
import type { NotifyTables } from '../../../plugins/notify/store/tables.ts';
import { openIn } from '../../storage/folder.ts';
import { steppedJobs } from '../lib/jobs/stepped-jobs.ts';

export const migrations = loadMigrations(
  fileURLToPath(new URL('../../../plugins/notify/migrations', import.meta.url)),
);

export const shipped: ChannelTypeRegistry = {
  find: (id) => (Object.hasOwn(shippedTypes, id) ? shippedTypes[id] : undefined),
  named(name) {
    const found = Object.entries<ChannelType>(shippedTypes).find(
      ([id, { aliases }]) => id === name || aliases?.includes(name),
    );
    if (!found) {
      throw new SvcError('invalid_argument', 'channel_type is unknown');
    }
    return { id: found[0], type: found[1] };
  },
};

/** Time that only the test moves. */
export interface TestClock {
  now(): number;
  monotonic(): number;
  /** Advances both clocks. */
  advance(ms: number): void;
  /** The wall clock is set. */
  jump(ms: number): void;
}

export function testClock(start = Date.parse('2026-11-20T10:00:00Z')): TestClock {
  let [wall, steady] = [start, 0];
  return {
    now: () => wall,
    monotonic: () => steady,
    advance(ms) {
      wall += ms;
      steady += ms;
    },
    jump: (ms) => void (wall += ms),
  };
}

export type Office = Awaited<ReturnType<typeof openOffice>>;

export interface OfficeOptions {
  readonly dataDir?: string;
  readonly clock?: TestClock;
  readonly settings?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly allow?: readonly string[];
  readonly random?: () => number;
  /** True if incidents are investigated; `looked` has the progress. */
  readonly investigates?: boolean;
  /** Instead of those that ship. */
  readonly types?: ChannelTypeRegistry;
}

let offices = 0;

/**
 * Grouping that sends each incident separately and immediately: for tests of what comes after
 * grouping.
 */
export const atOnce = {
  group_by: ['...'],
  group_wait: '0s',
  group_interval: '0s',
  repeat_interval: '0s',
};

/** Everything between a notice and a platform, on a real database and real sockets; nothing happens unless the test says so. */
export async function openOffice(t: Pick<TestContext, 'after'>, options: OfficeOptions = {}) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'svc-notify-'));
  const clock = options.clock ?? testClock();
  const types = options.types ?? shipped;
  const storage: Storage = await openIn(dataDir);
  await storage.migrate('notify', migrations);
  await storage.declareSealed('notify', [
    { table: 'notify_channels', row: 'ref', columns: ['endpoint', 'secret'] },
    { table: 'notify_page_keys', row: 'ref', columns: ['key'] },
  ]);
  const tables = storage.tables<NotifyTables>('notify');
  const settings = { get: <T>(key: string) => (options.settings?.[key] ?? '') as T };
  const addresses = new Addresses(storage.secrets('notify'), settings);
  const allowed = parseAllowed(options.allow ?? ['127.0.0.0/8']);
  const outbound = new Outbound(() => allowed);
  const stop = new AbortController();
  const lines: string[] = [];
  const note = (fields: unknown, message: string): void =>
    void lines.push(`${JSON.stringify(fields)} ${message}`);
  const log: Logger = { debug: note, info: note, warn: note, error: note };
  const ids = { uuid: () => crypto.randomUUID(), token: () => 'token' };
  const recorded: Outcome[] = [];
  /** Outcomes that could not be sent so far. */
  const delayed: Outcome[] = [];
  const announced: Outcome[] = [];
  const pins = new Map<number, string[]>();
  const hosts: DeviceEntry[] = [];
  const burning: NoticeIncident[] = [];
  const backgrounds = new Map<number, Background>();
  /** Instances of incidents, where a notice has only the first of them. */
  const audible = new Map<number, readonly NoticeInstance[]>();
  let sourceUp = true;
  const state = { refuse: undefined as ((outcome: Outcome) => boolean) | undefined };
  const source: Handle<NoticeSource> = {
    get available() {
      return sourceUp;
    },
    get: () => ({
      async record(outcomes) {
        if (outcomes.some((outcome) => state.refuse?.(outcome))) {
          throw new Error('the source is busy');
        }
        outcomes.forEach((outcome) =>
          (outcome.result === 'delayed' ? delayed : recorded).push(outcome),
        );
      },
      pinning: async (id) => pins.get(id) ?? [],
      burning: async (ids) => burning.filter(({ id }) => ids.includes(id)),
      background: async (id) => backgrounds.get(id),
      instances: async () => ({ items: [], total: 0 }),
      audible: async (id) => audible.get(id) ?? [],
    }),
    onChange: () => () => undefined,
  };
  const linkOf: LinkOf = (target) =>
    `https://svc.example/incidents${target !== undefined && 'incident' in target ? `/${target.incident}` : ''}`;
  const devices = {
    available: true,
    get: () => ({
      many: async (wanted: readonly number[]) => hosts.filter(({ id }) => wanted.includes(id)),
    }),
    onChange: () => () => undefined,
  };
  const looked = new Map<number, string>();
  const findings = {
    available: options.investigates === true,
    get: () => ({
      newest: async (id: number) => (looked.has(id) ? { status: looked.get(id)! } : undefined),
    }),
    onChange: () => () => undefined,
  };
  const knowledge = new Knowledge({ source, findings, devices: devices as never, clock, log });
  const process = `p${(offices += 1)}`;
  /** A generation of the plugin: its jobs, and what sends by them. */
  const generation = (number: number, signal: AbortSignal) => {
    const stepped = steppedJobs<NotifyTables>('notify', {
      tables,
      clock,
      log,
      process,
      generation: number,
    });
    // What is accepted at this instant is seen at once.
    const queue = new DeliveryQueue(stepped.jobs, 0);
    const sender = new Sender({
      tables,
      jobs: stepped.jobs,
      queue,
      types,
      addresses,
      clock,
      log,
      linkOf,
      knowledge,
      fetch: (url, request) => outbound.fetch(url, request, signal),
      uuid: ids.uuid,
      random: options.random ?? (() => 0.5),
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    });
    return { queue, sender, turn: () => stepped.turn(signal) };
  };
  const { sender, queue, turn } = generation(1, stop.signal);
  const publisher = new OutcomePublisher({
    tables,
    source,
    clock,
    log,
    announce: (outcome) => void announced.push(outcome),
  });
  const dispatcher = new Dispatcher({ tables, queue, clock, ids, types });
  const addressChanged = (id: number): void => sender.addressChanged(id);
  const channels = new Channels({
    tables,
    queue,
    types,
    addresses,
    settings,
    source,
    clock,
    ids,
    dispatcher,
    addressChanged,
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) {
      closed = true;
      stop.abort();
      outbound.close();
      await storage.close();
    }
  };
  t.after(async () => {
    await close();
    if (options.dataDir === undefined) {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
  const by = { note: () => undefined, requireMatch: () => undefined };
  return {
    hosts,
    looked,
    linkOf,
    knowledge,
    clock,
    storage,
    tables,
    sender,
    queue,
    generation,
    publisher,
    channels,
    recorded,
    delayed,
    announced,
    lines,
    pins,
    burning,
    backgrounds,
    audible,
    dataDir,
    close,
    stop,
    addresses,
    source,
    dispatcher,
    /** Sets whether the source is up; while down, outcomes wait. */
    setSource: (up: boolean) => void (sourceUp = up),
    refuse: (when: ((outcome: Outcome) => boolean) | undefined) => void (state.refuse = when),
    channel: async (
      draft: Partial<Draft> & { readonly channel_type: string; readonly endpoint: string },
    ) =>
      await channels.create(by, {
        name: `${draft.channel_type} ${Math.random().toString(36).slice(2)}`,
        ...atOnce,
        ...draft,
      }),
    replace: (id: number, draft: Draft) => channels.replace(by, id, { ...atOnce, ...draft }),
    remove: (id: number) => channels.remove(by, id),
    shown: (id: number) => channels.get(id),
    row: async (id: number) => (await new ChannelStore(tables.read).find(id))!,
    /** Sends whatever is due at this instant. */
    send: turn,
    /** Sends whatever is due at this instant, and publishes the outcomes. */
    async turn(): Promise<void> {
      await turn();
      await publisher.publish();
    },
    /** Advances in steps until nothing is queued; fails the test after `most` steps. */
    async drain(stepMs = 1_000, most = 5_000): Promise<void> {
      for (let step = 0; step < most; step += 1) {
        await this.turn();
        const left = await tables.read
          .selectFrom('notify_deliveries')
          .select('seq')
          .where('finished_at', 'is', null)
          .limit(1)
          .executeTakeFirst();
        if (left === undefined) {
          return;
        }
        clock.advance(stepMs);
      }
      throw new Error(`deliveries are still queued after ${(stepMs * most) / 1000} s`);
    },
    deliveries: () =>
      tables.read.selectFrom('notify_deliveries').selectAll().orderBy('seq').execute(),
  };
}

let notices = 0;

/** Returns a notice as the alert plugin would write it. */
export function noticeOf(
  incident: number,
  kind: Notice['kind'] = 'firing',
  more: Partial<Omit<Notice, 'incident'>> & {
    readonly incident?: Partial<Notice['incident']>;
  } = {},
): Notice {
  const fireSeq = more.fire_seq ?? 1;
  return {
    id: `${incident}/${fireSeq}/${kind}${kind === 'reminder' ? `/${(notices += 1)}` : ''}`,
    kind,
    fire_seq: fireSeq,
    pins: [],
    ...more,
    incident: {
      id: incident,
      rule_key: 'cpu_high',
      rule_name: 'CPU is busy',
      severity: 'warning',
      status: kind === 'resolved' ? 'resolved' : 'open',
      scope_type: 'host',
      scope_id: String(incident),
      device_id: String(incident),
      summary: `CPU is busy on host ${incident}`,
      labels: { device_id: String(incident), team: 'db' },
      annotations: {},
      dedupe_key: `cpu_high:host:${incident}`,
      value: 93.5,
      threshold: 90,
      fired_at: timestamp(Date.parse('2026-11-20T09:59:00Z')),
      event_count: 1,
      ...(kind === 'resolved' && { resolved_at: timestamp(Date.parse('2026-11-20T10:10:00Z')) }),
      ...more.incident,
    },
  };
}
