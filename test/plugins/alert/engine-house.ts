import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { InstantAnswer, LabelRecord, SampleRow } from 'svc/contracts/metricsdb';
import type { Notice } from 'svc/contracts/notify';
import { parseDuration } from 'svc/query';
import type { Tables } from 'svc/sdk';

import type { Storage } from '../../../core/storage/index.ts';
import { AlertSeries } from '../../../plugins/alert/evaluator/alert-series.ts';
import { EvaluatorCounters } from '../../../plugins/alert/evaluator/counters.ts';
import { Evaluator } from '../../../plugins/alert/evaluator/evaluator.ts';
import { Timeline } from '../../../plugins/alert/evaluator/timeline.ts';
import type { GateInputs } from '../../../plugins/alert/incident/gates/review.ts';
import { IncidentStore } from '../../../plugins/alert/incident/incident-store.ts';
import { InstanceReader } from '../../../plugins/alert/incident/instance-reader.ts';
import { Families } from '../../../plugins/alert/incident/ledger/families.ts';
import type { Incident } from '../../../plugins/alert/incident/ledger/incident.ts';
import { Ledger } from '../../../plugins/alert/incident/ledger/ledger.ts';
import type { IncidentTables } from '../../../plugins/alert/incident/ledger/tables.ts';
import { Operations } from '../../../plugins/alert/incident/operations.ts';
import {
  type Ask,
  BackEnd,
  type StoreName,
  type Within,
} from '../../../plugins/alert/queries/back-end.ts';
import type { Leg, Plan, Rule, LiveRules, RuleChange } from '../../../plugins/alert/rule/rule.ts';
import { SilenceReach } from '../../../plugins/alert/silence/silence-reach.ts';
import { SilenceStore, type SilenceTables } from '../../../plugins/alert/silence/silence-store.ts';
import { Silences } from '../../../plugins/alert/silence/silences.ts';
import { RuleTexts } from '../../../plugins/alert/template/template.ts';
import { openIn, silent } from '../../storage/folder.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const interval = 30 * second;

/**
 * Manual clock; the wall can jump without time passing. As on a real machine, monotonic time has
 * fractions, and the wall is slewed against it by a few parts in a million.
 */
export class HandClock {
  #wall: number;
  #passed = 8_123.456_7;

  constructor(wall = Date.UTC(2026, 10, 20)) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#passed;
  }

  advance(ms: number): void {
    this.#wall += ms;
    this.#passed += ms * 1.000_007;
  }

  jump(ms: number): void {
    this.#wall += ms;
  }
}

export type Series = Readonly<Record<string, string | number>> & { readonly value: number };

/** A rule whose condition is a name that the test gives series to; `legs` for several. */
export type TestRule = Partial<Rule> & {
  readonly rule_key: string;
  readonly legs?: readonly Partial<Leg>[];
};

export class TestBook implements LiveRules {
  readonly #rules = new Map<number, Rule & { legs?: readonly Partial<Leg>[] }>();
  readonly #listeners = new Set<(change: RuleChange) => void>();
  #lastId = 0;

