import { defineExtensionPoint, defineService, type MaybePromise } from 'svc/sdk';
import type { TunnelStream } from 'svc/tunnel';

export type { TunnelStream };

/** Signals that are shipped to the manager's data plane. */
export type Signal = 'metrics' | 'logs' | 'traces';

/** One push, as the manager's route takes it. */
export interface Parcel {
  readonly signal: Signal;
  /** Path at the manager, such as `/api/v1/write`. */
  readonly path: string;
  readonly contentType: string;
  readonly contentEncoding?: string;
  /** Body of at most 4 MiB. Ownership is transferred: the caller must not change it afterwards. */
  readonly body: Uint8Array;
  /** Samples, lines or spans in it: what is counted when it has to be dropped. */
  readonly items: number;
  /** The plugin that made it (`ctx.id`): the items count as its samples. */
  readonly from: string;
  /** True to write it to disk immediately, rather than within a second. */
  readonly urgent?: boolean;
}

/**
 * Leaves a parcel for the manager. Resolves once it is durable on this machine or taken by the manager; rejects with unavailable when
 * the buffer is full of what may not be dropped for it. Parcels of one signal arrive in order, and may arrive twice.
 */
export interface Shipping {
  ship(parcel: Parcel): Promise<void>;
}

/**
 * Settings that the manager assigns to an edge plugin, checked against the `spec` of its
 * `edge.json`, with defaults filled in. The uplink reloads a plugin whose spec has changed, so
 * reading it once in activate is enough.
 */
export interface Specs {
  of(pluginId: string): unknown;
}

/** Context of a call of an EdgeMethod. */
export interface EdgeCall {
  readonly signal: AbortSignal;
  readonly idempotencyKey?: string | undefined;
}

/** Method of this machine that the manager may call; contributed under any id. */
export interface EdgeMethod {
  readonly name: string;
  /** Makes a change: it runs once for an idempotency key, whatever happens to the connection. */
  readonly mutating: boolean;
  run(params: unknown, call: EdgeCall): Promise<unknown>;
}

/** A service that the manager may open a stream of bytes to. Throwing refuses the stream. */
export interface EdgeStreamService {
  readonly name: string;
  /** Resolves when the stream has ended. */
  open(meta: unknown, stream: TunnelStream): MaybePromise<void>;
}

/**
 * Permissions granted by the owner of this machine: `policy.yaml` of the data folder, which the
 * manager cannot write.
 */
export interface Policy {
  /** `host:port` that the manager may reach through this machine. */
  readonly tcp: readonly string[];
  /** False: no shells, so nothing of `tcp` either. */
  readonly webshell: boolean;
  readonly skills: {
    readonly enabled: boolean;
    /** Globs of files whose content skills may read. */
    readonly paths: readonly string[];
    /** Globs of files and folders whose name, size and owner skills may see. */
    readonly measure: readonly string[];
    /**
     * Views of this machine that skills may look up: `units`, `containers`, `packages`, `kernel`, `cron`,
     * `logins`, `git`, `databases`, `kubernetes`; `*` for all.
     */
    readonly views: readonly string[];
    /** Sockets of container engines, which are only asked and never told to change anything. */
    readonly containers: readonly string[];
    /** `name=postgres://user:password@host/database`: databases whose state skills may look at. */
    readonly databases: readonly string[];
    /** `name=/path/to/program arguments`: commands that checks may run. */
    readonly commands: readonly string[];
    /** File by which kubectl reaches a cluster. */
    readonly kubeconfig: string | undefined;
    /** Chromium, in which checks may take steps. */
    readonly browser: string | undefined;
    /** Services that skills may restart. */
    readonly services: readonly string[];
    /** `host:port` that skills may probe; a host may be a name with wildcards, an address, a network or `*`, a port a range or `*`. */
    readonly probes: readonly string[];
  };
  /** Names (`hostmetrics`, …) of plugins that the manager may switch and configure; `*` for all. */
  readonly plugins: { readonly allowed: readonly string[] };
  /** Globs of the files that may be read for the log store. */
  readonly logs: { readonly paths: readonly string[] };
}

/** The policy of this moment; a change of the file is seen at the next call. */
export interface LocalPolicy {
  current(): Policy;
}

/**
 * Credentials by which a request authenticates to the manager, and the manager to it. Never logged.
 */
export interface Identity {
  /** `https://manager.example`, with the path below which it lives, if any. */
  readonly manager: string;
  readonly access_key: string;
  readonly secret_key: string;
  /** `sha256/…` of the manager's public key. */
  readonly pin?: string | undefined;
  /** PEM of the authority that signs the manager's certificate. */
  readonly ca?: string | undefined;
  /** Through which it is reached. */
  readonly proxy?: string | undefined;
}

/** The way to the manager, for plugins that have events to report. */
export interface Uplink {
  readonly online: boolean;
  /** Streams that the manager has open through this machine, shells among them. */
  readonly streams: number;
  /**
   * Returns the current identity of this machine, for requests to the manager only. Undefined while
   * it is not enrolled.
   */
  identity(): Identity | undefined;
  /** Reports an event to the manager; kept on disk, before everything else, while it cannot be reached. Resolves once it is sent or durable. */
  report(event: string, payload: unknown): Promise<void>;
}

export const Shipping = defineService<Shipping>('uplink.shipping');
export const Specs = defineService<Specs>('uplink.specs');
export const LocalPolicy = defineService<LocalPolicy>('uplink.policy');
export const Uplink = defineService<Uplink>('uplink.link');
export const EdgeMethods = defineExtensionPoint<EdgeMethod>('uplink.methods', undefined, {
  methods: ['run'],
});
export const EdgeStreams = defineExtensionPoint<EdgeStreamService>('uplink.streams', undefined, {
  methods: ['open'],
});
