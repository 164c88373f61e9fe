import type { PluginManifest, SettingDeclaration } from './manifest.ts';
import type { EffectNode } from './scope.ts';
import type { DeclaredError } from './error-catalogue.ts';
import type { ErrorCode } from './errors.ts';
import type { Logger } from './observe.ts';
import type { Persona } from './persona.ts';
import type { Contribution } from './plugin.ts';
import type { Access, Method, RouteDeclaration } from './route.ts';
import type { MaybePromise } from './scope.ts';
import type { Skill } from './skill.ts';
import { defineExtensionPoint, defineService } from './tokens.ts';

/** One plugin as the plugin pages show it. */
export interface PluginStatus {
  readonly id: string;
  readonly version: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly kind: 'area' | 'pack' | undefined;
  readonly critical: boolean;
  readonly path: string;
  readonly state: string;
  readonly stage: string | undefined;
  readonly cause: string | undefined;
  readonly since: number;
  readonly generation: number | undefined;
  readonly lastAttempt:
    | {
        readonly at: number;
        readonly generation: number;
        readonly ok: boolean;
        readonly stage: string | undefined;
        readonly cause: string | undefined;
        readonly timings: Readonly<Record<string, number>>;
      }
    | undefined;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly dependents: readonly string[];
  readonly effects: EffectNode | undefined;
  readonly draining: readonly number[];
  readonly residue: string | undefined;
  readonly strikes: readonly {
    readonly at: number;
    readonly label: string;
    readonly cause: string;
  }[];
}

/** The host, as far as plugins may steer it. */
export interface PluginDirectory {
  list(): readonly PluginStatus[];
  explain(id: string): PluginStatus;
  /**
   * Returns a file of a plugin's folder, in the single binary as on disk; undefined if there is
   * none.
   */
  read(id: string, file: string): Uint8Array | undefined;
  reload(id: string): Promise<unknown>;
  enable(id: string): Promise<void>;
  disable(id: string, options?: { cascade?: boolean }): Promise<void>;
  /**
   * Holds a plugin to these files from its next generation on, across restarts; undefined lets it
   * go.
   */
  hold(id: string, files: readonly HeldFile[] | undefined): void;
}

/** File of a plugin as it was installed. */
export interface HeldFile {
  readonly path: string;
  readonly sha256: string;
}

/** One setting with its effective value and where that comes from. */
export interface SettingState {
  readonly key: string;
  readonly owner: string;
  readonly declaration: SettingDeclaration;
  readonly value: unknown;
  readonly source: 'env' | 'database' | 'file' | 'default';
}

/** Every declared setting; the area that stores overrides writes them here and keeps them in its tables. */
export interface SettingsBoard {
  list(): readonly SettingState[];
  find(key: string): SettingState | undefined;
  /** The same; throws not_found, with the nearest name, for a key that nobody declares. */
  state(key: string): SettingState;
  /** Throws unless a value may be stored for the key and this one fits; the sentence never repeats the value. */
  check(key: string, value: unknown): void;
  /** Sets or (undefined) removes the database layer of a key; the value must fit the declaration. */
  override(key: string, value: unknown): void;
  /** Called when a plugin adds or removes keys. */
  onDeclared(listener: () => void): () => void;
}

export interface DeclaredAction {
  readonly action: string;
  readonly description: string;
  readonly pluginId: string;
}

export interface DeclaredRoute {
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly pluginId: string;
  /** Areas that an API token must be allowed to read to get the whole answer. */
  readonly reads: readonly string[];
}

/** A route with all that a document can say of it; its shapes are JSON Schema 2020-12, as they are checked. */
export interface DescribedRoute
  extends
    DeclaredRoute,
    Pick<
      RouteDeclaration,
      | 'kind'
      | 'description'
      | 'consumes'
      | 'produces'
      | 'wording'
      | 'devices'
      | 'readsAsked'
      | 'quotes'
      | 'brief'
      | 'ifMatch'
    > {
  /** Status of an ordinary answer. */
  readonly status: number;
  readonly params: object | undefined;
  readonly query: object | undefined;
  readonly body: object | undefined;
  readonly response: object | undefined;
  /** Schema of one item of a list. */
  readonly items: object | undefined;
  readonly errors: readonly (ErrorCode | number)[];
}

/**
 * Declarations of the plugins that are running: the closed list that roles are made from, and what
 * agents work with.
 */
export interface DeclaredCatalogue {
  actions(): readonly DeclaredAction[];
  routes(): readonly DeclaredRoute[];
  /** Returns skills; the same list until anything is published. */
  skills(): readonly Contribution<Skill>[];
  personas(): readonly Contribution<Persona>[];
  /** The routes in full; the same list until anything is published. */
  declarations(): readonly DescribedRoute[];
  /** Errors by their reasons; one of a library belongs to each plugin that is bundled with it. */
  errors(): readonly Contribution<DeclaredError>[];
}

/** Points that are open now, as packs may contribute to them. */
export interface PointDirectory {
  /** Completes "it …" with why a pack with this manifest must not be installed; undefined if it may. */
  refusal(manifest: PluginManifest): string | undefined;
  /** Completes "it …" with why a pack would not work, as the owners of points find out by asking others. */
  fault(manifest: PluginManifest): Promise<string | undefined>;
  /** Completes "it …" with what a contribution does; undefined while nobody opens the point. */
  sentence(point: string, id: string, value: unknown): string | undefined;
}

