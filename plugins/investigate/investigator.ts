import type { Incidents } from 'svc/contracts/alert';
import type { HostCheck, InvestigationState } from 'svc/contracts/investigate';
import type { SeenDevices } from 'svc/query';
import { calibrate, type Calibration, type Findings, namesNothing, type Snapshot } from 'svc/rca';
import {
  type Clock,
  type Histogram,
  isSvcError,
  type Logger,
  messageOf,
  type PluginContext,
  type Tables,
  type ThreadHandle,
} from 'svc/sdk';

import type { ReadyConvention } from './conventions/known-conventions.ts';
import { errors } from './errors.ts';
import { Gatherer } from './fetch/gatherer.ts';
import type { Sources } from './fetch/sources.ts';
import { type Subject, subjectOf } from './fetch/symptom.ts';
import { stateOf } from './investigation-queue.ts';
import { buildReport, type ReportBody } from './report/build-report.ts';
import { type InvestigateTables, type RunRow, RunStore, scopeOfRun } from './run-store.ts';
import type { NamesOf } from './snapshot/device-names.ts';
import type { SnapshotFiles } from './snapshot/snapshot-files.ts';
import { takeSnapshot } from './snapshot/take-snapshot.ts';
import {
  actionsFor,
  fittingChecks,
  marksOf,
  relatedTo,
  runbookFor,
  similarTo,
  type SurroundingParts,
} from './surroundings.ts';

export interface Scored {
  readonly findings: Findings;
  /** Confidence as computed, before people's feedback on other reports. */
  readonly raw: number;
}

export interface InvestigatorParts {
  readonly tables: Tables<InvestigateTables>;
  readonly incidents: Incidents;
  readonly thread: Pick<ThreadHandle, 'call'>;
  readonly files: SnapshotFiles;
  readonly surroundings: SurroundingParts;
  readonly sources: Sources;
  readonly checks: () => ReadonlyMap<string, HostCheck>;
  readonly conventions: () => readonly ReadyConvention[];
  readonly namesOf: NamesOf;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<PluginContext['metrics'], 'histogram'>;
  /** Returns whether a model should examine the findings. */
  readonly mayAssist: () => boolean;
  /** Called after the commit; the recipient decides whether a model contributes. */
  readonly ready: (state: InvestigationState & { readonly mode: RunRow['mode'] }) => void;
}

/**
 * Time limit from the alert to the evidence; fetching and scoring together stay within twenty
 * seconds.
 */
const fetchMs = 13_000;
/** Number under which failures are recorded in the timeline: successful attempts keep theirs. */
const lookOfFailures = 9;
const scoreMs = 5_000;

/**
 * Investigator: fetches, stores the evidence, scores it, writes the report and the timeline entry.
 */
export class Investigator {
  readonly #parts: InvestigatorParts;
  readonly #took: Histogram;

