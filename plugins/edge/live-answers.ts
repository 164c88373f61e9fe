import { HostSnapshot, Processes } from 'svc/edge-protocol';
import { canonicalMetrics } from 'svc/probe';
import { SvcError } from 'svc/sdk';
import type { Static } from 'typebox';

import { withoutArguments } from './arguments.ts';
import type { EdgeFleet } from './contract.ts';
import type { ProcessQuery, Snapshot } from './schema.ts';
import { shapeCheck } from './shape-check.ts';

const askMs = 10_000;

/** What is asked of the machine at this moment. What it answers is an outsider's word. */
export class LiveAnswers {
  readonly #fleet: EdgeFleet;
  readonly #isProcesses = shapeCheck<Processes>(Processes, { removeAdditional: 'all' });
  readonly #isSnapshot = shapeCheck<HostSnapshot>(HostSnapshot, { removeAdditional: 'all' });

  constructor(fleet: EdgeFleet) {
    this.#fleet = fleet;
  }

  /** `whole`: with the arguments. */
  async processes(edgeId: number, query: Static<typeof ProcessQuery>, signal: AbortSignal, whole: boolean): Promise<Processes> {
    const { top = 50, sort_by = 'cpu' } = query;
    const answer: unknown = await this.#fleet.call(edgeId, 'processes', { top, sort_by }, { timeoutMs: askMs, signal });
    if (!this.#isProcesses(answer)) {
      throw new SvcError('upstream_error', `the answer of edge ${edgeId} is no list of processes; upgrade its agent`);
    }
    const { sampled_at, processes } = answer;
    const shown = processes.slice(0, top);
    return { sampled_at, processes: whole ? shown : shown.map(withoutArguments) };
  }

  async snapshot(edgeId: number, signal: AbortSignal): Promise<Static<typeof Snapshot>> {
    const answer: unknown = await this.#fleet.call(edgeId, 'host_snapshot', {}, { timeoutMs: askMs, signal });
    if (!this.#isSnapshot(answer)) {
      throw new SvcError('upstream_error', `the answer of edge ${edgeId} is no snapshot of a host; upgrade its agent`);
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
