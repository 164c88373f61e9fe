import type { LocalPolicy, Shipping } from 'svc/contracts/edge-uplink';
import { type Glob, matchesPath, parseGlob } from 'svc/probe';
import type { Clock, HealthReport, Logger } from 'svc/sdk';

import { loadCheckpoint } from './checkpoint.ts';
import { Discovery } from './files/discovery.ts';
import { Tails } from './files/tails.ts';
import { type JournalOptions, JournalQueue } from './journal/journal-queue.ts';
import type { Group } from './lines/group.ts';
import { LineTimes } from './lines/line-times.ts';
import type { LogSpec } from './lines/spec.ts';
import { Pump } from './pump.ts';

export interface LogsOptions {
  readonly spec: LogSpec;
  readonly groups: readonly Group[];
  readonly policy: LocalPolicy;
  readonly shipping: Shipping;
  /** Returns whether the manager hears what this machine reports. */
  readonly isHeard: () => boolean;
  /** Folder of the checkpoint. */
  readonly folder: string;
  readonly from: string;
  readonly host: string;
  /**
   * Start time. On a host that was not read before, files made later are read from their beginning.
   */
  readonly startedAt: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shipped: (lines: number) => void;
}

const systemJournal = '/var/log/journal';

/** The log files and the journal of this machine, read and shipped from where the last process has stopped. */
export class Logs {
  readonly #pump: Pump;
  readonly #tails: Tails;
  readonly #discovery: Discovery;
  /** Queue of journal entries; undefined if the journal is not wanted or not allowed. */
  readonly journal: JournalQueue | undefined;

  private constructor(
    pump: Pump,
    tails: Tails,
    discovery: Discovery,
    journal: JournalQueue | undefined,
  ) {
    this.#pump = pump;
    this.#tails = tails;
    this.#discovery = discovery;
    this.journal = journal;
  }

  static async open({
    spec,
    groups,
    policy,
    shipping,
    isHeard,
    folder,
    from,
    host,
    startedAt,
    clock,
    log,
    shipped,
  }: LogsOptions): Promise<Logs> {
    const loaded = await loadCheckpoint(folder);
    const broken = typeof loaded === 'string' ? spec.on_broken_checkpoint : undefined;
    const kept = typeof loaded === 'string' ? undefined : loaded;
    if (typeof loaded === 'string') {
      log.error(
        { event: 'edge-logs.checkpoint_broken', cause: loaded, from: spec.on_broken_checkpoint },
        'checkpoint is unusable; reading files as set in "on_broken_checkpoint"',
      );
    }
    const since = kept?.checkpoint.since ?? startedAt;
    const monotonic = (): number => clock.monotonic();
    const times = {
      files: new LineTimes(() => clock.now(), kept?.checkpoint.times.files),
      journal: new LineTimes(() => clock.now(), kept?.checkpoint.times.journal),
    };
    const allowed = new AllowedLogs(policy);
    const allows = (path: string): boolean => allowed.has(path);
    const tails = new Tails({
      times: times.files,
      maxBytes: spec.max_line_bytes,
      bytesPerSecond: spec.rate_limit_bytes,
      maxFiles: spec.max_files,
      scratch: folder,
      monotonic,
      log,
      allows,
      isOwn: (path) => allows(path) && groups.some((group) => group.holds(path)),
      isHeard,
      lost: kept?.checkpoint.lost ?? [],
    });
    const discovery = new Discovery({
      tails,
      groups,
      allows,
      maxFiles: spec.max_files,
      since,
      broken,
    });
    await discovery.resume(kept?.checkpoint.places ?? []);

    const journal = journalOf(spec, {
      allows,
      host,
      times: times.journal,
      cursor: kept?.checkpoint.cursor,
      since: broken === 'beginning' ? undefined : since,
    });
    const pump = new Pump(
      {
        folder,
        from,
        shipping,
        tails,
        discovery,
        journal,
        times,
        since,
        rescanMs: spec.rescan_seconds * 1_000,
        monotonic,
        log,
        shipped,
      },
      kept,
    );
    return new Logs(pump, tails, discovery, journal);
  }

  get behind(): number {
    return this.#tails.behind;
  }

  /** Reads and ships what there is. */
  tick(signal: AbortSignal): Promise<void> {
    return this.#pump.tick(signal);
  }

  /** `journal` is why there is no journal at the moment. */
  health(journal?: string): HealthReport {
    const { trouble } = this.#pump;
    const { unreadable, lost } = this.#tails;
    const detail = [
      trouble,
      this.#discovery.trouble,
      unreadable.sentence,
      lost.sentence,
      journal === undefined ? undefined : `the journal is not read: journalctl ${journal}`,
    ]
      .filter((one) => one !== undefined)
      .join('; ');
    return { ok: trouble === undefined, ...(detail !== '' && { degraded: true, detail }) };
  }

  async close(): Promise<void> {
    await this.#pump.settle();
    await this.#tails.close();
  }
}

/** The queue of the journal; undefined where that is not wanted or not allowed. */
function journalOf(
  { journal, max_line_bytes: maxBytes }: LogSpec,
  {
    allows,
    ...options
  }: Omit<JournalOptions, 'spec' | 'maxBytes'> & {
    readonly allows: (path: string) => boolean;
  },
): JournalQueue | undefined {
  const { enabled, directory } = journal;
  return enabled && allows(directory === '' ? systemJournal : directory)
    ? new JournalQueue({ ...options, spec: journal, maxBytes })
    : undefined;
}

/** Current policy for logs; its globs are compiled again only if they have changed. */
class AllowedLogs {
  readonly #policy: LocalPolicy;
  #paths: readonly string[] = [];
  #globs: readonly Glob[] = [];

  constructor(policy: LocalPolicy) {
    this.#policy = policy;
  }

  has(path: string): boolean {
    const { paths } = this.#policy.current().logs;
    if (paths !== this.#paths) {
      this.#globs = paths.flatMap(parseGlob);
      this.#paths = paths;
    }
    return this.#globs.some((glob) => matchesPath(glob, path));
  }
}
