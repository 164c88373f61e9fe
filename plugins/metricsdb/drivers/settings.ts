import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Launch, LaunchSource } from 'svc/contracts/setting';
import { parseDuration } from 'svc/query';
import type { Settings, SettingsBoard } from 'svc/sdk';

import type { ThreadSettings } from '../thread/contract.ts';
import type { DriverName } from './driver.ts';
import { errors } from './errors.ts';

export interface RemoteSettings {
  readonly url: string;
  readonly token: string;
  readonly user: string;
  readonly password: string;
  readonly tenant: string;
  readonly tls: {
    readonly ca: string;
    readonly cert: string;
    readonly key: string;
    readonly insecure: boolean;
  };
}

export interface ProcessSettings {
  /** Path or name of the program; empty: whichever is found. */
  readonly binary: string;
  readonly retention: string;
  readonly maxBytes: number;
  readonly lookback: string;
  readonly maxSamples: number;
  readonly queryTimeout: string;
  readonly atOnce: number;
}

/** Options from POST /metricsdb/launch, which apply where no setting says otherwise. */
export interface Launched {
  readonly driver?: DriverName | undefined;
  readonly retention?: string | undefined;
}

const key = (name: string): string => `metricsdb.${name}`;

/** Every one of them changes what runs, at once. */
export const watchedKeys = [
  'driver',
  'url',
  'token',
  'user',
  'password',
  'tenant',
  'tls_ca',
  'tls_cert',
  'tls_key',
  'tls_insecure',
  'retention',
  'max_bytes',
  'max_series',
  'sender_share',
  'metric_share',
  'out_of_order',
  'max_samples',
  'max_points',
  'max_answer_bytes',
  'query_timeout',
  'query_cpu',
  'concurrency',
  'lookback',
  'delayed_name_removal',
  'process_binary',
].map(key);

/** Max size of a push; any other value in a body of ours is smaller. */
const maxPushBytes = 64 * 1_048_576;
const aheadMs = 10 * 60_000;

/** The settings of this plugin as they are in force. */
export class MetricsSettings {
  readonly #settings: Settings;
  readonly #board: SettingsBoard;
  launched: Launched = {};

  constructor(settings: Settings, board: SettingsBoard) {
    this.#settings = settings;
    this.#board = board;
  }

  get driver(): DriverName {
    const set = this.#get<DriverName | 'auto'>('driver');
    return set === 'auto'
      ? (this.launched.driver ?? (this.#get<string>('url') === '' ? 'embedded' : 'remote'))
      : set;
  }

  get retention(): string {
    return this.#isSet('retention')
      ? this.#get<string>('retention')
      : (this.launched.retention ?? this.#get<string>('retention'));
  }

  /** Overrides in force, for the list of settings. */
  get launches(): Readonly<Record<string, LaunchSource>> {
    const told = (value: unknown): Launch | undefined =>
      value === undefined ? undefined : { value, by: 'POST /api/v1/metricsdb/launch' };
    return {
      [key('driver')]: {
        over: ({ value }) => (value === 'auto' ? told(this.launched.driver) : undefined),
      },
      [key('retention')]: {
        over: ({ source }) => (source === 'default' ? told(this.launched.retention) : undefined),
      },
    };
  }

  /** Throws if a setting differs from what is to be launched, which would then have no effect. */
  assertOpenTo({ driver, retention }: Launched): void {
    const set = this.#get<string>('driver');
    if (driver !== undefined && set !== 'auto' && set !== driver) {
      throw errors.driver_is_set({ set });
    }
    if (
      retention !== undefined &&
      this.#isSet('retention') &&
      this.#get<string>('retention') !== retention
    ) {
      throw errors.retention_is_set({ value: this.#get<string>('retention') });
    }
  }

  /** Settings of the thread; it keeps samples only for the embedded driver. */
  thread(driver: DriverName): ThreadSettings {
    return {
      store:
        driver === 'embedded'
          ? {
              maxSeries: this.#get('max_series'),
              senderShare: this.#get('sender_share'),
              metricShare: this.#get('metric_share'),
              outOfOrderMs: this.#ms('out_of_order'),
              maxAgeMs: parseDuration(this.retention),
              maxBytes: this.#get('max_bytes'),
              aheadMs,
              maxPushBytes,
            }
          : undefined,
      query: {
        timeoutMs: this.#ms('query_timeout'),
        cpuMs: this.#ms('query_cpu'),
        maxSamples: this.#get('max_samples'),
        maxPoints: this.#get('max_points'),
        maxAnswerBytes: this.#get('max_answer_bytes'),
        atOnce: this.#get('concurrency'),
        lookbackMs: this.#ms('lookback'),
        delayedNameRemoval: this.#get('delayed_name_removal'),
      },
      push: { maxPushBytes, aheadMs },
    };
  }

  remote(): RemoteSettings {
    return {
      url: this.#get<string>('url').replace(/\/+$/, ''),
      token: this.#get('token'),
      user: this.#get('user'),
      password: this.#get('password'),
      tenant: this.#get('tenant'),
      tls: {
        ca: this.#get('tls_ca'),
        cert: this.#get('tls_cert'),
        key: this.#get('tls_key'),
        insecure: this.#get('tls_insecure'),
      },
    };
  }

  process(): ProcessSettings {
    return {
      binary: this.#get('process_binary'),
      retention: this.retention,
      maxBytes: this.#get('max_bytes'),
      lookback: this.#get('lookback'),
      maxSamples: this.#get('max_samples'),
      queryTimeout: this.#get('query_timeout'),
      atOnce: this.#get('concurrency'),
    };
  }

  #get<T>(name: string): T {
    return this.#settings.get<T>(key(name));
  }

  #ms(name: string): number {
    return parseDuration(this.#get<string>(name));
  }

  #isSet(name: string): boolean {
    return this.#board.state(key(name)).source !== 'default';
  }
}

/** File that keeps the last launch across restarts. */
export class LaunchedFile {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, 'launched.json');
  }

  /** Reads the file; empty if it is missing or invalid. */
  read(): Launched {
    try {
      const { driver, retention } = JSON.parse(readFileSync(this.#path, 'utf8')) as Record<
        string,
        unknown
      >;
      return {
        ...((driver === 'embedded' || driver === 'process' || driver === 'remote') && { driver }),
        ...(typeof retention === 'string' &&
          /^[1-9]\d{0,3}[ywdh]$/.test(retention) && { retention }),
      };
    } catch {
      // Nothing was ever launched, or the file was damaged: the settings alone count then.
      return {};
    }
  }

  write(launched: Launched): void {
    const draft = `${this.#path}.new`;
    writeFileSync(draft, JSON.stringify(launched), { mode: 0o600 });
    renameSync(draft, this.#path);
  }
}
