import type { Ceiling } from 'svc/contracts/gate';

import { errors } from './errors.ts';
import type { Admitted, Origin } from './lock.ts';
import type { Wanted } from './sources.ts';

/** Pack as a file declares it: its source, the agreed content, and its permissions. */
export interface PackWish {
  readonly version: string;
  readonly origin: Origin;
  readonly sha256: string | null;
  readonly contentHash: string;
  readonly ceiling: Ceiling;
  readonly admitted: Admitted;
  readonly reason: string | undefined;
}

/** Returns the source by what pins it: nothing that could have changed meanwhile is fetched. */
export function wantedOf({ origin, version, sha256 }: PackWish): Wanted {
  switch (origin.kind) {
    case 'url':
      return {
        url: origin.from,
        ...(sha256 !== null && { sha256 }),
        ...(origin.path !== undefined && { path: origin.path }),
      };
    case 'git':
      return {
        git: {
          url: origin.from,
          ...(origin.commit !== undefined && { commit: origin.commit }),
          ...(origin.path !== undefined && { path: origin.path }),
        },
      };
    case 'upload':
      throw errors.no_source({ sha256: `${sha256}` });
    default:
      return wantedAgain(origin, version);
  }
}

/** Returns the same source; a branch may have moved, so its commit is requested. */
export function wantedAgain(
  { kind, from, name, path }: Origin,
  version: string | undefined,
): Wanted {
  switch (kind) {
    case 'registry':
      return { registry: from, pack_id: name!, ...(version !== undefined && { version }) };
    case 'git':
      return { git: { url: from, ...(path !== undefined && { path }) } };
    case 'folder':
      return { folder: from, ...(path !== undefined && { path }) };
    default:
      throw errors.no_update();
  }
}
