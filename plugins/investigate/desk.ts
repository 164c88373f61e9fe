import type { Incidents, IncidentView } from 'svc/contracts/alert';
import type { InvestigationState } from 'svc/contracts/investigate';
import { SlidingCounter } from 'svc/flow';
import { idTexts, type SeenDevices } from 'svc/query';
import {
  type Clock,
  type Counter,
  type Logger,
  messageOf,
  type Principal,
  type Scope,
  type Settings,
  SvcError,
  type Tables,
  timestamp,
} from 'svc/sdk';

import { type InvestigateTables, type NewRun, type RunRow, RunStore } from './run-store.ts';

export interface DeskParts {
  readonly tables: Tables<InvestigateTables>;
  readonly incidents: Incidents;
  readonly settings: Pick<Settings, 'get'>;
  readonly clock: Clock;
  readonly scope: Pick<Scope, 'task' | 'signal'>;
  readonly log: Logger;
  readonly admitted: Counter;
  /** Carries one out to its end; never throws. */
  readonly carryOut: (run: RunRow, signal: AbortSignal) => Promise<void>;
  /** Writes a report, or that there is none, into the timeline of its incident, if it is not there. */
  readonly tellAgain: (run: RunRow) => Promise<void>;
}

const atOnce = 3;
const mostWaiting = 100;
const mostAttempts = 3;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** How long after a look that has seen no cause the next one is due, while the incident burns on: more will have been measured. */
const nextLookMs = [2 * minuteMs, 8 * minuteMs];
/** One that fires again is looked at again only after this. */
const againMs = 24 * hourMs;
/** Over which it is counted how many one person has started. */
const personMs = 10 * minuteMs;
const severities = ['info', 'warning', 'critical', 'never'];

/** Who asks for one: by the key it is counted, by the name it is told. */
export interface Asker {
  readonly key: string;
  readonly name: string;
}

export const askerOf = ({ name, email, kind, id }: Principal): Asker => ({
  key: `${kind} ${id}`,
  name: name ?? email ?? `${kind} ${id}`,
});

/** Which incidents are investigated, and in what order: alerts pass a gate, people do not, and what is open is on disk. */
export class Desk {
  readonly #parts: DeskParts;
  readonly #store: RunStore;
  readonly #asked: SlidingCounter;
  #running = 0;
  #lastOffer: Promise<unknown> = Promise.resolve();

