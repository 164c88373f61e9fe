import { defineService, type Handle, type MaybePromise, type Principal, SvcError } from 'svc/sdk';

import { askerOf } from './run/asker.ts';

/** Matcher of the label that every store adds to its data, and by which it is queried. */
export interface DeviceMatcher {
  readonly name: 'device_id';
  readonly op: '=~';
  readonly value: string;
}

/** The devices that somebody sees. */
export interface DeviceScope {
  readonly ids: ReadonlySet<number>;
  /** Matchers that stores add to every selector of a query. */
  readonly enforce: readonly DeviceMatcher[];
}

export interface ScopeSource {
  of(selectors: readonly string[]): MaybePromise<DeviceScope>;
}

/** Service of the device plugin; declared here, so that stores can use it if available. */
export const DeviceScopes = defineService<ScopeSource>('device.scopes');

/** Undefined for all devices. Without a source those who see some alone are refused: they are never shown all. */
export async function scopeOf(
  source: Handle<ScopeSource>,
  { selectors }: Pick<Principal, 'selectors'>,
): Promise<DeviceScope | undefined> {
  if (selectors === undefined) {
    return undefined;
  }
  if (!source.available) {
    throw new SvcError(
      'unavailable',
      'your devices cannot be told from those of others, because the plugin device is not available; try again later',
      {
        reason: 'devices.no_scope',
        retryAfterSeconds: 5,
      },
    );
  }
  return await source.get().of(selectors);
}

/**
 * Visible devices; undefined means all. A required argument of every reader, so that none can omit
 * whose data is read.
 */
export type SeenDevices = DeviceScope | undefined;

export type SeenBy = (principal: Pick<Principal, 'selectors'>) => Promise<SeenDevices>;

export const seenBy =
  (source: Handle<ScopeSource>): SeenBy =>
  (principal) =>
    scopeOf(source, principal);

/** Ids begin at 1; a matcher of nothing would fit whatever has no device. */
export const deviceScope = (ids: Iterable<number>): DeviceScope => {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  return {
    ids: new Set(sorted),
    enforce: [{ name: 'device_id', op: '=~', value: sorted.length === 0 ? '0' : sorted.join('|') }],
  };
};

/** Returns the ids as a JSON list of texts for SQL, as tables of other areas store them. */
export const idTexts = ({ ids }: DeviceScope): string => JSON.stringify([...ids].map(String));

/** Asker of a store, with the scope of the answer. */
export interface Asking {
  readonly asker: string | undefined;
  readonly enforce?: readonly DeviceMatcher[];
}

export type AskingOf = (principal: Principal) => Promise<Asking>;

export const askingOf =
  (source: Handle<ScopeSource>): AskingOf =>
  async (principal) => {
    const scope = await scopeOf(source, principal);
    return { asker: askerOf(principal), ...(scope && { enforce: scope.enforce }) };
  };
