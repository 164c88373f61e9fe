import type { EdgeFleet } from 'svc/contracts/edge';
import { HostPolicy, HostSnapshot, Processes } from 'svc/edge-protocol';
import { canonicalMetrics } from 'svc/contracts/edge';
import { type ScopeSource, scopeOf } from 'svc/query';
import type { Handle, Principal, Tables } from 'svc/sdk';
import type { Static } from 'typebox';

import { withoutArguments } from './arguments.ts';
import { errors } from './errors.ts';
import { foundFor } from './record/edge-store.ts';
import { ProcessHistory, type ProcessQuery, type Snapshot } from './record/schema.ts';
import { shapeCheck } from './record/shape-check.ts';
import type { EdgeTables } from './record/tables.ts';

const askMs = 10_000;

export interface LiveParts {
  readonly fleet: EdgeFleet;
  readonly tables: Tables<EdgeTables>;
  readonly scopes: Handle<ScopeSource>;
}

/** Live queries to a host. Its answers are untrusted. */
export class LiveAnswers {
  readonly #fleet: EdgeFleet;
  readonly #parts: LiveParts;
  readonly #isProcesses = shapeCheck<Processes>(Processes, { removeAdditional: 'all' });
  readonly #isHistory = shapeCheck<ProcessHistory>(ProcessHistory, { removeAdditional: 'all' });
  readonly #isPolicy = shapeCheck<HostPolicy>(HostPolicy, { removeAdditional: 'all' });
  readonly #isSnapshot = shapeCheck<HostSnapshot>(HostSnapshot, { removeAdditional: 'all' });

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#fleet = parts.fleet;
  }

  /** `whole`: with the arguments. */
  async processes(
    asker: Principal,
    edgeId: number,
    query: Static<typeof ProcessQuery>,
    signal: AbortSignal,
    whole: boolean,
  ): Promise<Processes> {
    await this.#assertSeen(asker, edgeId);
    const { top = 50, sort_by = 'cpu' } = query;
    const answer: unknown = await this.#fleet.call(
      edgeId,
      'processes',
      { top, sort_by },
      { timeoutMs: askMs, signal },
    );
    if (!this.#isProcesses(answer)) {
      throw errors.process_answer({ edgeId });
    }
    const { sampled_at, processes } = answer;
    const shown = processes.slice(0, top);
    return { sampled_at, processes: whole ? shown : shown.map(withoutArguments) };
  }

  /** Returns what the agent remembers of six hours: names of programs, without their arguments. */
  async processHistory(
    asker: Principal,
    edgeId: number,
    window: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ): Promise<ProcessHistory> {
    await this.#assertSeen(asker, edgeId);
    const answer: unknown = await this.#fleet.call(edgeId, 'process_history', window, {
      timeoutMs: askMs,
      signal,
    });
    if (!this.#isHistory(answer)) {
      throw errors.history_answer({ edgeId });
    }
    return answer;
  }

  async #assertSeen(asker: Principal, edgeId: number): Promise<void> {
    const { tables, scopes } = this.#parts;
    await foundFor(await scopeOf(scopes, asker), edgeId, tables.read);
  }

  async policy(asker: Principal, edgeId: number, signal: AbortSignal): Promise<HostPolicy> {
    await this.#assertSeen(asker, edgeId);
    const answer: unknown = await this.#fleet.call(
      edgeId,
      'host_policy',
      {},
      { timeoutMs: askMs, signal },
    );
    if (!this.#isPolicy(answer)) {
      throw errors.policy_answer({ edgeId });
    }
    return answer;
  }

  async snapshot(
    asker: Principal,
    edgeId: number,
    signal: AbortSignal,
  ): Promise<Static<typeof Snapshot>> {
    await this.#assertSeen(asker, edgeId);
    const answer: unknown = await this.#fleet.call(
      edgeId,
      'host_snapshot',
      {},
      { timeoutMs: askMs, signal },
    );
    if (!this.#isSnapshot(answer)) {
      throw errors.snapshot_answer({ edgeId });
    }
    const { sampled_at, metrics } = answer;
    const known = new Map(Object.entries(metrics));
    return {
      device_id: this.#fleet.get(edgeId)?.device_id ?? null,
      sampled_at,
      metrics: Object.fromEntries(canonicalMetrics.map((name) => [name, known.get(name) ?? null])),
    };
  }
}