  constructor(parts: InvestigatorParts) {
    this.#parts = parts;
    this.#took = parts.metrics.histogram(
      'seconds',
      'Duration of investigations without a model.',
      [0.25, 0.5, 1, 2, 5, 10, 20],
    );
  }

  /** Carries out a run without throwing: failures become its state, in words. */
  async carryOut(run: RunRow, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    const from = clock.monotonic();
    try {
      const subject = await this.#subjectOf(run);
      const snapshot = await this.#fetch(subject, signal, scopeOfRun(run));
      signal.throwIfAborted();
      const bytes = await this.#parts.files.keep(run.id, snapshot);
      const calibration = calibrate(
        labelsOf(await this.#parts.surroundings.store.labelled(mostLabelled)),
      );
      await this.#store(run, subject, {
        ...(await this.score(snapshot, calibration)),
        snapshot,
        bytes,
        from,
      });
    } catch (error) {
      // Interrupted: the row stays as it is, and the next generation begins it again.
      if (!signal.aborted) {
        const reason = isSvcError(error)
          ? messageOf(error)
          : 'an error of the investigator; the log of svc has it';
        log[isSvcError(error) ? 'warn' : 'error'](
          { event: 'investigate.failed', investigation: run.id, cause: messageOf(error) },
          'an investigation failed',
        );
        await this.#fail(run, reason);
      }
    }
  }

  score(snapshot: Snapshot, calibration?: Calibration): Promise<Scored> {
    return this.#parts.thread.call<Scored>(
      'investigate',
      { snapshot, calibration },
      { timeoutMs: scoreMs },
    );
  }

  async #subjectOf(run: RunRow): Promise<Subject> {
    const { incidents } = this.#parts;
    const seen = scopeOfRun(run);
    const incident = await incidents.get(run.incident_id, seen);
    if (incident === undefined) {
      throw errors.incident_gone({ id: run.incident_id });
    }
    const [measure, instances] = await Promise.all([
      incidents.measured(incident.id),
      incidents.instances(incident.id, seen),
    ]);
    return subjectOf(incident, measure, instances);
  }

  async #fetch(subject: Subject, signal: AbortSignal, seen: SeenDevices): Promise<Snapshot> {
    const { sources, checks, conventions, namesOf, clock } = this.#parts;
    const gatherer = new Gatherer({
      sources: sources.of(seen),
      clock,
      until: clock.monotonic() + fetchMs,
      signal,
    });
    const found = await takeSnapshot(subject, {
      gatherer,
      checks: checks(),
      conventions: conventions(),
      fetchers: seen === undefined ? sources.fetchers() : new Map(),
      namesOf,
      now: clock.now(),
    });
    // A plain value: what is stored and what is scored must be the same, to the byte.
    return JSON.parse(JSON.stringify(found)) as Snapshot;
  }

  async #store(
    run: RunRow,
    subject: Subject,
    {
      snapshot,
      findings,
      raw,
      bytes,
      from,
    }: Scored & { readonly snapshot: Snapshot; readonly bytes: number; readonly from: number },
  ): Promise<void> {
    const { tables, surroundings, clock, ready, log } = this.#parts;
    const marks = marksOf(findings, snapshot);
    const checks = this.#parts.checks();
    const scope = new Set(snapshot.nodes.map(({ id }) => id));
    const seen = scopeOfRun(run);
    const [related_incidents, similar_past, runbook] = await Promise.all([
      relatedTo(subject, scope, surroundings, seen),
      similarTo(subject, marks, surroundings, seen),
      runbookFor(
        subject,
        findings.summary,
        { ...surroundings, checks, fitting: fittingChecks(findings, snapshot, checks) },
        seen,
      ),
    ]);
    const suggested_actions = actionsFor(findings, snapshot, checks);
    const seconds = Math.round(clock.monotonic() - from) / 1_000;
    const body = buildReport(snapshot, findings, {
      run,
      raw,
      seconds,
      related_incidents,
      similar_past,
      suggested_actions,
      runbook,
    });
    const change = {
      status: 'ready' as const,
      verdict: findings.verdict,
      summary: findings.summary.slice(0, 1_000),
      confidence: body.confidence?.value ?? null,
      root_node: findings.root_cause?.node ?? null,
      engine_version: findings.engine_version,
      marks: JSON.stringify(marks),
      report: JSON.stringify(body),
      snapshot_bytes: bytes,
      reason: null,
      ready_at: Math.round(clock.now()),
      ...(this.#parts.mayAssist() &&
        seen === undefined &&
        isNews(run, findings.verdict) && { assist: 'waiting' as const }),
    };
    if (!(await tables.write((tx) => new RunStore(tx).end(run, change)))) {
      return;
    }
    this.#took.observe((clock.monotonic() - from) / 1_000);
    log.info(
      {
        event: 'investigate.ready',
        investigation: run.id,
        incident: run.incident_id,
        verdict: findings.verdict,
        seconds,
      },
      'investigation finished',
    );
    await this.#tell({ ...run, ...change }, body);
    ready({ ...stateOf({ ...run, ...change }), mode: 'deterministic' });
  }

  /**
   * Writes the timeline entry of a stored report if an earlier process ended before it could.
   * Idempotent per firing.
   */
  async tellAgain(run: RunRow): Promise<void> {
    const incident = await this.#parts.incidents.get(run.incident_id, undefined);
    // It does not apply to a later firing.
    if (incident !== undefined && incident.event_count === run.fire_seq) {
      await (run.status === 'failed'
        ? this.#tellFailed(run)
        : this.#tell(run, JSON.parse(run.report!) as ReportBody));
    }
  }

  /** Reports in the timeline that there will be no cause; a later report is added to it. */
  async #tellFailed({ id, incident_id: incident, devices, look, reason }: RunRow): Promise<void> {
    const message = `No cause found, because the investigation failed: ${reason ?? 'unknown reason'}. Start another with: svc investigate ${incident}`;
    if (devices === null) {
      await this.#write(id, incident, {
        message,
        data: { investigation_id: id, look, status: 'failed' },
        look: lookOfFailures,
      });
    }
  }

  /**
   * Writes the first result to the timeline, from which notices take their line; a run with a
   * limited scope writes nothing.
   */
  async #tell(run: RunRow, { confidence, chain, root_cause: cause }: ReportBody): Promise<void> {
    const { id, incident_id: incident, verdict, summary, look } = run;
    if (!isNews(run, verdict) || run.devices !== null) {
      return;
    }
    const message = [summary, ...chain].join('\n');
    const data = {
      investigation_id: id,
      look,
      verdict,
      confidence: confidence?.value ?? null,
      node: cause?.node.id ?? null,
      category: cause?.category ?? null,
      ...(namesNothing(summary) && { names_nothing: true }),
    };
    await this.#write(id, incident, { message, data, look });
  }

  async #write(
    id: number,
    incident: number,
    diagnosis: Omit<Parameters<Incidents['diagnose']>[1], 'by'>,
  ): Promise<void> {
    const { incidents, log } = this.#parts;
    try {
      await incidents.diagnose(incident, { ...diagnosis, by: 'investigator' });
    } catch (error) {
      log.warn(
        { event: 'investigate.not_told', investigation: id, cause: messageOf(error) },
        'failed to add a finished investigation to the incident timeline; retrying at the next start',
      );
    }
  }

  async #fail(run: RunRow, reason: string): Promise<void> {
    const { tables, clock, log, ready } = this.#parts;
    const change = {
      status: 'failed' as const,
      reason,
      summary: `The investigation failed: ${reason}`,
      ready_at: Math.round(clock.now()),
    };
    try {
      if (await tables.write((tx) => new RunStore(tx).end(run, change))) {
        await this.#tellFailed({ ...run, ...change });
        ready({ ...stateOf({ ...run, ...change }), mode: 'deterministic' });
      }
    } catch (error) {
      log.warn(
        { event: 'investigate.end_not_kept', investigation: run.id, cause: messageOf(error) },
        "failed to store an investigation's result; restarting it at the next start",
      );
    }
  }
}

/** Returns whether a result is news: a further one without a cause is not. */
const isNews = ({ look }: Pick<RunRow, 'look'>, verdict: RunRow['verdict']): boolean =>
  look === 1 || (verdict !== 'insufficient_data' && verdict !== 'no_anomaly');

const worth = { right: 1, partly: 0.5, wrong: 0 } as const;
/** The newest words of people that a calibration is made from. */
export const mostLabelled = 2_000;

export const labelsOf = (
  said: Awaited<ReturnType<RunStore['labelled']>>,
): readonly { readonly value: number; readonly right: number }[] =>
  said.map(({ confidence, verdict }) => ({ value: confidence, right: worth[verdict] }));
