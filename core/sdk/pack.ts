import type { PluginManifest } from './manifest.ts';
import type { OutboundReply, OutboundRequest } from './outbound.ts';
import type { PluginDefinition } from './plugin.ts';
import type { MaybePromise } from './scope.ts';
import { defineService } from './tokens.ts';

/** Input of a code pack's route in its own process: plain data, never a live object of the host. */
export interface PackCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Body of a route that `consumes`: an async iterable of bytes. */
  readonly body: unknown;
  readonly principal: { readonly id: string; readonly kind: string; readonly role: string };
}

type Value = string | number | null;

/** Interface of svc for a pack. */
export interface PackContext {
  /** A request that svc makes, to what `permissions.hosts` names; each redirect is held against it, too. */
  fetch(
    url: string,
    request?: Pick<OutboundRequest, 'method' | 'headers' | 'body' | 'timeoutMs'> & {
      readonly ca?: string;
    },
  ): Promise<OutboundReply>;
  /** Effective values of the settings that its manifest declares. */
  readonly settings: {
    get<T = unknown>(key: string): T;
    watch<T = unknown>(key: string, listener: (value: T) => void): void;
  };
  /** Tables of the pack: one statement with values for its `?`; a batch is all or nothing. */
  readonly db: {
    all<T = Record<string, unknown>>(
      sql: string,
      ...values: readonly Value[]
    ): Promise<readonly T[]>;
    run(
      sql: string,
      ...values: readonly Value[]
    ): Promise<{ readonly changes: number; readonly lastId: number }>;
    batch(statements: readonly (readonly [sql: string, ...values: Value[]])[]): Promise<void>;
  };
}

type Handlers<Input> = Readonly<
  Record<string, (input: Input, pack: PackContext & { readonly signal: AbortSignal }) => unknown>
>;

/** The code of a pack, by what its manifest describes: routes as written there (`GET /api/v1/…`), events, skills by their keys. */
export interface PackDefinition {
  start?(pack: PackContext): MaybePromise<void>;
  readonly routes?: Handlers<PackCall>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the schema of the event or skill says what it is
  readonly events?: Handlers<any>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly skills?: Handlers<any>;
}

export const definePack = (definition: PackDefinition): PackDefinition => definition;

/** The files of a pack, plain ones only. */
export interface PackFiles {
  files(): readonly string[];
  read(name: string): Uint8Array | undefined;
}

/** A pack with code, as the host hands it to the loader. */
export interface PackSource {
  readonly manifest: PluginManifest;
  /** One CommonJS text. */
  readonly code: string;
  readonly files: PackFiles;
  /** An error on the account of the pack; too many of them put it into quarantine. */
  stumbled(cause: string): void;
  /** Reports a fatal failure: the pack goes into quarantine. */
  failed(cause: string): void;
}

/**
 * Loader that makes plugins of packs with code. Without one such packs are blocked; when another
 * takes its place they are restarted with that one.
 */
export interface PackLoader {
  /** Why a pack from the data folder has to wait, such as for its rights to be accepted. */
  barred(manifest: PluginManifest): string | undefined;
  load(pack: PackSource): PluginDefinition<unknown>;
}

export const PackLoader = defineService<PackLoader>('packs.loader');