  constructor(parts: DeskParts) {
    this.#parts = parts;
    this.#store = new RunStore(parts.tables.read);
    const { settings, clock } = parts;
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
        'an incident could not be taken for investigation; the next look takes it',
      );
    });
    return next;
  }

  /** A person, or another room in their name, asks for one. */
  async start(
    incidentId: number,
    { key, name }: Asker,
    seen: SeenDevices,
  ): Promise<InvestigationState> {
    const { tables, incidents, clock } = this.#parts;
    const incident = await incidents.get(incidentId, seen);
    if (incident === undefined) {
      throw new SvcError('not_found', `there is no incident ${incidentId}`);
    }
    if (seen !== undefined && incident.scope_type !== 'host') {
      throw new SvcError(
        'forbidden',
        `incident ${incidentId} is of a rule that is not about single hosts; ask an administrator`,
        {
          reason: 'investigate.not_of_one_device',
        },
      );
    }
    const open = await this.#store.newest(incidentId, seen);
    if (open?.status === 'pending' || open?.status === 'running') {
      return stateOf(open);
    }
    this.#mayAsk(key);
    const row = await tables.write(async (tx) => {
      const store = new RunStore(tx);
      if ((await store.waiting()) >= mostWaiting) {
        throw new SvcError(
          'rate_limited',
          `${mostWaiting} investigations wait already; try again in a minute`,
          {
            reason: 'investigate.queue_full',
            retryAfterSeconds: 60,
          },
        );
      }
      const devices = seen === undefined ? null : idTexts(seen);
      const run = {
        ...aboutOf(incident, clock.now()),
        started_by: 'person',
        asked_by: name,
        devices,
      } as const;
      return (await store.insert(run)) ?? (await store.newest(incidentId, seen));
    });
    this.pump();
    return stateOf(row!);
  }

  /** Counts before anything is written, so that many requests at once count as many. */
  #mayAsk(key: string): void {
    const waitMs = this.#asked.waitMs(key);
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      throw new SvcError(
        'rate_limited',
        `an account starts at most ${this.#parts.settings.get<number>('investigate.most_per_person')} investigations in ten minutes; try again in ${seconds} s`,
        {
          reason: 'investigate.too_many_asked',
          retryAfterSeconds: seconds,
        },
      );
    }
    this.#asked.add(key);
  }

  /** Begins what waits, as far as there is room. */
  pump(): void {
    const { scope } = this.#parts;
    if (this.#running >= atOnce || scope.signal.aborted) {
      return;
    }
    this.#running += 1;
    scope.task('investigate', async (signal) => {
      try {
        for (
          let run = await this.#take();
          run !== undefined && !signal.aborted;
          run = await this.#take()
        ) {
          await this.#parts.carryOut(run, signal);
        }
      } catch (error) {
        this.#parts.log.warn(
          { event: 'investigate.not_begun', cause: messageOf(error) },
          'an investigation could not be begun; the next look begins it',
        );
      } finally {
        this.#running -= 1;
      }
    });
  }

  /** What a process that ended was at is begun again, a few times; then it is failed, in words. */
  async resume(): Promise<void> {
    const { tables, clock, log, tellAgain } = this.#parts;
    for (const { id, attempts } of await this.#store.interrupted()) {
      const isOver = attempts >= mostAttempts;
      const change = isOver
        ? {
            status: 'failed' as const,
            reason: `svc ended ${attempts} times while it ran; start it again by hand`,
            ready_at: Math.round(clock.now()),
          }
        : { status: 'pending' as const };
      await tables.write((tx) => new RunStore(tx).end({ id, attempts }, change));
      log.info(
        { event: 'investigate.resumed', investigation: id, attempts, given_up: isOver },
        'an investigation was interrupted by the end of svc',
      );
    }
    for (const run of await this.#store.endedSince(clock.now() - hourMs)) {
      await tellAgain(run);
    }
    await this.sweep();
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
    Array.from({ length: atOnce }).forEach(() => this.pump());
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
          return (await store.waiting()) < mostWaiting ? await store.insert(about) : undefined;
        });
      }
    }
  }

  #take(): Promise<RunRow | undefined> {
    const { tables, clock } = this.#parts;
    return tables.write((tx) => new RunStore(tx).take(clock.now()));
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
      return await store.insert(
        reason === undefined ? about : { ...about, status: 'skipped', reason, summary: reason },
      );
    });
    if (row === undefined) {
      return;
    }
    admitted.add(1, { outcome: row.status });
    if (row.status === 'skipped') {
      await this.#tellSkipped(row);
    } else {
      this.pump();
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
    const full = (await store.waiting()) >= mostWaiting;
    if (ofRule < perRule && all < inAll && !full) {
      return undefined;
    }
    const others = (
      await store.around(Date.parse(incident.fired_at), hourMs, incident.id, undefined)
    ).filter(({ status }) => status !== 'skipped');
    const same = others.filter(({ rule_key: rule }) => rule === incident.rule_key);
    const named = (same.length > 0 ? same : others).slice(-3).map(({ incident_id: id }) => id);
    const why = full
      ? `${mostWaiting} investigations wait already`
      : ofRule >= perRule
        ? `${ofRule} incidents of this rule were within the hour`
        : `${all} incidents were within the hour`;
    return `Not investigated by itself, because ${why}${named.length === 0 ? '' : `; see the investigations of incident ${named.join(', ')}`}.`;
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
        'the timeline of an incident could not be told that it is not investigated',
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
