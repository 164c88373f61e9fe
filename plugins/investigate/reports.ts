import type { Incidents } from 'svc/contracts/alert';
import type { SeenDevices } from 'svc/query';
import { calibrate, enoughLabels } from 'svc/rca';
import {
  type Clock,
  isSvcError,
  messageOf,
  type Page,
  type PageRequest,
  type Principal,
  type Tables,
} from 'svc/sdk';
import { type Static, Type } from 'typebox';

import { type AgainItem, compared } from './asked-again.ts';
import { errors } from './errors.ts';
import { askSource } from './fetch/gatherer.ts';
import type { Sources } from './fetch/sources.ts';
import { type Investigator, labelsOf, mostLabelled } from './investigator.ts';
import { type ReplayItem, replayOf } from './replay.ts';
import type { ReportBody } from './report/build-report.ts';
import { markdownOf, type Report } from './report/markdown.ts';
import {
  type FeedbackRow,
  type InvestigateTables,
  type RunFilter,
  type RunRow,
  RunStore,
  scopeOfRun,
} from './run-store.ts';
import { notStarted, shownReport } from './shown.ts';
import type { SnapshotFiles } from './snapshot/snapshot-files.ts';
import { relatedTo, type SurroundingParts } from './surroundings.ts';

export interface ReportsParts {
  readonly tables: Tables<InvestigateTables>;
  readonly incidents: Incidents;
  readonly investigator: Investigator;
  readonly files: SnapshotFiles;
  readonly surroundings: SurroundingParts;
  readonly sources: Sources;
  readonly clock: Clock;
}

export const CalibrationItem = Type.Object({
  labelled: Type.Integer(),
  needed: Type.Integer(),
  calibrated: Type.Boolean(),
  table: Type.Array(
    Type.Object({
      confidence: Type.Number(),
      reports: Type.Integer(),
      right: Type.Number({
        description: 'Share of reports that were right, according to feedback',
      }),
    }),
  ),
  curve: Type.Array(Type.Object({ value: Type.Number(), right: Type.Number() }), {
    description: 'Calibrated confidence',
  }),
});

const againMs = 15_000;
const bins = 10;

/** Reports, for those who read them, doubt them, or know better. */
export class Reports {
  readonly #parts: ReportsParts;
  readonly #store: RunStore;

  constructor(parts: ReportsParts) {
    this.#parts = parts;
    this.#store = new RunStore(parts.tables.read);
  }

  page(filter: RunFilter, page: PageRequest, seen: SeenDevices): Promise<Page<RunRow>> {
    return this.#store.page(filter, page, seen);
  }

  async ofIncident(incidentId: number, seen: SeenDevices): Promise<Report> {
    const run = await this.#store.newest(incidentId, seen);
    if (run !== undefined) {
      return await this.#shown(run);
    }
    const { incidents } = this.#parts;
    if ((await incidents.get(incidentId, seen)) === undefined) {
      throw errors.no_incident({ id: incidentId });
    }
    return notStarted(incidentId);
  }

  async get(id: number, seen: SeenDevices): Promise<Report> {
    return await this.#shown(await this.#run(id, seen));
  }

  async markdown(id: number, seen: SeenDevices): Promise<string> {
    return markdownOf(await this.get(id, seen));
  }

  /** Asks the question of a piece of evidence again, and compares the answers. */
  async again(
    id: number,
    evidenceId: string,
    signal: AbortSignal,
    seen: SeenDevices,
  ): Promise<Static<typeof AgainItem>> {
    const run = await this.#run(id, seen);
    const { evidence } = await this.#parts.files.read(id);
    const found = evidence.find((one) => one.id === evidenceId);
    if (found === undefined) {
      throw errors.no_evidence({ id, evidence: evidenceId });
    }
    try {
      const sources = this.#parts.sources.of(scopeOfRun(run));
      return compared(found, await askSource(sources, found, { ms: againMs, signal }), sources);
    } catch (error) {
      if (!isSvcError(error)) {
        throw error;
      }
      const unanswered = {
        same: false,
        settled_same: null,
        difference: null,
        text: null,
        sha256: null,
        digest: {},
      };
      return {
        id: evidenceId,
        ...unanswered,
        stored_sha256: found.sha256,
        error: messageOf(error),
      };
    }
  }

  async replay(id: number, seen: SeenDevices): Promise<Static<typeof ReplayItem>> {
    const run = await this.#run(id, seen);
    const snapshot = await this.#parts.files.read(id);
    const { findings: now } = await this.#parts.investigator.score(snapshot);
    return replayOf(
      run,
      JSON.parse(
        run.report ?? '{"root_cause":null,"hypotheses":[],"confidence":null,"propagation":[]}',
      ) as ReportBody,
      now,
    );
  }

  async tell(
    id: number,
    { verdict, true_cause = '', comment = '' }: Pick<FeedbackRow, 'verdict'> & Partial<FeedbackRow>,
    by: Principal,
    seen: SeenDevices,
  ): Promise<Report> {
    const run = await this.#run(id, seen);
    if (run.status !== 'ready') {
      throw errors.nothing_to_judge({ id, status: run.status });
    }
    const { tables, clock } = this.#parts;
    const person = `${by.kind}:${by.id}`;
    const row = {
      run_id: id,
      person,
      name: by.name ?? by.email ?? person,
      verdict,
      true_cause,
      comment,
      at: Math.round(clock.now()),
    };
    await tables.write((tx) => new RunStore(tx).tell(row));
    return await this.get(id, seen);
  }

  /** Returns how reliable confidences are, according to people's feedback. */
  async calibration(): Promise<Static<typeof CalibrationItem>> {
    const labels = labelsOf(await this.#store.labelled(mostLabelled));
    const curve = calibrate(labels);
    const table = Array.from({ length: bins }, (_, at) => {
      const own = labels.filter(({ value }) => Math.min(bins - 1, Math.floor(value * bins)) === at);
      const right = own.reduce((sum, one) => sum + one.right, 0);
      return {
        confidence: (at + 0.5) / bins,
        reports: own.length,
        right: own.length === 0 ? 0 : right / own.length,
      };
    });
    return {
      labelled: labels.length,
      needed: enoughLabels,
      calibrated: curve !== undefined,
      table,
      curve: (curve?.points ?? []).map((point) => ({ ...point })),
    };
  }

  /**
   * Returns a report; a skipped run has none of its own, and names those that are investigated in
   * its place.
   */
  async #shown(run: RunRow): Promise<Report> {
    const { incidents, surroundings } = this.#parts;
    const feedback = await this.#store.feedback([run.id]);
    const incident =
      run.status === 'skipped' ? await incidents.get(run.incident_id, undefined) : undefined;
    const related =
      incident &&
      (await relatedTo({ incident, fired_at: run.fired_at }, new Set(), surroundings, undefined));
    return shownReport(run, feedback, related === undefined ? {} : { related_incidents: related });
  }

  /** Returns a run; one outside the scope counts as not found. */
  async #run(id: number, seen: SeenDevices): Promise<RunRow> {
    const run = await this.#store.find(id, seen);
    if (run === undefined) {
      throw errors.unknown({ id });
    }
    return run;
  }
}
