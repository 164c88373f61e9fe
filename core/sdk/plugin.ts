import type { Secrets, Tables } from './database.ts';
import type { ErrorCatalogue } from './error-catalogue.ts';
import type { HealthReport, Logger, Metrics } from './observe.ts';
import type { OutboundReply, OutboundRequest } from './outbound.ts';
import type { Persona } from './persona.ts';
import type { RouteDeclaration } from './route.ts';
import type { Disposer, MaybePromise, Scope } from './scope.ts';
import type { Skill } from './skill.ts';
import type { Clock, Ids } from './time.ts';
import type { EventType, ExtensionPoint, PackChecks, ServiceToken } from './tokens.ts';

/** An optional service: ask whether it is there, then use it. */
export interface Handle<T> {
  readonly available: boolean;
  /** Returns the current provider; throws unavailable if there is none. */
  get(): T;
  onChange(listener: (state: 'up' | 'down') => void): Disposer;
}

export interface Contribution<T> {
  readonly id: string;
  readonly pluginId: string;
  readonly value: T;
}

export interface OpenPoint<T> {
  list(): readonly Contribution<T>[];
  /**
   * Asks every contribution; one that throws is left out, and the error counts against the plugin
   * that contributed it.
   */
  gather<R>(ask: (contribution: Contribution<T>) => R): readonly R[];
  /** Asks every contribution at once, leaving out those that throw or reject. */
  gatherAsync<R>(ask: (contribution: Contribution<T>) => R): Promise<readonly Awaited<R>[]>;
  onChange(
    listener: (delta: {
      added: readonly Contribution<T>[];
      removed: readonly Contribution<T>[];
    }) => void,
  ): Disposer;
}

export interface Settings {
  /** The effective value: environment, then database, then file, then the declared default. */
  get<T = unknown>(key: string): T;
  /** Runs on every change of the effective value while the plugin serves. */
  watch<T = unknown>(key: string, listener: (value: T) => MaybePromise<void>): Disposer;
}

export interface ThreadCall {
  /** Default 30 s. */
  readonly timeoutMs?: number;
  /** Aborting it aborts the signal that the method in the thread was given. */
  readonly signal?: AbortSignal;
  /** Buffers that move instead of being copied; the caller cannot use them any more. */
  readonly transfer?: readonly ArrayBuffer[];
}

export interface ThreadNotice {
  readonly kind: string;
  readonly value: unknown;
}

/** A thread of a plugin, supervised: started at commit, one of its name at a time, restarted with back-off, ended with the scope. */
export interface ThreadHandle {
  readonly state: 'waiting' | 'starting' | 'running' | 'backing-off' | 'stopped';
  /** Input and result are structured clones. While no thread runs the call waits, no longer than its deadline. */
  call<R>(method: string, input?: unknown, options?: ThreadCall): Promise<R>;
  /** One-way messages of the thread, in order. */
  onNotice(listener: (notice: ThreadNotice) => void): Disposer;
}

export interface ThreadOptions {
  /** JavaScript heap beyond which the thread ends; buffers do not count. Default 512. */
  readonly heapMb?: number;
  /**
   * Idle time after which it ends, to start again with the next call; what it keeps must be on
   * disk. Default: it starts at commit and stays.
   */
  readonly idleMs?: number;
}

/** Personas and skills of one moment; names and keys are unique within a set. */
export interface LiveEntries {
  readonly personas?: readonly Persona[];
  readonly skills?: readonly Skill[];
}

/** A set of personas and skills that changes while the plugin serves, and comes and leaves with it. */
export interface LiveSet {
  /**
   * Puts the whole set in place of the one before, in one step: at commit when that is still to come, else at once.
   * When others hold some of its names it throws a conflict whose details point at those (`/personas/<name>`,
   * `/skills/<key>`), and nothing changes. A reload shows no gap to a set that activate() has filled.
   */
  replace(entries: LiveEntries): void;
  /** Called when a name that the last set could not get is free. */
  onFree(listener: () => void): Disposer;
}

/** The only way a plugin touches the world: every effect made here belongs to its scope and leaves with it. */
export interface PluginContext {
  readonly id: string;
  readonly generation: number;
  /** Created on first use, kept over upgrades. */
  readonly dataDir: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly scope: Scope;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly metrics: Metrics;
  db<T>(): Tables<T>;
  readonly http: {
    routes(declarations: readonly RouteDeclaration[]): void;
  };
  /** A request to an address that a user typed: checked when it connects, bounded, ended with the scope. */
  fetch(url: string, request?: OutboundRequest): Promise<OutboundReply>;
  readonly services: {
    /** Makes this plugin the provider of `token` from commit on. The manifest must offer it. */
    provide<T extends object>(token: ServiceToken<T>, make: () => MaybePromise<T>): void;
    /**
     * Returns a handle for a required service, which finds its provider at each call, so a reload
     * of it goes unnoticed.
     */
    use<T extends object>(token: ServiceToken<T>): T;
    /** An optional service. */
    maybe<T extends object>(token: ServiceToken<T>): Handle<T>;
  };
  readonly events: {
    /** Facts, after the fact: delivered later, one at a time, in order, on this plugin's account. */
    on<T>(type: EventType<T>, listener: (event: T) => MaybePromise<void>): void;
    emit<T>(type: EventType<T>, event: T): void;
  };
  readonly extend: {
    contribute<T>(point: ExtensionPoint<T>, id: string, value: T): void;
    /** `checks`: of what packs contribute, where that takes code of the owner. */
    open<T>(point: ExtensionPoint<T>, checks?: PackChecks): OpenPoint<T>;
    /** Opens a set of personas and skills that is replaced while the plugin serves. */
    live(label: string): LiveSet;
  };
  readonly threads: {
    /** Declares a thread that runs `entry`, a `*-worker.ts` of the plugin's folder; it starts at commit and is given `data`. */
    start(name: string, entry: string, data: unknown, options?: ThreadOptions): ThreadHandle;
    /** The text of such a file with all that it imports but node's own modules, for a plugin that runs it elsewhere than in a thread. */
    text(entry: string): string;
  };
  readonly skills: { add(skill: Skill): void };
  readonly health: { check(label: string, probe: () => MaybePromise<HealthReport>): void };
}

export interface PluginDefinition<Made = void> {
  /** Errors that it throws: its own catalogue, and those of the libraries that it is bundled with. */
  readonly errors?: ErrorCatalogue | readonly ErrorCatalogue[];
  /**
   * Declares contributions; nothing is visible before commit, and throwing publishes nothing. Its
   * result is passed to the other hooks.
   */
  activate(ctx: PluginContext): MaybePromise<Made>;
  /** May veto the commit by throwing, while the old generation still serves. */
  selfTest?(ctx: PluginContext, made: Made): MaybePromise<void>;
  /** Background work, after commit. Throwing brings the previous generation back. */
  start?(ctx: PluginContext, made: Made): MaybePromise<void>;
}

export const definePlugin = <Made = void>(
  definition: PluginDefinition<Made>,
): PluginDefinition<Made> => definition;
