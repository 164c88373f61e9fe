import type { PluginManifest } from './manifest.ts';
import type { PluginDefinition } from './plugin.ts';
import type { MaybePromise } from './scope.ts';
import { defineService } from './tokens.ts';

/** What a route of a code pack gets in its own process: plain data, never a live object of the host. */
export interface PackCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly principal: { readonly id: string; readonly kind: string; readonly role: string };
}

/** The code of a pack: answers for the routes its manifest describes, keyed `GET /api/v1/…` as written there. */
export interface PackDefinition {
  start?(): MaybePromise<void>;
  readonly routes?: Readonly<Record<string, (call: PackCall) => MaybePromise<unknown>>>;
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
  /** It is over: the pack goes into quarantine. */
  failed(cause: string): void;
}

/** Makes plugins of packs with code. Without one such packs are blocked; when another takes its place they come up anew with that one. */
export interface PackLoader {
  /** Why a pack from the data folder has to wait: its rights were not accepted. */
  barred(manifest: PluginManifest): string | undefined;
  load(pack: PackSource): PluginDefinition<unknown>;
}

export const PackLoader = defineService<PackLoader>('packs.loader');
