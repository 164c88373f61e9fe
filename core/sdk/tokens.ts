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

export interface ExtensionPoint<T> {
  readonly kind: 'extension-point';
  readonly id: string;
  /** JSON Schema that every contribution must fit. */
  readonly schema?: object;
  readonly [typeOf]?: (value: T) => T;
}

export const defineService = <T extends object = object>(id: string): ServiceToken<T> => ({
  kind: 'service',
  id,
});

export const defineEvent = <T>(id: string): EventType<T> => ({ kind: 'event', id });

export const defineExtensionPoint = <T>(id: string, schema?: object): ExtensionPoint<T> =>
  schema === undefined ? { kind: 'extension-point', id } : { kind: 'extension-point', id, schema };
