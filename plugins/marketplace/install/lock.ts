import type { Ceiling } from 'svc/contracts/gate';

import type { NormalizedPack } from '../normalize/normalize-pack.ts';

/** Origin of a pack, from which it can be fetched again. */
export interface Origin {
  readonly kind: 'registry' | 'url' | 'git' | 'upload' | 'folder';
  /** Name of the registry, address, or path. */
  readonly from: string;
  /** The name in the registry. */
  readonly name?: string;
  readonly path?: string;
  readonly commit?: string;
}

/** All that is known of one installed version: its row of the lockfile. */
export interface Lock extends NormalizedPack {
  readonly origin: Origin;
  /** Hash of the archive; a git commit and a folder have none. */
  readonly sha256: string | null;
  /** The registry whose key has signed it. */
  readonly signed_by: string | null;
  /** The key of that; what was installed by an earlier svc has none. */
  readonly signing_key?: string | null;
  readonly rights: readonly string[];
  readonly rights_hash: string | null;
}

/** Parts of a pack that an administrator admitted, since they are not admitted automatically. */
export interface Admitted {
  readonly personas: readonly string[];
  readonly servers: readonly string[];
}

/** One installed pack, as it is kept. */
export interface Installed {
  readonly packId: string;
  readonly lock: Lock;
  readonly before: Lock | undefined;
  readonly ceiling: Ceiling;
  readonly admitted: Admitted;
  /** A folder of this machine that it follows. */
  readonly linked: string | undefined;
  readonly installedBy: string;
  readonly installedAt: number;
  readonly updatedAt: number;
}
