import type { DeviceDirectory, DeviceEntry } from 'svc/contracts/device';
import type {
  Background,
  NoticeIncident,
  NoticeInstance,
  NoticeInstances,
  NoticeSource,
} from 'svc/contracts/notify';
import { type Clock, type Handle, type Logger, messageOf } from 'svc/sdk';

import type { Surroundings } from './briefing.ts';

/** Investigations, as far as their findings are waited for; the plugin may be missing. */
export interface Findings {
  newest(incidentId: number): Promise<{ readonly status: string } | undefined>;
}

/** Time within which an incident is taken for investigation, if it is automatically. */
const takenMs = 2_000;

export interface KnowledgeParts {
  readonly source: Handle<NoticeSource>;
  readonly devices: Handle<DeviceDirectory>;
  readonly findings: Handle<Findings>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Additional knowledge about incidents at the time of notification. What cannot be read is left out
 * of the message, which is never delayed by it.
 */
export class Knowledge {
  readonly #parts: KnowledgeParts;

  constructor(parts: KnowledgeParts) {
    this.#parts = parts;
  }

  async around(incident: NoticeIncident): Promise<Surroundings> {
    const [hosts, background] = await Promise.all([
      this.hosts([incident]),
      this.#background(incident.id),
    ]);
    return { now: this.#parts.clock.now(), host: hosts.get(incident.device_id ?? ''), background };
  }

  /** Returns the context of an incident as it is now; undefined if nothing can be read. */
  async aroundId(incident: number): Promise<Surroundings | undefined> {
    const background = await this.#background(incident);
    const hosts = background && (await this.hosts([background.incident]));
    return (
      background && {
        now: this.#parts.clock.now(),
        host: hosts?.get(background.incident.device_id ?? ''),
        background,
      }
    );
  }

  /** Undefined where they cannot be read. */
  async instances(
    incident: number,
    page: { readonly from: number; readonly limit: number },
  ): Promise<NoticeInstances | undefined> {
    const { source } = this.#parts;
    return source.available
      ? await this.#read('instances', () => source.get().instances(incident, page))
      : undefined;
  }

  /** Returns every instance that a message about the incident may name; empty if they cannot be read. */
  async audible(incident: number): Promise<readonly NoticeInstance[]> {
    const { source } = this.#parts;
    return source.available
      ? ((await this.#read('instances', () => source.get().audible(incident))) ?? [])
      : [];
  }

  /** Returns the devices of the incidents by id. */
  async hosts(incidents: readonly NoticeIncident[]): Promise<ReadonlyMap<string, DeviceEntry>> {
    const { devices } = this.#parts;
    const ids = [
      ...new Set(
        incidents.flatMap(({ device_id: id }) =>
          id === undefined || !/^\d{1,15}$/.test(id) ? [] : [Number(id)],
        ),
      ),
    ];
    const found =
      ids.length === 0 || !devices.available
        ? []
        : await this.#read('hosts', () => devices.get().many(ids));
    return new Map((found ?? []).map((host) => [String(host.id), host]));
  }

  /** Returns whether the cause of an incident that was accepted at a time is being investigated. */
  async isSought(incident: number, acceptedAt: number): Promise<boolean> {
    const { findings, clock } = this.#parts;
    if (!findings.available) {
      return false;
    }
    const newest = await this.#read(
      'investigation',
      async () => (await findings.get().newest(incident)) ?? { status: 'none' },
    );
    return (
      newest?.status === 'pending' ||
      newest?.status === 'running' ||
      (newest?.status === 'none' && clock.now() - acceptedAt < takenMs)
    );
  }

  async #background(incident: number): Promise<Background | undefined> {
    const { source } = this.#parts;
    return source.available
      ? await this.#read('background', () => source.get().background(incident))
      : undefined;
  }

  async #read<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#parts.log.warn(
        { event: 'notify.context_unread', what, cause: messageOf(error) },
        "failed to read an incident's context; sending the message without it",
      );
      return undefined;
    }
  }
}
