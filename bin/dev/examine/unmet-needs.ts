import { dirname } from 'node:path';

import semver from 'semver';

import { pluginSources } from '../../../core/boot/index.ts';
import { discover } from '../../../core/host/index.ts';
import * as sdk from '../../../core/sdk/index.ts';
import { readManifest } from '../../manifest/read-manifest.ts';
import { currentProduct } from '../../product/product.ts';

interface Offer {
  readonly version: string;
  readonly by: string;
}

/**
 * Returns the required services that neither core, nor a plugin of this svc or next to `path`,
 * provides; as sentences.
 */
export async function unmetNeeds(
  manifest: sdk.PluginManifest,
  path: string,
): Promise<readonly string[]> {
  const offers = await offersBeside(path);
  return manifest.requires.flatMap(({ service, range }) => {
    const offer = offers.get(service);
    if (offer && semver.satisfies(offer.version, range)) {
      return [];
    }
    const guess = sdk.nearest(service, offers.keys());
    const instead = offer
      ? `provided in ${offer.version} by ${offer.by}`
      : `which no plugin here provides${guess === undefined ? '' : `; did you mean ${guess}?`}`;
    return [`needs service ${service} ${range}, ${instead}`];
  });
}

async function offersBeside(path: string): Promise<ReadonlyMap<string, Offer>> {
  const { embedded, roots } = pluginSources(await currentProduct(), '');
  const offers = new Map<string, Offer>(
    Object.values(sdk)
      .filter((token) => typeof token === 'object' && 'kind' in token && token.kind === 'service')
      .map((token) => [
        (token as sdk.ServiceToken<object>).id,
        { version: sdk.sdkVersion, by: 'core' },
      ]),
  );
  const beside = { path: dirname(path), origin: 'shipped' as const };
  for (const folder of discover({
    embedded,
    roots: [...roots.filter(({ origin }) => origin === 'shipped'), beside],
  }).values()) {
    try {
      const { id, provides } = readManifest(folder);
      provides.forEach(({ service, version }) => offers.set(service, { version, by: id }));
    } catch (error) {
      // A neighbour that cannot be read offers nothing; it is examined on its own.
      if (!sdk.isSvcError(error)) {
        throw error;
      }
    }
  }
  return offers;
}