  enabled(): readonly Rule[] {
    return [...this.#rules.values()].filter(({ enabled }) => enabled);
  }

  get total(): number {
    return this.#rules.size;
  }

  get(id: number): Rule | undefined {
    return this.#rules.get(id);
  }

  pinning(): readonly string[] {
    return [];
  }

  onChange(listener: (change: RuleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  add(draft: TestRule): Rule {
    const rule = ruleOf({ ...draft, id: ++this.#lastId });
    this.#rules.set(rule.id, rule);
    this.#tell({ kind: 'created', rule });
    return rule;
  }

  edit(id: number, changes: Partial<TestRule>): Rule {
    const before = this.#rules.get(id)!;
    const rule = { ...before, ...changes };
    this.#rules.set(id, rule);
    const kind =
      before.enabled === rule.enabled ? 'updated' : rule.enabled ? 'enabled' : 'disabled';
    this.#tell({ kind, rule, before });
    return rule;
  }

  remove(id: number): void {
    const rule = this.#rules.get(id)!;
    this.#rules.delete(id);
    this.#tell({ kind: 'deleted', rule, before: rule });
  }

  #tell(change: RuleChange): void {
    this.#listeners.forEach((listener) => listener(change));
  }
}

export const ruleOf = (draft: TestRule & { readonly id: number }): Rule => ({
  name: `Rule ${draft.rule_key}`,
  kind: 'metric_raw',
  source_type: 'svc_builtin',
  scope_type: 'host',
  join_mode: 'all',
  severity: 'warning',
  enabled: true,
  conditions: [],
  labels: {},
  annotations: {},
  runbook_url: '',
  notify_channel_ids: [],
  notify_window_seconds: 0,
  notify_min_fires: 0,
  dimensions: [],
  interval_seconds: 0,
  keep_firing_for: '',
  limit: 0,
  created_by: 'test',
  created_at: '2026-11-20T00:00:00.000Z',
  updated_at: '2026-11-20T00:00:00.000Z',
  ...draft,
});

export const planOf = (rule: Rule): Plan => ({
  join: rule.join_mode,
  legs: ((rule as TestRule).legs ?? [{}]).map((leg, at) => ({
    store: 'metrics',
    query: at === 0 ? rule.rule_key : `${rule.rule_key}/${at}`,
    forMs: 0,
    ...leg,
  })),
  ...(rule.keep_firing_for !== '' && { keepMs: parseDuration(rule.keep_firing_for) }),
});

const uncounted = {
  gauge: () => ({ set: () => undefined }),
  histogram: () => ({ observe: () => undefined }),
};

/** Deadlines in real time: for those tests that are about them; all others are answered at once. */
export const within: Within = async (_ms, _what, work) => await work(new AbortController().signal);

export interface EngineOptions {
  readonly dir?: string;
  readonly ask?: Ask;
  readonly within?: Within;
  /** Time for which a store may fail before that is told. */
  readonly graceMs?: number;
  readonly clock?: HandClock;
  readonly reminderMs?: number;
}

/** The engine over a real database, with stores that answer what the test says, and a clock in the hand of the test. */
export class Engine {
  readonly clock: HandClock;
  readonly book = new TestBook();
  readonly notices: Notice[] = [];
  readonly fired: string[] = [];
  /** Samples written about alerts. */
  readonly written: SampleRow[] = [];
  /** Instead of taking what is written of alerts. */
  refuse: (() => Promise<never>) | undefined;
  lost = 0;
  /** The rule whose notices cannot be stored. */
  poison: string | undefined;
  readonly asked: { readonly queries: readonly string[]; readonly time: number }[] = [];
  /** Answers by query, or an error. Other queries have an empty answer. */
  readonly answers = new Map<string, readonly Series[] | Error>();
  /** Answers for times that the clock has yet to reach. */
  readonly ahead = new Map<string, readonly Series[] | Error>();
  /** Devices whose edges are offline, and those that push nothing although nobody says so. */
  readonly offline = new Set<string>();
  readonly silent = new Set<string>();
  storage!: Storage;
  ledger!: Ledger;
  evaluator!: Evaluator;
  operations!: Operations;
  silences!: Silences;
  store!: IncidentStore;
  instances!: InstanceReader;
  tables!: Tables<IncidentTables>;
  backEnds!: ReadonlyMap<StoreName, BackEnd>;
  cooldownMs = 10 * minute;
  missed = 0;
  readonly #dir: string;
  readonly #own: boolean;
  readonly #options: EngineOptions;
  #unfollow: () => void = () => undefined;

  constructor(options: EngineOptions = {}) {
    this.#options = options;
    this.clock = options.clock ?? new HandClock();
    this.#own = options.dir === undefined;
    this.#dir = options.dir ?? mkdtempSync(join(tmpdir(), 'svc-alert-'));
  }

  async open(): Promise<this> {
    this.storage = await openIn(this.#dir);
    await this.storage.migrate('alert', migrations());
    await this.start();
    return this;
  }

  /** Starts like a new process: nothing is known but what is on disk. */
  async start(): Promise<void> {
    const { clock } = this;
    const timeline = new Timeline(clock);
    this.tables = this.storage.tables<IncidentTables>('alert');
    const gateInputs = (): GateInputs => {
      const now = timeline.look();
      return {
        steady: timeline.steady(now),
        cooldownMs: this.cooldownMs,
        reminderMs: this.#options.reminderMs ?? 0,
        silencedBy: (incident) => this.silences.covering(incident, now),
        dampening: ({ rule_id: id }) => {
          const rule = this.book.get(id);
          return rule === undefined || rule.notify_min_fires === 0
            ? undefined
            : { windowMs: rule.notify_window_seconds * second, minFires: rule.notify_min_fires };
        },
      };
    };
    const families = new Families(this.book, planOf);
    this.ledger = new Ledger({
      familyOf: (incident) => families.of(incident),
      tables: this.tables,
      handOver: async (_tx, notices) => {
        assert.ok(
          !notices.some(({ incident }) => incident.rule_key === this.poison),
          'a notice that cannot be stored',
        );
        this.notices.push(...notices);
      },
      clock,
      log: silent,
      changed: (incidents, events) => {
        for (const incident of incidents) {
          this.fired.push(
            ...(events.get(incident.dedupe_key)?.includes('firing') === true
              ? [incident.dedupe_key]
              : []),
          );
        }
      },
    });
    const reach = new SilenceReach({ tables: this.tables, ledger: this.ledger });
    this.silences = new Silences({
      store: new SilenceStore(this.storage.tables<SilenceTables>('alert')),
      reach,
      clock,
      seenBy: async () => undefined,
    });
    await this.silences.refresh();
    const ask: Ask =
      this.#options.ask ??
      (async (queries, time) => {
        this.asked.push({ queries, time });
        return queries.map((query) =>
          answerOf(
            (time > this.clock.now() ? this.ahead : this.answers).get(query) ?? this.#heard(query),
          ),
        );
      });
    const parts = {
      ask,
      within: this.#options.within ?? within,
      monotonic: () => clock.monotonic(),
      ...(this.#options.graceMs !== undefined && { graceMs: () => this.#options.graceMs! }),
    };
    this.backEnds = new Map<StoreName, BackEnd>([
      ['metrics', new BackEnd({ ...parts, name: 'metrics' })],
      ['logs', new BackEnd({ ...parts, name: 'logs' })],
    ]);
    const keep = {
      write: async (rows: readonly SampleRow[]) => {
        await this.refuse?.();
        rows.forEach((row) => this.written.push(row));
        return { accepted: rows.length, rejected: 0, reasons: [] };
      },
    };
    const store = { available: true, get: () => keep, onChange: () => () => undefined };
    const alerts = new AlertSeries({
      store,
      ledger: this.ledger,
      within: parts.within,
      log: silent,
      lost: (samples) => void (this.lost += samples),
    });
    this.evaluator = new Evaluator({
      liveRules: this.book,
      planOf,
      render: (rule) => rule.annotations,
      nameOf: (id) => `device ${id}`,
      labelsOf: (rule, series, value) => new RuleTexts().labels(rule, series, value),
      ledger: this.ledger,
      alerts,
      timeline,
      clock,
      log: silent,
      backEnds: this.backEnds,
      delayOf: () => 0,
      intervalMs: () => interval,
      gateInputs,
      counters: new EvaluatorCounters(
        {
          ...uncounted,
          counter: (name) => ({
            add: (count) => void (this.missed += name === 'rule_missed_total' ? (count ?? 1) : 0),
          }),
        },
        clock,
      ),
    });
    this.instances = new InstanceReader({
      tables: this.tables,
      ledger: this.ledger,
      staleOf: (rule) => this.evaluator.stale.of(rule),
      silencedBy: (one) => this.silences.covering(one, clock.now()),
    });
    this.store = new IncidentStore(this.tables);
    const shared = { ledger: this.ledger, store: this.store, instances: this.instances };
    this.operations = new Operations({
      ...shared,
      clock,
      gateInputs,
      seenBy: async () => undefined,
      nameOf: (id) => `device ${id}`,
    });
    this.#unfollow = await this.evaluator.start();
  }

  /** Returns the store's answer about edges and pushers: all requested devices except some. */
  #heard(query: string): readonly Series[] {
    const of = (devices: Iterable<string>): readonly Series[] =>
      Array.from(devices, (device) => ({ device_id: device, value: 1 }));
    if (query.includes('svc_edge_online')) {
      return of(this.offline);
    }
    const [, asked = ''] =
      /^count by \(device_id\) \(last_over_time\(\{device_id=~"([^"]*)"/.exec(query) ?? [];
    return of(
      asked
        .split('|')
        .filter((device) => device !== '' && !this.offline.has(device) && !this.silent.has(device)),
    );
  }

  async restart(): Promise<void> {
    await this.halt();
    await this.start();
  }

  async halt(): Promise<void> {
    this.#unfollow();
    await this.evaluator.stop();
  }

  /** Lets time pass, a second or an interval at a time, with a tick after each step. */
  async pass(ms: number, step = interval): Promise<void> {
    for (let passed = 0; passed < ms; passed += step) {
      this.clock.advance(Math.min(step, ms - passed));
      await this.evaluator.tick();
    }
  }

  async incident(key: string): Promise<Incident | undefined> {
    const row = await this.tables.read
      .selectFrom('alert_incidents')
      .select('id')
      .where('dedupe_key', '=', key)
      .executeTakeFirst();
    return row && (await this.store.find(row.id, undefined));
  }

  /** The timeline as sentences: `type` or `type status`, oldest first. */
  async timeline(key: string): Promise<readonly string[]> {
    const incident = await this.incident(key);
    const { items } =
      incident === undefined
        ? { items: [] }
        : await this.store.events(incident, { order: 'asc' }, { limit: 1_000 }, undefined);
    return items.map(({ type, status_after: status }) => `${type} ${status}`);
  }

  get sent(): readonly string[] {
    return this.notices.map(({ kind, fire_seq: seq, incident }) => {
      const what =
        kind === 'reminder' && incident.status === 'acknowledged' ? 'acknowledged' : kind;
      return `${what} ${seq} ${incident.dedupe_key}`;
    });
  }

  async close(): Promise<void> {
    await this.evaluator.stop();
    await this.storage.close();
    if (this.#own) {
      rmSync(this.#dir, { recursive: true, force: true });
    }
  }
}

/** Returns the plugin's migrations, or the first few of them. */
export function migrations(
  count = Infinity,
): readonly { readonly name: string; readonly sql: string }[] {
  const folder = new URL('../../../plugins/alert/migrations/', import.meta.url);
  return readdirSync(folder)
    .sort()
    .slice(0, count)
    .map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }));
}

export function answerOf(series: readonly Series[] | Error): InstantAnswer | Error {
  if (series instanceof Error) {
    return series;
  }
  return {
    type: 'vector',
    labels: series.map(({ value: _value, ...labels }) => labels as unknown as LabelRecord),
    times: new Float64Array(series.length),
    values: Float64Array.from(series, ({ value }) => value),
    warnings: [],
  };
}

/** The user who acts in a test. */
export const someone = {
  principal: { kind: 'user', id: '7', email: 'ann@example.org', role: 'viewer', grants: [] },
  note: () => undefined,
} as const;
