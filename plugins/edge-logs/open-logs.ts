import { type Glob, matchesPath, parseGlob } from 'svc/probe';
import type { Clock, HealthReport, Logger } from 'svc/sdk';

import type { LocalPolicy, Shipping } from '../edge-uplink/contract.ts';
import { loadCheckpoint } from './checkpoint.ts';
import { Discovery } from './discovery.ts';
import type { Group } from './group.ts';
import { JournalQueue } from './journal-queue.ts';
import { LineTimes } from './line-times.ts';
import { Pump } from './pump.ts';
import type { LogSpec } from './spec.ts';
import { Tails } from './tails.ts';

export interface LogsOptions {
  readonly spec: LogSpec;
  readonly groups: readonly Group[];
  readonly policy: LocalPolicy;
  readonly shipping: Shipping;
  /** For the checkpoint. */
  readonly folder: string;
  readonly from: string;
  readonly host: string;
  /** On a machine that was not read before, what was made later is read from its beginning. */
  readonly startedAt: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shipped: (lines: number) => void;
}

export interface Logs {
  /** What feeds on the journal; undefined when that is not wanted or not allowed. */
  readonly journal: JournalQueue | undefined;
  readonly behind: number;
  /** Reads and ships what there is. */
  tick(signal: AbortSignal): Promise<void>;
  /** `journal` is why there is no journal at the moment. */
  health(journal?: string): HealthReport;
  close(): Promise<void>;
}

const systemJournal = '/var/log/journal';

/** Takes up where the last process of this machine has stopped. */
export async function openLogs({ spec, groups, policy, shipping, folder, from, host, startedAt, clock, log, shipped }: LogsOptions): Promise<Logs> {
  const loaded = await loadCheckpoint(folder);
  const broken = typeof loaded === 'string' ? spec.on_broken_checkpoint : undefined;
  const kept = typeof loaded === 'string' ? undefined : loaded;
  if (typeof loaded === 'string') {
    log.error({ from: spec.on_broken_checkpoint }, `${loaded}; files are read from: ${spec.on_broken_checkpoint}`);
  }
  const since = kept?.checkpoint.since ?? startedAt;
  const monotonic = (): number => clock.monotonic();
  const times = {
    files: new LineTimes(() => clock.now(), kept?.checkpoint.times.files),
    journal: new LineTimes(() => clock.now(), kept?.checkpoint.times.journal),
  };

  const allows = allowedBy(policy);
  const tails = new Tails({
    times: times.files,
    mostBytes: spec.max_line_bytes,
    bytesPerSecond: spec.rate_limit_bytes,
    mostFiles: spec.max_files,
    monotonic,
    log,
    allows,
  });
  const discovery = new Discovery({ tails, groups, allows, mostFiles: spec.max_files, since, broken });
  await discovery.resume(kept?.checkpoint.places ?? []);

  const isJournalAllowed = allows(spec.journal.directory === '' ? systemJournal : spec.journal.directory);
  const journal = !(spec.journal.enabled && isJournalAllowed)
    ? undefined
    : new JournalQueue({
        spec: spec.journal,
        host,
        times: times.journal,
        mostBytes: spec.max_line_bytes,
        cursor: kept?.checkpoint.cursor,
        since: broken === 'beginning' ? undefined : since,
      });
  const rescanMs = spec.rescan_seconds * 1_000;
  const pump = new Pump({ folder, from, shipping, tails, discovery, journal, times, since, rescanMs, monotonic, log, shipped }, kept);

  return {
    journal,
    get behind() {
      return tails.behind;
    },
    tick: (signal) => pump.tick(signal),
    health(cause) {
      const detail = [
        pump.trouble,
        discovery.trouble,
        tails.unreadable.sentence,
        cause === undefined ? undefined : `the journal is not read: journalctl ${cause}`,
      ]
        .filter((one) => one !== undefined)
        .join('; ');
      return { ok: pump.trouble === undefined, ...(detail !== '' && { detail }) };
    },
    async close() {
      await pump.settle();
      await tails.close();
    },
  };
}

/** What the policy says at each call; its globs are read anew only when they have changed. */
function allowedBy(policy: LocalPolicy): (path: string) => boolean {
  let known: readonly string[] = [];
  let globs: readonly Glob[] = [];
  return (path) => {
    const { paths } = policy.current().logs;
    if (paths !== known) {
      globs = paths.flatMap(parseGlob);
      known = paths;
    }
    return globs.some((glob) => matchesPath(glob, path));
  };
}
