import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AskedRights, PackRights } from 'svc/contracts/packs';
import type { PluginManifest, PointDirectory } from 'svc/sdk';

import { type Confinement, sentenceOf } from '../process/confinement.ts';
import { idleStartFile } from '../process/idle-start.ts';
import type { Acceptances } from './acceptances.ts';
import { errors } from './errors.ts';
import { type Others, refusal } from './limits.ts';
import { rightsOf } from './rights.ts';

export interface GrantingParts {
  readonly acceptances: Acceptances;
  readonly others: Others;
  readonly points: PointDirectory;
  readonly cacheDir: string;
  readonly confinement: () => Promise<Confinement>;
  /** Returns whether a process of the pack still exists. */
  readonly runs: (id: string) => boolean;
}

const lookMs = 20;
/** Time after which only a broken kernel keeps a process alive. */
const longestEndMs = 30_000;

type Kind = 'text' | 'list' | 'map';
const kinds: Readonly<Record<string, Kind>> = {
  id: 'text',
  entry: 'text',
  routes: 'list',
  mounts: 'list',
  events: 'list',
  skills: 'list',
  permissions: 'map',
  limits: 'map',
  actions: 'map',
  settings: 'map',
  contributes: 'map',
};
const empty: Readonly<Record<Kind, unknown>> = { text: undefined, list: [], map: {} };

/**
 * Permissions of installed packs: requested before there is a folder, granted before it is found,
 * deleted with it.
 */
export class Granting implements PackRights {
  readonly #parts: GrantingParts;

  constructor(parts: GrantingParts) {
    this.#parts = parts;
  }

  asked(written: Readonly<Record<string, unknown>>): AskedRights {
    const manifest = wholeManifest(written);
    const { others, points } = this.#parts;
    const { sentences, hash } = rightsOf(manifest, points);
    return { sentences, hash, refused: refusal(manifest, others) ?? points.refusal(manifest) };
  }

  fault(written: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    return this.#parts.points.fault(wholeManifest(written));
  }

  isGranted(id: string, hash: string): boolean {
    return this.#parts.acceptances.isAccepted(id, hash);
  }

  async grant(id: string, { hash, sentences }: AskedRights, by: string): Promise<void> {
    await this.#parts.acceptances.put(id, { hash, sentences }, by);
  }

  async withdraw(id: string, hash: string): Promise<void> {
    await this.#parts.acceptances.drop(id, hash);
  }

  /**
   * Deletes everything of a pack: grant, process, copies of its files. Waits for processes that are
   * still ending.
   */
  async forget(id: string): Promise<void> {
    const { acceptances, runs, cacheDir } = this.#parts;
    const signal = AbortSignal.timeout(longestEndMs);
    await acceptances.drop(id, undefined);
    while (runs(id)) {
      signal.throwIfAborted();
      await sleep(lookMs);
    }
    rmSync(join(cacheDir, 'packs', id), { recursive: true, force: true });
    rmSync(idleStartFile(cacheDir, id), { force: true });
  }

  async confinement(): Promise<string> {
    return sentenceOf[await this.#parts.confinement()];
  }
}

/**
 * Returns the manifest as the host will read it: omitted fields have the defaults of the schema,
 * which the host itself checks in full.
 */
function wholeManifest(written: Readonly<Record<string, unknown>>): PluginManifest {
  const fields = Object.entries(kinds).map(([name, kind]) => [
    name,
    fieldOf(name, kind, written[name]),
  ]);
  const { permissions, limits, ...rest } = Object.fromEntries(fields) as Record<string, object>;
  const whole = {
    ...rest,
    permissions: { read: [], hosts: [], network: false, disk_mb: 0, ...permissions },
    limits: { heap_mb: 128, rss_mb: 256, ...limits },
  };
  return whole as unknown as PluginManifest;
}

function fieldOf(name: string, kind: Kind, value: unknown): unknown {
  if (value === undefined) {
    return empty[kind];
  }
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const fits = { text: typeof value === 'string', list: Array.isArray(value), map: isMap }[kind];
  const isFlat = name === 'mounts' || name === 'events';
  const items: readonly unknown[] = kind === 'list' ? (value as unknown[]) : [];
  if (
    !fits ||
    items.some((item) =>
      isFlat ? typeof item !== 'string' : typeof item !== 'object' || item === null,
    )
  ) {
    throw errors.manifest_field({ kind, name });
  }
  return value;
}
