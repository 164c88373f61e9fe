import type { DependencyContainer } from 'tsyringe';

import type { Registry } from '../../registry/index.ts';
import type {
  Clock,
  Disposer,
  Ids,
  Logger,
  Metrics,
  OutboundReply,
  OutboundRequest,
  PluginManifest,
  RouteDeclaration,
  Secrets,
  Settings,
  Tables,
  ThreadHandle,
} from '../../sdk/index.ts';
import type { Bundler } from '../code/compile.ts';
import type { PluginSources } from '../folder/discover.ts';
import type { ReadManifest } from '../folder/read-manifest.ts';
import type { Schemas } from '../folder/schemas.ts';
import type { SharedModules } from '../code/shared.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Ties what a port does for one generation to that generation's scope. */
export type Own = (label: string, undo: Disposer) => Disposer;

/** A thread of one generation as the host sees it. */
export interface PluginThread extends ThreadHandle {
  /** Why it ended last, as long as it has not opened again. */
  readonly cause: string | undefined;
  /**
   * Resolves when it has opened for the first time; rejects with the reason if it ended instead.
   */
  readonly ready: Promise<void>;
  /** The generation serves: the thread starts, after the one of its name in the generation before has closed. */
  begin(): void;
  /** Resolves once no thread of this generation is left. */
  release(): Promise<void>;
}

interface ThreadLaunch {
  readonly manifest: PluginManifest;
  readonly name: string;
  readonly code: string;
  readonly filename: string;
  readonly data: unknown;
  readonly heapMb: number;
  readonly idleMs: number | undefined;
  /** The thread ended and is started again; `cause` counts as an error of the plugin. */
  readonly onStumble: (cause: string) => void;
  /** Runs what listens to the thread's notices, on the plugin's account. */
  readonly deliver: (work: () => void) => void;
}

/**
 * Memory of the host across restarts: which plugins are disabled, which are in quarantine, which
 * died at boot, and what was installed.
 */
export interface HostMemory {
  disabled(): ReadonlyMap<string, string>;
  setDisabled(id: string, cause: string | undefined): void;
  /** The plugin that is being brought up during boot; undefined once all are. */
  setActivating(id: string | undefined): void;
  /** The plugin in which the last boots died, and how many in a row. */
  lastDeath(): { readonly id: string; readonly boots: number } | undefined;
  setQuarantine(id: string, entry: QuarantineEntry | undefined): void;
  quarantined(): ReadonlyMap<string, QuarantineEntry>;
  /** Hash of the files of a plugin as they were installed. */
  held(id: string): string | undefined;
  setHeld(id: string, hash: string | undefined): void;
}

export interface QuarantineEntry {
  readonly since: number;
  readonly cause: string;
  readonly attempts: number;
  readonly retryAt: number | undefined;
  readonly errors: readonly { at: number; label: string; cause: string }[];
}

/** The rest of core, as far as the host needs it; the composition root wires these. */
export interface HostPorts {
  readonly registry: Registry;
  /** Parent of the container that each generation gets. */
  readonly container: DependencyContainer;
  readonly sources: PluginSources;
  readonly runsOn: 'manager' | 'edge';
  readonly schemas: Schemas;
  readonly readManifest: ReadManifest;
  readonly shared: SharedModules;
  readonly bundler: Bundler | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly memory: HostMemory;
  readonly log: (component: string) => Logger;
  readonly dataDir: (pluginId: string) => string;
  readonly settings: (manifest: PluginManifest, own: Own) => Settings;
  /** Brings the tables of a plugin to what its migrations say, and notes where it will seal. */
  readonly migrate: (manifest: PluginManifest, migrations: readonly Migration[]) => Promise<void>;
  readonly tables: <T>(pluginId: string) => Tables<T>;
  readonly secrets: (manifest: PluginManifest) => Secrets;
  readonly metrics: (pluginId: string, own: Own) => Metrics;
  readonly fetch: (
    url: string,
    request: OutboundRequest | undefined,
    owner: AbortSignal,
  ) => Promise<OutboundReply>;
  readonly emit: (type: string, event: unknown) => void;
  readonly checkRoute: (declaration: RouteDeclaration) => string;
  readonly launchThread: (launch: ThreadLaunch) => PluginThread;
  /** The process of a pack is started again. */
  readonly packRestarted: (pluginId: string) => void;
  /** Called with every change of a plugin's state. */
  readonly observe?: (id: string, state: string, cause: string | undefined) => void;
}
