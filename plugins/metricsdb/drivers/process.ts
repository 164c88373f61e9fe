import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { ForeignPrograms, ProgramHandle, ProgramOwner } from 'svc/contracts/programs';
import { parseDuration } from 'svc/query';
import type { HealthReport } from 'svc/sdk';

import type { DriverState } from './driver.ts';
import { errors } from './errors.ts';
import { RemoteDriver, type RemoteParts } from './remote.ts';
import type { ProcessSettings, RemoteSettings } from './settings.ts';

export interface ProcessParts extends RemoteParts {
  /** Undefined while the plugin programs is away. */
  readonly programs: ForeignPrograms | undefined;
  readonly owner: ProgramOwner;
}

type Kind = 'prometheus' | 'victoria-metrics';

const readyMs = 30_000;
const stopMs = 10_000;
const searched: readonly string[] = ['prometheus', 'victoria-metrics', 'victoria-metrics-prod'];

/** Runs a server of the Prometheus API on the loopback, and then asks it like any other. */
export class ProcessDriver extends RemoteDriver {
  readonly #program: ProgramHandle | undefined;

  constructor(parts: ProcessParts, settings: ProcessSettings) {
    const { programs } = parts;
    const program = programs && launch({ ...parts, programs }, settings);
    super(parts, {
      name: 'process',
      settings: unprotected,
      reach: 'loopback',
      async base(signal) {
        await assertRunnable(program, parts, settings).ready(readyMs, signal);
        return addressOf(program);
      },
    });
    this.#program = program;
  }

  override health(): HealthReport {
    const status = statusOf(this.#program);
    const cause = this.#program?.cause;
    return {
      ok: status !== 'failed',
      detail: cause === undefined ? `process, ${status}` : `process, ${status}: it ${cause}`,
    };
  }

  override state(): DriverState {
    const program = this.#program;
    return {
      status: statusOf(program),
      url: addressOf(program),
      pid: program?.pid ?? null,
      startedAt: program?.startedAt ?? null,
    };
  }

  override async close(): Promise<void> {
    await this.#program?.stop();
  }
}

function assertRunnable(
  program: ProgramHandle | undefined,
  { programs }: ProcessParts,
  { binary }: ProcessSettings,
): ProgramHandle {
  if (programs === undefined) {
    throw errors.no_programs();
  }
  if (program === undefined) {
    const wanted =
      binary === ''
        ? 'neither prometheus nor victoria-metrics is'
        : `"${binary}", the metricsdb.process_binary, is not`;
    throw errors.no_program({ wanted });
  }
  return program;
}

const addressOf = (program: ProgramHandle | undefined): string =>
  program?.port === undefined ? '' : `http://127.0.0.1:${program.port}`;

const unprotected: RemoteSettings = {
  url: '',
  token: '',
  user: '',
  password: '',
  tenant: '',
  tls: { ca: '', cert: '', key: '', insecure: false },
};

function statusOf(program: ProgramHandle | undefined): DriverState['status'] {
  return program === undefined || program.state === 'stopped' || program.state === 'backing-off'
    ? 'failed'
    : program.state === 'running'
      ? 'running'
      : 'starting';
}

type Launching = Pick<ProcessParts, 'owner' | 'fetch'> & { readonly programs: ForeignPrograms };

/** Undefined when this machine has no such program. */
function launch(
  { programs, owner, fetch }: Launching,
  settings: ProcessSettings,
): ProgramHandle | undefined {
  const names = settings.binary === '' ? searched : [settings.binary];
  const file = names.map((name) => programs.find(name)).find((found) => found !== undefined);
  if (file === undefined) {
    return undefined;
  }
  const kind: Kind = basename(file).startsWith('victoria') ? 'victoria-metrics' : 'prometheus';
  const data = join(owner.dataDir, kind);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const args =
    kind === 'prometheus' ? prometheusArgs(data, settings) : victoriaArgs(data, settings);
  const page = kind === 'prometheus' ? '/-/ready' : '/health';
  return programs.start(owner, kind, file, {
    args,
    stopMs,
    async ready({ port }, signal) {
      const { status } = await fetch(`http://127.0.0.1:${port}${page}`, {
        reach: 'loopback',
        timeoutMs: 2_000,
        signal,
      });
      return status === 200;
    },
  });
}

type Arguments = (given: { readonly port: number }) => readonly string[];

function prometheusArgs(
  data: string,
  { retention, maxBytes, lookback, maxSamples, queryTimeout, atOnce }: ProcessSettings,
): Arguments {
  const config = join(data, 'prometheus.yml');
  // It scrapes nothing: its samples come from here.
  writeFileSync(config, 'global: {}\n', { mode: 0o600 });
  return ({ port }) => [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(data, 'data')}`,
    `--storage.tsdb.retention.time=${retention}`,
    `--storage.tsdb.retention.size=${maxBytes}B`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-remote-write-receiver',
    `--query.lookback-delta=${lookback}`,
    `--query.max-samples=${maxSamples}`,
    `--query.timeout=${queryTimeout}`,
    `--query.max-concurrency=${atOnce}`,
    '--log.level=warn',
  ];
}

function victoriaArgs(
  data: string,
  { retention, lookback, maxSamples, queryTimeout, atOnce }: ProcessSettings,
): Arguments {
  // It counts in hours at the finest, and refuses to keep less than a day.
  const hours = Math.max(24, Math.ceil(parseDuration(retention) / 3_600_000));
  return ({ port }) => [
    `-storageDataPath=${join(data, 'data')}`,
    `-retentionPeriod=${hours}h`,
    `-httpListenAddr=127.0.0.1:${port}`,
    `-search.maxLookback=${lookback}`,
    `-search.maxSamplesPerQuery=${maxSamples}`,
    `-search.maxQueryDuration=${queryTimeout}`,
    `-search.maxConcurrentRequests=${atOnce}`,
    '-search.latencyOffset=0s',
    '-loggerLevel=WARN',
  ];
}
