import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import type { Ends } from './alert-prometheus-units.ts';
import { ruleKey, type World } from './alert-truth-world.ts';

/** The whole product, whose wall clock is in the hand of the drill; its monotonic clock is real. */
export class FakedHouse {
  readonly #world: Pick<World, 'house'>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-alert-truth-'));
  readonly #environment: Readonly<Record<string, string>>;
  #offsetSeconds = 0;
  house!: WholeHouse;

  constructor(
    t: Ends,
    world: Pick<World, 'house'>,
    faketime: string,
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#world = world;
    const control = join(this.#folder, 'clock');
    this.#environment = {
      LD_PRELOAD: faketime,
      FAKETIME_TIMESTAMP_FILE: control,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
      SVC_ALERT_EVAL_INTERVAL: '1s',
      SVC_ALERT_COOLDOWN: '0s',
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      ...environment,
    };
    this.#set(0);
    t.after(async () => {
      await this.stop('SIGKILL');
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  async start(): Promise<void> {
    this.house = await startWholeHouse({
      dataDir: join(this.#folder, 'data'),
      environment: this.#environment,
    });
    this.#world.house = this.house;
  }

  /** The first start: with the rule that is drilled, and the channel that is listened to. */
  async furnish(hook: string): Promise<void> {
    await this.start();
    const rule = {
      rule_key: ruleKey,
      name: 'Truth',
      kind: 'metric_raw',
      source_type: 'svc_builtin',
      scope_type: 'global',
      join_mode: 'all',
      severity: 'critical',
    };
    await this.post('/api/v1/alert-rules', {
      ...rule,
      dimensions: ['unit'],
      conditions: [{ expr: 'truth_heat > 1', for: '2s' }],
    });
    await this.post('/api/v1/notification-channels', {
      name: 'hook',
      channel_type: 'webhook',
      endpoint: hook,
      group_wait: '1s',
      group_interval: '1s',
    });
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#world.house = undefined;
    await this.house?.end(signal);
  }

  /** Steps the wall clock of svc alone; everything else keeps its time. */
  stepClock(seconds: number): void {
    this.#set(this.#offsetSeconds + seconds);
  }

  /** A drill whose clock nobody looks at would prove nothing. A server keeps the date that it tells for a second. */
  async isClock(offsetMs: number): Promise<void> {
    for (const deadline = performance.now() + 10_000; ; await pause(250)) {
      const told = Date.parse((await this.house.fetch('/readyz')).headers.get('date') ?? '');
      if (Math.abs(told - Date.now() - offsetMs) < 30_000) {
        return;
      }
      assert.ok(
        performance.now() < deadline,
        `the clock of the house is ${(told - Date.now()) / 1_000} s from ours, not ${offsetMs / 1_000}`,
      );
    }
  }

  /** Returns whether the evaluator keeps running, without failing rules. */
  async isEvaluating(when: string): Promise<boolean> {
    const info = () =>
      this.get<{
        last_cycle: { started_at: string; rules_failed: number } | null;
        failing: readonly unknown[];
      }>('/api/v1/alerts/runtime-info');
    const seen = new Set<string>();
    for (
      const deadline = performance.now() + 30_000;
      performance.now() < deadline;
      await pause(250)
    ) {
      const { last_cycle: last, failing } = await info();
      if (last !== null && last.rules_failed > 0) {
        throw new Error(
          `${when}: ${last.rules_failed} rules failed at ${last.started_at}, such as ${JSON.stringify(failing[0])}`,
        );
      }
      seen.add(last?.started_at ?? '');
      if (seen.size > 3) {
        return true;
      }
    }
    return false;
  }

  /** Offset of its clock from ours. */
  get offsetSeconds(): number {
    return this.#offsetSeconds;
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.#ask(path, 'POST', body);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.#ask(path, 'PUT', body);
  }

  get<T>(path: string): Promise<T> {
    return this.#ask(path, 'GET');
  }

  async remove(path: string): Promise<void> {
    await this.#ask(path, 'DELETE');
  }

  async #ask<T>(path: string, method: string, body?: object): Promise<T> {
    const sent = body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const answer = await this.house.fetch(path, { method, ...sent });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    }
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  #set(seconds: number): void {
    this.#offsetSeconds = seconds;
    const control = this.#environment['FAKETIME_TIMESTAMP_FILE']!;
    // In one step: it is read at every look at the clock.
    writeFileSync(`${control}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${control}.new`, control);
  }
}
