import type { Outage } from '../registry/index.ts';
import type { Clock, SvcError } from '../sdk/index.ts';
import { discover } from './folder/discover.ts';
import { errors } from './errors.ts';
import type { PluginFolder } from './folder/folder.ts';
import type { HostPorts, QuarantineEntry } from './context/ports.ts';
import type { Quarantine } from './quarantine.ts';
import { PluginRecord } from './record.ts';

/** Every plugin the host knows of, whether it serves or not. */
export class Roster {
  readonly #ports: HostPorts;
  readonly #quarantine: Quarantine;
  readonly #records = new Map<string, PluginRecord>();
  readonly #told = new Set<string>();

  constructor(ports: HostPorts, quarantine: Quarantine) {
    this.#ports = ports;
    this.#quarantine = quarantine;
  }

  get all(): ReadonlyMap<string, PluginRecord> {
    return this.#records;
  }

  require(id: string): PluginRecord {
    const record = this.#records.get(id);
    if (!record) {
      throw errors.no_plugin({ id });
    }
    return record;
  }

  /** Looks at the folders again: new ones get a record, and those whose folder is gone are returned. */
  lookAround(): readonly PluginRecord[] {
    const found = discover(this.#ports.sources, (first, second) => this.#tell(first, second));
    for (const [id, folder] of found) {
      const record = this.#records.get(id);
      if (!record) {
        this.#records.set(id, new PluginRecord(folder, this.#ports.clock));
      } else if (record.folder.path !== folder.path) {
        record.folder = folder;
        record.stale = true;
      }
    }
    const gone = [...this.#records.values()].filter(({ id }) => !found.has(id));
    gone.forEach(({ id }) => this.#records.delete(id));
    return gone;
  }

  /** Returns those that need a new generation and may have one, in a fixed order. */
  waiting(): readonly PluginRecord[] {
    const wanting = [...this.#records.values()].filter(
      (record) => this.#mayServe(record) && record.stale,
    );
    return wanting.sort(
      (a, b) =>
        Number(b.manifest?.early === true) - Number(a.manifest?.early === true) ||
        (a.id < b.id ? -1 : 1),
    );
  }

  /** Returns the plugin that ships with svc and contributes this by its manifest, running or not. */
  keeperOf(point: string, id: string): string | undefined {
    return [...this.#records.values()].find(
      ({ folder, manifest }) =>
        folder.origin !== 'data' &&
        manifest?.kind !== 'pack' &&
        Object.hasOwn(manifest?.contributes[point] ?? {}, id),
    )?.id;
  }

  /** Returns what callers of unavailable plugins are told. */
  outages(except?: string): readonly Outage[] {
    return [...this.#records.values()]
      .filter((record) => !record.serving && record.id !== except)
      .flatMap((record) => outagesOf(record, this.#quarantine.of(record.id), this.#ports.clock));
  }

  /**
   * Reports a duplicate, once: it stays until somebody removes it. A new version of svc may bring a
   * plugin of that name, which is no reason not to start.
   */
  #tell(first: PluginFolder, second: PluginFolder): void {
    if (!this.#told.has(second.path)) {
      this.#told.add(second.path);
      const sentence = `two plugins have the id "${first.id}": ${first.path} is active, ${second.path} is not; rename or remove one of them`;
      this.#ports.log('host').error({ event: 'host.duplicate_plugin', id: first.id }, sentence);
    }
  }

  #mayServe(record: PluginRecord): boolean {
    const here = record.manifest?.runs_on.includes(this.#ports.runsOn) === true;
    const readable = record.state !== 'invalid' || record.stale;
    return (
      here &&
      readable &&
      !this.#ports.memory.disabled().has(record.id) &&
      !this.#quarantine.holds(record.id)
    );
  }
}

const usualRetrySeconds = 5;

/** The mounts of a plugin that does not serve, with the sentence that its callers get. */
function outagesOf(
  record: PluginRecord,
  quarantine: QuarantineEntry | undefined,
  clock: Clock,
): readonly Outage[] {
  const retryAt = quarantine?.retryAt ?? record.retryAt;
  const seconds =
    retryAt === undefined
      ? usualRetrySeconds
      : Math.max(1, Math.ceil((retryAt - clock.now()) / 1000));
  const error = outageError(record, seconds);
  return (record.manifest?.mounts ?? []).map((mount) => ({ pluginId: record.id, mount, error }));
}

/** Causes may hold internals of the plugin; callers get them only where the host wrote them. */
function outageError(
  { state, cause = 'waits for a service', manifest, id, retryAt }: PluginRecord,
  retryAfterSeconds: number,
): () => SvcError {
  const plugin = manifest?.title ?? id;
  const extras = { retryAfterSeconds };
  switch (state) {
    case 'blocked':
      return () => errors.plugin_blocked({ plugin, cause }, extras);
    case 'waiting':
      return () => errors.plugin_waiting({ plugin }, extras);
    case 'disabled':
      return () => errors.plugin_off({ plugin }, extras);
    case 'quarantined':
      return () => errors.plugin_quarantined({ plugin }, extras);
    // Active, and still without a generation: it is being raised.
    case 'active':
    case 'discovered':
    case 'loading':
      return () => errors.plugin_starting({ plugin }, extras);
    default:
      return () =>
        errors[retryAt === undefined ? 'plugin_failed' : 'plugin_retried']({ plugin }, extras);
  }
}
