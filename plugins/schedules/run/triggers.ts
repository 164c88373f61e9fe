import type { Incidents, IncidentView } from 'svc/contracts/alert';
import type { Change, ChangeFeed } from 'svc/contracts/changes';
import type { EdgeFleet } from 'svc/contracts/edge';
import type { SeenBy, SeenDevices } from 'svc/query';
import { type Clock, type Handle, type Logger, messageOf, type Tables } from 'svc/sdk';

import type { Authors } from '../author/authors.ts';
import { ScheduleStore } from '../store/schedule-store.ts';
import type { ScheduleRow, ScheduleTables, Trigger } from '../store/tables.ts';
import { type Occurrence, ofChange, ofEdge, ofIncident } from './occurrence.ts';
import type { Starts } from './starts.ts';

export interface TriggerParts {
  readonly tables: Pick<Tables<ScheduleTables>, 'read'>;
  readonly starts: Pick<Starts, 'propose'>;
  readonly authors: Authors;
  readonly incidents: Handle<Incidents>;
  readonly changes: Handle<ChangeFeed>;
  readonly fleet: Handle<EdgeFleet>;
  readonly seenBy: SeenBy;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Age of the oldest event that is caught up with after svc was not running. */
const catchUpMs = 60 * 60_000;
const severities = ['info', 'warning', 'critical'];

/** Events that start runs: of what its author sees, each once. */
export class Triggers {
  readonly #parts: TriggerParts;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: TriggerParts) {
    this.#parts = parts;
  }

  fired(incident: IncidentView): Promise<void> {
    return this.#inTurn('incident', async (schedule, seen) =>
      (await this.#fits(schedule, incident, seen)) ? ofIncident(incident) : undefined,
    );
  }

  changed(change: Change): Promise<void> {
    return change.kind === 'deploy'
      ? this.#inTurn('deploy', (schedule, seen) =>
          isDeployFor(schedule, change, seen) ? ofChange(change) : undefined,
        )
      : Promise.resolve();
  }

  wentOffline(edge: number, lastSeenAt: number): Promise<void> {
    return this.#inTurn('agent_offline', (_schedule, seen) => this.#outage(edge, lastSeenAt, seen));
  }

  /** Looks for what happened while svc was not running; of several, the newest alone. */
  async catchUp(): Promise<void> {
    await this.#inTurn('incident', (schedule, seen) => this.#newestIncident(schedule, seen));
    await this.#inTurn('deploy', (schedule, seen) => this.#newestDeploy(schedule, seen));
    await this.#inTurn('agent_offline', (schedule, seen) => this.#newestOutage(schedule, seen));
  }

  /** Asks every active schedule with a trigger, one event after another, so that each sees the runs of those before it. */
  #inTurn(
    trigger: Trigger,
    occurrenceFor: (
      schedule: ScheduleRow,
      seen: SeenDevices,
    ) => Promise<Occurrence | undefined> | Occurrence | undefined,
  ): Promise<void> {
    const { tables, starts, authors, seenBy, log } = this.#parts;
    const work = async (): Promise<void> => {
      for (const schedule of await new ScheduleStore(tables.read).startingOn(trigger)) {
        const { principal } = authors.now(schedule);
        // Without an author it sees nothing, and is stopped by what anybody sees.
        const seen = principal && (await seenBy(principal));
        const occurrence = await occurrenceFor(schedule, seen);
        if (occurrence !== undefined) {
          await starts.propose(schedule, occurrence);
        }
      }
    };
    this.#last = this.#last.then(work).catch((error: unknown) => {
      log.warn(
        { event: 'schedules.trigger_failed', trigger, cause: messageOf(error) },
        'failed to start schedules; retrying at the next sweep',
      );
    });
    return this.#last;
  }

  async #fits(
    { severity_min: least }: ScheduleRow,
    { id, severity }: IncidentView,
    seen: SeenDevices,
  ): Promise<boolean> {
    const isSevere = severities.indexOf(severity) >= severities.indexOf(least ?? 'info');
    const { incidents } = this.#parts;
    return isSevere && incidents.available && (await incidents.get().get(id, seen)) !== undefined;
  }

  async #newestIncident(schedule: ScheduleRow, seen: SeenDevices): Promise<Occurrence | undefined> {
    const { incidents } = this.#parts;
    if (!incidents.available) {
      return undefined;
    }
    const since = this.#sinceOf(schedule);
    const status = ['open', 'acknowledged'] as const;
    const recent = (await incidents.get().list({ status, since, limit: 200 }, seen))
      .filter(
        ({ severity, fired_at: at }) =>
          Date.parse(at) >= since &&
          severities.indexOf(severity) >= severities.indexOf(schedule.severity_min ?? 'info'),
      )
      .map(ofIncident);
    return newestOf(recent);
  }

  async #newestDeploy(schedule: ScheduleRow, seen: SeenDevices): Promise<Occurrence | undefined> {
    const { changes, clock } = this.#parts;
    if (!changes.available) {
      return undefined;
    }
    const window = { start: this.#sinceOf(schedule), end: clock.now() + 1 };
    const recent = (await changes.get().near({ ...window, limit: 1_000 }, seen)).filter(
      (change) => change.kind === 'deploy' && isDeployFor(schedule, change, seen),
    );
    return newestOf(recent.map(ofChange));
  }

  async #newestOutage(schedule: ScheduleRow, seen: SeenDevices): Promise<Occurrence | undefined> {
    const { fleet } = this.#parts;
    if (!fleet.available) {
      return undefined;
    }
    const since = this.#sinceOf(schedule);
    const recent = fleet
      .get()
      .list()
      .flatMap(({ id, status, last_seen_at: at }) =>
        status === 'offline' && at !== null && at >= since ? [this.#outage(id, at, seen)] : [],
      );
    return newestOf(recent.filter((each) => each !== undefined));
  }

  #outage(edge: number, lastSeenAt: number, seen: SeenDevices): Occurrence | undefined {
    const { fleet } = this.#parts;
    const entry = fleet.available ? fleet.get().get(edge) : undefined;
    const isSeen =
      entry !== undefined &&
      (seen === undefined || (entry.device_id !== null && seen.ids.has(entry.device_id)));
    return isSeen ? ofEdge(entry, lastSeenAt) : undefined;
  }

  #sinceOf({ active_since: since }: ScheduleRow): number {
    return Math.max(since, this.#parts.clock.now() - catchUpMs);
  }
}

const newestOf = (all: readonly Occurrence[]): Occurrence | undefined =>
  all.toSorted((a, b) => b.at - a.at)[0];

const isDeployFor = (
  { service }: ScheduleRow,
  { service: deployed, device_id: device }: Change,
  seen: SeenDevices,
): boolean =>
  (service === null || service === deployed) &&
  (seen === undefined || (device !== undefined && seen.ids.has(Number(device))));
