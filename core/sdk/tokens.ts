import type { PluginManifest } from './manifest.ts';

/**
 * Services, events and extension points meet by string id; the type only rides on the token.
 * A reloaded plugin brings new token objects with the same ids, so nothing may compare tokens by identity.
 */
declare const typeOf: unique symbol;

export interface ServiceToken<T> {
  readonly kind: 'service';
  readonly id: string;
  readonly [typeOf]?: (value: T) => T;
}

export interface EventType<T> {
  readonly kind: 'event';
  readonly id: string;
  readonly [typeOf]?: (value: T) => T;
}

/** Checks of a pack's data that a schema cannot express. */
export interface PackChecks<Data = never> {
  /**
   * Returns what is wrong beyond the schema; asked before a pack is installed and whenever it
   * starts.
   */
  problem?(id: string, value: Data, manifest: PluginManifest): string | undefined;
  /** Returns what is wrong as only another plugin can tell, such as the syntax of a query. */
  fault?(id: string, value: Data): Promise<string | undefined>;
}

/** Opening of a point to packs, which contribute data; a point without one is closed to them. */
export interface PackForm<Data = unknown> extends PackChecks<Data> {
  /** JSON Schema of the data; as strict as whoever reads it. */
  readonly schema: object;
  /**
   * Completes "it …" for the administrator who decides about a pack: what the contribution does,
   * with its content as text.
   */
  sentence(id: string, value: Data): string;
}

/** Form of contributions beyond a schema, which cannot describe code. */
export interface PointForm<Data = unknown> {
  /** Methods that every contribution by code has. */
  readonly methods?: readonly string[];
  readonly packs?: PackForm<Data>;
}

/** A point without the type of its contributions. */
export interface PointDeclaration extends PointForm {
  readonly id: string;
  /** JSON Schema that every contribution must fit. */
  readonly schema?: object;
}

export interface ExtensionPoint<T> extends PointDeclaration {
  readonly kind: 'extension-point';
  readonly [typeOf]?: (value: T) => T;
}

export const defineService = <T extends object = object>(id: string): ServiceToken<T> => ({
  kind: 'service',
  id,
});

export const defineEvent = <T>(id: string): EventType<T> => ({ kind: 'event', id });

export const defineExtensionPoint = <T, Data = T>(
  id: string,
  schema?: object,
  { methods, packs }: PointForm<Data> = {},
): ExtensionPoint<T> => ({
  kind: 'extension-point',
  id,
  ...(schema && { schema }),
  ...(methods && { methods }),
  ...(packs && { packs }),
});