/** Build of this process. */
export interface Build {
  readonly version: string;
  /** Folder of the product, with its agents/ and skills/. */
  readonly root: string;
  /** Further folders whose agents/ and skills/ are served: that of the program, and the working directory. */
  readonly beside: readonly string[];
  readonly node: string;
  readonly publicUrl: string;
  readonly startedAt: number;
  /** Address at which this process itself listens; empty until it does, and on edges. */
  readonly ownUrl: string;
  /** Program and first arguments that run `svc edge` on this machine; empty where none should run. */
  readonly agent: readonly string[];
}

export interface HealthAnswer {
  readonly label: string;
  /** Plugin that answers; absent: core. */
  readonly plugin?: string;
  readonly ok: boolean;
  /** True if it is running with reduced function. */
  readonly degraded: boolean;
  /** Why it is not ok, or what the probe had to say. */
  readonly detail: string | undefined;
  readonly ms: number;
}

export interface HealthProbe {
  check(): Promise<{ readonly ok: boolean; readonly checks: readonly HealthAnswer[] }>;
}

/** Result of a pass over all sealed values. */
export interface Resealed {
  /** The key that seals from now on. */
  readonly kid: string;
  /** Values that were sealed again with it. */
  readonly resealed: number;
  /** The keys of the values that did not open, one entry a value; these stay as they are. */
  readonly unreadable: readonly string[];
}

/** The keys that seal secrets; neither a key nor a secret leaves core by this service. */
export interface MasterKeys {
  /** Older keys of the ring, oldest first. */
  readonly older: readonly string[];
  /** Returns those of them that a rotation has replaced. */
  superseded(): Promise<readonly string[]>;
  /** Notes the keys of the ring as superseded; then makes a new one where svc keeps its keys itself. */
  renew(): Promise<void>;
  /** Seals every value again that another key than the newest has sealed, wherever any plugin declared to seal. */
  reseal(signal: AbortSignal): Promise<Resealed>;
}

/** One value of a metric of this process. */
export interface SelfSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A log line as it was written, secrets hidden. */
export interface SelfLine {
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly component: string;
  /** The whole line, as JSON. */
  readonly text: string;
}

/** A request that was answered, or a stream that has begun. */
export interface SelfRequest {
  readonly requestId: string;
  /** `GET /api/v1/plugins/{}`, or `unmatched`. */
  readonly route: string;
  readonly method: string;
  /** Plugin of the route. */
  readonly plugin: string | undefined;
  readonly status: number;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Header `traceparent` of the W3C, as the caller sent it. */
  readonly traceparent: string | undefined;
}

/** Observations of svc itself for those who store them; costs nothing while nobody listens. */
export interface SelfObservation {
  /** Every metric of this moment. */
  gather(): Promise<readonly SelfSample[]>;
  /**
   * Registers a listener, which is called synchronously and must not block; one that throws is
   * never called again. The first one also gets the lines of the start.
   */
  onLine(listener: (line: SelfLine) => void): () => void;
  onRequest(listener: (request: SelfRequest) => void): () => void;
  /**
   * Runs `work` without passing its log lines to listeners, so that storing a line does not cause
   * another.
   */
  unobserved<R>(work: () => R): R;
}

export interface EarlierMessage<T> {
  readonly id: string;
  readonly payload: T;
}

/** The durable queue of versions before plugins had queues of their own: hands over what it still holds. */
export interface EarlierOutbox {
  /**
   * Returns whether there are messages; reads only, so that a start on a read-only disk succeeds if
   * nothing is left.
   */
  holds(topic: string): Promise<boolean>;
  /** Returns messages in order of arrival, and deletes them within the current write. */
  take<T>(topic: string): Promise<readonly EarlierMessage<T>[]>;
}

export interface WatchOptions {
  /** Absolute. A root that does not exist yet, or goes away and comes back, is noticed too. */
  readonly roots: readonly string[];
  /** Returns whether to ignore a path, besides `node_modules`, dot files and editors' files. */
  readonly ignore?: (path: string) => boolean;
  /** Told absolute paths below the roots; a root itself means that anything below it may have changed. An error is logged. */
  readonly onChange: (paths: ReadonlySet<string>) => MaybePromise<void>;
  /** Time since which changes count, even before the watch began; default: nothing before it. */
  readonly since?: number;
  readonly debounceMs?: number;
  readonly log: Logger;
}

export interface FolderWatch {
  /** Resolves once changes are noticed; who looks at the folders after that misses nothing. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Tells that files below some folders may have changed: a hint to look again, never a contract. */
export interface FolderWatcher {
  /** Whoever watches closes it with its scope: `ctx.scope.defer('watch …', close)`. */
  watch(options: WatchOptions): FolderWatch;
}

/** The guard of requests that leave, for what is not HTTP. */
export interface OutboundGuard {
  /** An address of a host that users named, checked as `ctx.fetch` does: a socket connects to this and to nothing else. */
  addressOf(host: string): Promise<string>;
}

/** Services of core itself, required like any other. */
export const Plugins = defineService<PluginDirectory>('core.plugins');
export const Board = defineService<SettingsBoard>('core.settings');
export const Keys = defineService<MasterKeys>('core.keys');
export const BuildInfo = defineService<Build>('core.build');
export const EarlierOutbox = defineService<EarlierOutbox>('core.earlier-outbox');
export const Points = defineService<PointDirectory>('core.points');
export const Catalogue = defineService<DeclaredCatalogue>('core.catalogue');
export const Folders = defineService<FolderWatcher>('core.folders');
export const Outgoing = defineService<OutboundGuard>('core.outbound');
export const Health = defineService<HealthProbe>('core.health');
export const Self = defineService<SelfObservation>('core.self');

/** A line of the start banner; undefined when there is nothing to say. */
export interface BannerLine {
  line(url: string): string | undefined;
}

export const Banner = defineExtensionPoint<BannerLine>('core.banner', undefined, {
  methods: ['line'],
});
