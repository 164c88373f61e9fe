import type { Draft, Generation } from '../registry/index.ts';
import { type Clock, messageOf, type PluginManifest } from '../sdk/index.ts';
import type { PluginFolder } from './folder/folder.ts';

export const pluginStates = [
  'discovered',
  'invalid',
  'disabled',
  'blocked',
  'waiting',
  'loading',
  'active',
  'failed',
  'quarantined',
  'unload-failed',
] as const;

export type PluginState = (typeof pluginStates)[number];

/** The pipeline's verbs, in order; a failure names the one it happened in. */
export type Stage =
  | 'discover'
  | 'manifest'
  | 'integrity'
  | 'compile'
  | 'evaluate'
  | 'migrate'
  | 'activate'
  | 'self-test'
  | 'commit'
  | 'start'
  | 'retire';

export interface Attempt {
  readonly at: number;
  readonly generation: number;
  readonly ok: boolean;
  readonly stage: Stage | undefined;
  readonly cause: string | undefined;
  /** True if it failed for something that may pass: a full disk, a file that could not be opened, a service that did not answer. */
  readonly passing?: boolean;
  /** Milliseconds spent in each stage. */
  readonly timings: Readonly<Partial<Record<Stage, number>>>;
}

interface Strike {
  readonly at: number;
  readonly label: string;
  readonly cause: string;
}

const keptStrikes = 20;
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** State of one plugin as the host knows it, since when, and why. */
export class PluginRecord {
  readonly id: string;
  readonly #clock: Clock;
  folder: PluginFolder;
  manifest: PluginManifest | undefined;
  state: PluginState = 'discovered';
  /** Stage of the failure. */
  stage: Stage | undefined;
  cause: string | undefined;
  since: number;
  /** Draft served by the current snapshot. */
  draft: Draft | undefined;
  lastAttempt: Attempt | undefined;
  /** When it is tried again, if what it failed for may pass. */
  retryAt: number | undefined;
  #passing = 0;
  generations = 0;
  /** Wants a new generation: its files changed, or somebody asked. Taken back when an attempt begins, so that a wish that comes during it stays. */
  stale = true;
  inputs: ReadonlySet<string> = new Set();
  strikes: readonly Strike[] = [];
  /** Numbers of generations that finish their work. */
  readonly draining = new Set<number>();
  /** Generation of the pack loader at the last attempt; only for a pack with code. */
  loader: string | undefined;
  /** Leak of an earlier generation; only a restart frees it. */
  residue: string | undefined;

  constructor(folder: PluginFolder, clock: Clock) {
    this.id = folder.id;
    this.folder = folder;
    this.#clock = clock;
    this.since = clock.now();
  }

  get serving(): Generation | undefined {
    return this.draft?.generation;
  }

  enter(state: PluginState, cause?: string, stage?: Stage): void {
    if (this.state !== state || this.cause !== cause) {
      this.since = this.#clock.now();
    }
    this.state = state;
    this.cause = cause;
    this.stage = stage;
  }

  /** A failed generation never takes down the one that serves: the state stays, the attempt tells. */
  attempted(attempt: Attempt): void {
    this.lastAttempt = attempt;
    const isRetried = attempt.passing === true && !this.draft;
    this.retryAt = isRetried
      ? this.#clock.now() + Math.min(firstRetryMs * 2 ** this.#passing, longestRetryMs)
      : undefined;
    this.#passing = isRetried ? this.#passing + 1 : 0;
    if (this.draft) {
      this.enter('active');
    } else {
      this.enter(attempt.stage === 'manifest' ? 'invalid' : 'failed', attempt.cause, attempt.stage);
    }
  }

  strike(label: string, error: unknown): void {
    this.strikes = [
      ...this.strikes,
      { at: this.#clock.now(), label, cause: messageOf(error) },
    ].slice(-keptStrikes);
  }

  /** Returns whether a changed path belongs to the plugin, or is a folder that contains it. */
  concerns(path: string): boolean {
    const own = this.folder.path;
    return (
      this.inputs.has(path) ||
      path === own ||
      path.startsWith(`${own}/`) ||
      own.startsWith(`${path}/`)
    );
  }
}
