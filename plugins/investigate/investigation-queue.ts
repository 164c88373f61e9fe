import type { Kysely } from 'kysely';
import type { Incidents, IncidentView } from 'svc/contracts/alert';
import type { InvestigationState } from 'svc/contracts/investigate';
import { SlidingCounter } from 'svc/flow';
import type { Job, Jobs } from 'svc/jobs';
import { idTexts, type SeenDevices } from 'svc/query';
import {
  type Clock,
  type Counter,
  type Logger,
  messageOf,
  type Principal,
  type Scope,
  type Settings,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { errors } from './errors.ts';
import { type InvestigateTables, type NewRun, type RunRow, RunStore } from './run-store.ts';

export interface InvestigationQueueParts {
  readonly tables: Tables<InvestigateTables>;
  readonly incidents: Incidents;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly scope: Pick<Scope, 'timeout'>;
  readonly log: Logger;
  readonly jobs: Jobs<InvestigateTables>;
  readonly admitted: Counter;
  /** Carries one out to its end; never throws. */
  readonly carryOut: (run: RunRow, signal: AbortSignal) => Promise<void>;
  /**
   * Writes a report, or that there is none, into the timeline of its incident, unless it is there
   * already.
   */
  readonly tellAgain: (run: RunRow) => Promise<void>;
}

const queue = 'investigation';
const atOnce = 3;
const maxWaiting = 100;
const maxTries = 3;
const minuteMs = 60_000;
/** Time limit beyond all deadlines of an investigation: reached only by one that hangs. */
const tryMs = 5 * minuteMs;
const hourMs = 60 * minuteMs;
/**
 * Delays of another attempt after one that found no cause, while the incident keeps firing: more
 * will have been measured.
 */
const nextLookMs = [2 * minuteMs, 8 * minuteMs];
/** Min interval between investigations of an incident that fires again. */
const againMs = 24 * hourMs;
/** Window in which starts by one person are counted. */
const personMs = 10 * minuteMs;
const severities = ['info', 'warning', 'critical', 'never'];

/** Requester of an investigation: counted by key, shown by name. */
export interface Asker {
  readonly key: string;
  readonly name: string;
}

export const askerOf = ({ name, email, kind, id }: Principal): Asker => ({
  key: `${kind} ${id}`,
  name: name ?? email ?? `${kind} ${id}`,
});

/** Payload of a job. */
interface Carried {
  readonly run: number;
  readonly incident: number;
}

/** Delay of the announcement after the commit that ended a job. */
const tellMs = 100;

/** Which incidents are investigated, and in what order: alerts pass a gate, people do not, and what is open is on disk. */
export class InvestigationQueue {
  readonly #parts: InvestigationQueueParts;
  readonly #store: RunStore;
  readonly #asked: SlidingCounter;
  #lastOffer: Promise<unknown> = Promise.resolve();

  constructor(parts: InvestigationQueueParts) {
    this.#parts = parts;
    this.#store = new RunStore(parts.tables.read);
    const { settings, clock, jobs } = parts;
    jobs.queue<Carried>(queue, {
      atOnce,
      tries: maxTries,
      timeoutMs: tryMs,
      title: ({ incident }) => `Investigate incident ${incident}`,
      work: (job) => this.#carryOut(job),
      onFailed: (tx, { payload, state, cause }) => this.#giveUp(tx, payload, state, cause),
    });
    this.#asked = new SlidingCounter({
      clock,
      windowMs: personMs,
      get limit() {
        return settings.get<number>('investigate.most_per_person');
      },
    });
  }

  /** An alert has raised an incident. */
  offer(incident: IncidentView): Promise<void> {
    // One after another, so that each sees those before it.
    const next = this.#lastOffer.then(() => this.#offer(incident));
    this.#lastOffer = next.catch((error: unknown) => {
      this.#parts.log.warn(
        { event: 'investigate.offer_failed', incident: incident.id, cause: messageOf(error) },
        'failed to enqueue an investigation; retrying at the next sweep',
      );
    });
    return next;
  }

  /** Starts an investigation for a person, or for another plugin on their behalf. */
  async start(
    incidentId: number,
    { key, name }: Asker,
    seen: SeenDevices,
  ): Promise<InvestigationState> {
    const { tables, incidents, clock } = this.#parts;
    const incident = await incidents.get(incidentId, seen);
    if (incident === undefined) {
      throw errors.no_incident({ id: incidentId });
    }
    if (seen !== undefined && incident.scope_type !== 'host') {
      throw errors.not_of_one_device({ id: incidentId });
    }
    const open = await this.#store.newest(incidentId, seen);
    if (open?.status === 'pending' || open?.status === 'running') {
      return stateOf(open);
    }
    this.#mayAsk(key);
    const row = await tables.write(async (tx) => {
      const store = new RunStore(tx);
      if ((await store.waiting()) >= maxWaiting) {
        throw errors.queue_full({ max: maxWaiting }, { retryAfterSeconds: 60 });
      }
      const devices = seen === undefined ? null : idTexts(seen);
      const run = {
        ...aboutOf(incident, clock.now()),
        started_by: 'person',
        asked_by: name,
        devices,
      } as const;
      return (await this.#enqueue(tx, run)) ?? (await store.newest(incidentId, seen));
    });
    return stateOf(row!);
  }

  /** Counts before anything is written, so that many requests at once count as many. */
  #mayAsk(key: string): void {
    const waitMs = this.#asked.waitMs(key);
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      const max = this.#parts.settings.get<number>('investigate.most_per_person');
      throw errors.too_many_asked({ max, seconds }, { retryAfterSeconds: seconds });
    }
    this.#asked.add(key);
  }

  /** Resumes runs that an earlier version left without a job, and completes timelines. */
  async resume(): Promise<void> {
    const { tables, clock, tellAgain } = this.#parts;
    await tables.write(async (tx) => {
      for (const { id, incident_id: incident } of await new RunStore(tx).open()) {
        await this.#addJob(tx, { run: id, incident });
      }
    });
    for (const run of await this.#store.endedSince(clock.now() - hourMs)) {
      await tellAgain(run);
    }
    await this.sweep();
  }

  /** The run and the job that carries it out, in one transaction; undefined when the incident has one already. */
  async #enqueue(tx: Kysely<InvestigateTables>, run: NewRun): Promise<RunRow | undefined> {
    const row = await new RunStore(tx).insert(run);
    if (row?.status === 'pending') {
      await this.#addJob(tx, { run: row.id, incident: row.incident_id });
    }
    return row;
  }

  async #addJob(tx: Kysely<InvestigateTables>, payload: Carried): Promise<void> {
    await this.#parts.jobs.add(tx, queue, [{ payload, key: `run:${payload.run}` }]);
  }

  async #carryOut({ payload, signal, write }: Job<Carried, InvestigateTables>): Promise<void> {
    const { clock, carryOut } = this.#parts;
    const run = await write((tx) => new RunStore(tx).begin(payload.run, clock.now()));
    if (run !== undefined) {
      await carryOut(run, signal);
      signal.throwIfAborted();
    }
  }

  /**
   * Ends a run in the transaction that ends the job, recording why there is no report. The timeline
   * is updated afterwards.
   */
  async #giveUp(
    tx: Kysely<InvestigateTables>,
    { run: id }: Carried,
    state: 'failed' | 'cancelled',
    cause: string,
  ): Promise<void> {
    const { clock, scope, tellAgain } = this.#parts;
    const reason = state === 'failed' ? `${cause}; start it again by hand` : cause;
    await new RunStore(tx).giveUp(id, reason, clock.now());
    scope.timeout('note that there is no report', tellMs, async () => {
      const run = await this.#store.find(id, undefined);
      if (run?.status === 'failed') {
        await tellAgain(run);
      }
    });
  }

  /** Takes incidents whose event was lost, such as by a kill between two commits, and those that are due for another look. */
  async sweep(): Promise<void> {
    const { incidents, clock } = this.#parts;
    const since = clock.now() - hourMs;
    for (const incident of await incidents.list(
      { status: ['open', 'acknowledged'], limit: 200 },
      undefined,
    )) {
      if (
        Date.parse(incident.fired_at) >= since &&
        (await this.#store.newest(incident.id, undefined)) === undefined
      ) {
        await this.offer(incident).catch(() => undefined);
      }
    }
    await this.#lookAgain();
  }

  /** An alert that has just fired may be about what one sample shows; twice more it is seen whether there is a cause by now. */
  async #lookAgain(): Promise<void> {
    const { tables, incidents, clock } = this.#parts;
    const now = clock.now();
    for (const {
      incident_id: id,
      fire_seq: firing,
      look,
      created_at: at,
    } of await this.#store.unexplained(now - hourMs, nextLookMs.length + 1)) {
      const incident =
        at + nextLookMs[look - 1]! <= now ? await incidents.get(id, undefined) : undefined;
      if (
        incident !== undefined &&
        incident.event_count === firing &&
        (incident.status === 'open' || incident.status === 'acknowledged')
      ) {
        const about = {
          ...aboutOf(incident, now),
          started_by: 'alert' as const,
          asked_by: 'alert',
          look: look + 1,
        };
        await tables.write(async (tx) => {
          const store = new RunStore(tx);
          return (await store.waiting()) < maxWaiting ? await this.#enqueue(tx, about) : undefined;
        });
      }
    }
  }

  async #offer(incident: IncidentView): Promise<void> {
    const { tables, settings, clock, admitted } = this.#parts;
    const floor = severities.indexOf(settings.get<string>('investigate.severity'));
    const last = await this.#store.lastReady(incident.id);
    if (
      severities.indexOf(incident.severity) < floor ||
      (last !== undefined && last > clock.now() - againMs)
    ) {
      return;
    }
    const about = {
      ...aboutOf(incident, clock.now()),
      started_by: 'alert' as const,
      asked_by: 'alert',
    };
    const row = await tables.write(async (tx) => {
      const store = new RunStore(tx);
      const reason = await this.#held(store, incident, clock.now());
      return await this.#enqueue(
        tx,
        reason === undefined ? about : { ...about, status: 'skipped', reason, summary: reason },
      );
    });
    if (row === undefined) {
      return;
    }
    admitted.add(1, { outcome: row.status });
    if (row.status === 'skipped') {
      await this.#tellSkipped(row);
    }
  }

  /** Why an alert starts none: too many of its rule, or in all, and who is looked at in its place. */
  async #held(store: RunStore, incident: IncidentView, now: number): Promise<string | undefined> {
    const { settings } = this.#parts;
    const { ofRule, all } = await store.begunSince(now - hourMs, incident.rule_key);
    const [perRule, inAll] = [
      settings.get<number>('investigate.most_per_rule'),
      settings.get<number>('investigate.most'),
    ];
    const full = (await store.waiting()) >= maxWaiting;
    if (ofRule < perRule && all < inAll && !full) {
      return undefined;
    }
    const others = (
      await store.around(Date.parse(incident.fired_at), hourMs, incident.id, undefined)
    ).filter(({ status }) => status !== 'skipped');
    const same = others.filter(({ rule_key: rule }) => rule === incident.rule_key);
    const named = (same.length > 0 ? same : others).slice(-3).map(({ incident_id: id }) => id);
    const why = full
      ? `${maxWaiting} investigations wait already`
      : ofRule >= perRule
        ? `${ofRule} incidents of this rule were within the hour`
        : `${all} incidents were within the hour`;
    return `Not investigated automatically, because ${why}${named.length === 0 ? '' : `; see the investigations of incident ${named.join(', ')}`}.`;
  }

  async #tellSkipped({ id, incident_id: incident, summary }: RunRow): Promise<void> {
    const { incidents, log } = this.#parts;
    try {
      await incidents.diagnose(incident, {
        message: summary,
        by: 'investigator',
        data: { investigation_id: id, status: 'skipped' },
      });
    } catch (error) {
      log.debug(
        { event: 'investigate.untold', incident, cause: messageOf(error) },
        'failed to record a skipped investigation in the incident timeline',
      );
    }
  }
}

const aboutOf = (incident: IncidentView, now: number): Omit<NewRun, 'started_by' | 'asked_by'> => ({
  incident_id: incident.id,
  fire_seq: incident.event_count,
  rule_key: incident.rule_key,
  device_id: incident.device_id ?? null,
  labels: JSON.stringify(incident.labels),
  fired_at: Date.parse(incident.fired_at),
  created_at: Math.round(now),
});

export const stateOf = ({
  id,
  incident_id,
  status,
  verdict,
  summary,
}: RunRow): InvestigationState => ({ id, incident_id, status, verdict, summary });

export const instantOf = (at: number | null): string | null => (at === null ? null : timestamp(at));
