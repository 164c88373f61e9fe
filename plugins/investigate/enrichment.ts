import type { InvestigationState } from 'svc/contracts/investigate';
import {
  type Counter,
  type Logger,
  messageOf,
  type PluginContext,
  type Scope,
  type Tables,
} from 'svc/sdk';

import type { Assistant } from './assist/assistant.ts';
import { stateOf } from './investigation-queue.ts';
import type { ReportBody } from './report/build-report.ts';
import { type InvestigateTables, type RunRow, RunStore } from './run-store.ts';
import type { SnapshotFiles } from './snapshot/snapshot-files.ts';

export interface EnrichmentParts {
  readonly tables: Tables<InvestigateTables>;
  readonly assistant: Assistant;
  readonly files: SnapshotFiles;
  readonly scope: Pick<Scope, 'task' | 'signal'>;
  readonly log: Logger;
  readonly metrics: Pick<PluginContext['metrics'], 'counter'>;
  readonly ready: (state: InvestigationState & { readonly mode: RunRow['mode'] }) => void;
}

const mostWaiting = 20;

/**
 * Queue of reports for a model, the newest first, one at a time; beyond a max the oldest go
 * without, and say so.
 */
export class Enrichment {
  readonly #parts: EnrichmentParts;
  readonly #contradicted: Counter;
  #isRunning = false;

  constructor(parts: EnrichmentParts) {
    this.#parts = parts;
    this.#contradicted = parts.metrics.counter(
      'contradicted_total',
      'Claims of models that stored samples contradict.',
    );
  }

  /** Restarts what was running when svc ended: a model was only queried. */
  async resume(): Promise<void> {
    const { tables } = this.#parts;
    for (const { id } of await new RunStore(tables.read).assisting('running')) {
      await tables.write((tx) => new RunStore(tx).change(id, { assist: 'waiting' }));
    }
    this.pump();
  }

  pump(): void {
    const { scope, tables, log } = this.#parts;
    if (this.#isRunning || scope.signal.aborted) {
      return;
    }
    this.#isRunning = true;
    scope.task('let a model look at reports', async (signal) => {
      try {
        await this.#shed();
        const take = (): Promise<RunRow | undefined> =>
          tables.write((tx) => new RunStore(tx).takeAssist());
        for (let run = await take(); run !== undefined && !signal.aborted; run = await take()) {
          await this.#enrich(run, signal);
        }
      } catch (error) {
        log.warn(
          { event: 'investigate.not_enriched', cause: messageOf(error) },
          'failed to add model comments to reports; retrying with the next report',
        );
      } finally {
        this.#isRunning = false;
      }
    });
  }

  async #shed(): Promise<void> {
    const { tables } = this.#parts;
    const waiting = await new RunStore(tables.read).assisting('waiting');
    for (const { id } of waiting.slice(mostWaiting)) {
      await tables.write((tx) =>
        new RunStore(tx).change(id, {
          assist: 'dropped',
          reason: `no model has reviewed it, because ${mostWaiting} newer reports were waiting`,
        }),
      );
    }
  }

  async #enrich(run: RunRow, signal: AbortSignal): Promise<void> {
    const { tables, assistant, files, ready, log } = this.#parts;
    try {
      const report = JSON.parse(run.report!) as ReportBody;
      const snapshot = await files.read(run.id);
      const outcome = await assistant.assist(
        { id: run.id, incidentId: run.incident_id, summary: run.summary, report, snapshot },
        signal,
      );
      const change: Partial<RunRow> = outcome.ok
        ? {
            assist: 'done',
            mode: 'assisted',
            report: JSON.stringify(outcome.report),
            confidence: outcome.report.confidence?.value ?? null,
            reason: null,
          }
        : { assist: 'done', reason: `without a model: ${outcome.reason}` };
      await tables.write((tx) => new RunStore(tx).change(run.id, change));
      if (outcome.ok) {
        this.#contradicted.add(outcome.contradicted);
        ready({ ...stateOf(run), mode: 'assisted' });
      }
    } catch (error) {
      if (!signal.aborted) {
        log.error(
          { event: 'investigate.assist_failed', investigation: run.id, cause: messageOf(error) },
          'model review of a report failed; keeping the report without it',
        );
        await tables.write((tx) =>
          new RunStore(tx).change(run.id, {
            assist: 'done',
            reason: 'without a model: an error of the investigator; see the log of svc',
          }),
        );
      }
    }
  }
}
