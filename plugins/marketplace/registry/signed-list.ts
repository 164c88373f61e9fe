import { createHash } from 'node:crypto';

import { errors } from './errors.ts';
import { readIndex } from './registry-index.ts';
import { isSigned } from './signature.ts';

/** What the publisher of a registry signed of its list: when, and until when it is the newest. */
export interface SignedList {
  readonly signedAt: number;
  readonly validUntil: number;
}

/** Versions of a list that a registry was read with before. */
interface Lists {
  readonly name: string;
  readonly address: string;
  readonly key: string | null;
  readonly before: string | null;
  /** Hashes of every list before, as JSON. */
  readonly known: string | null;
  readonly after: string;
}

/**
 * Returns the signed validity of a list; undefined if it has none. Throws if the key of the
 * registry has not signed it.
 */
export function signedList(name: string, text: string, key: string): SignedList | undefined {
  const { packs, list } = JSON.parse(text) as {
    readonly packs?: unknown;
    readonly list?: {
      readonly signed_at?: unknown;
      readonly valid_until?: unknown;
      readonly signature?: unknown;
    };
  };
  if (list === undefined || list === null) {
    return undefined;
  }
  const { signed_at, valid_until, signature } = list;
  const [signedAt, validUntil] = [signed_at, valid_until].map((time) => Date.parse(String(time)));
  const statement = JSON.stringify({ packs, signed_at, valid_until });
  const isOurs =
    typeof signature === 'string' &&
    isSigned(key, createHash('sha256').update(statement).digest('hex'), signature);
  if (!isOurs || !Number.isFinite(signedAt) || !Number.isFinite(validUntil)) {
    throw errors.list_forged({ name });
  }
  return { signedAt: signedAt!, validUntil: validUntil! };
}

/** A publisher with a version every day for a century has fewer. */
const mostKnown = 40_000;

/**
 * Returns the hashes that are known with a new list. Throws if a registry tells now what it cannot
 * have told before: an older list, one without the signature that it had, or other bytes under a
 * version that any earlier list had.
 */
export function knownAfter({ name, address, key, before, known, after }: Lists): string {
  refuseOlder({ name, key, before, after });
  const hashes = new Map<string, string>(
    known === null ? [] : Object.entries(JSON.parse(known) as Record<string, string>),
  );
  // A list that was stored before its hashes were kept.
  if (known === null && before !== null) {
    hashesIn(before, address).forEach((sha256, version) => hashes.set(version, sha256));
  }
  for (const [version, sha256] of hashesIn(after, address)) {
    if ((hashes.get(version) ?? sha256) !== sha256) {
      throw errors.registry_equivocates({ name, version });
    }
    hashes.set(version, sha256);
  }
  if (hashes.size > mostKnown) {
    throw errors.registry_overflows({ name, most: mostKnown });
  }
  return JSON.stringify(Object.fromEntries(hashes));
}

function refuseOlder({ name, key, before, after }: Omit<Lists, 'address' | 'known'>): void {
  const list = key === null ? undefined : signedList(name, after, key);
  const earlier = key === null || before === null ? undefined : signedList(name, before, key);
  if (earlier !== undefined && list === undefined) {
    throw errors.list_unsigned({ name });
  }
  if (earlier !== undefined && list!.signedAt < earlier.signedAt) {
    throw errors.list_older({ name, at: new Date(earlier.signedAt).toISOString() });
  }
}

/** Hashes of archives by pack and version. */
const hashesIn = (text: string, address: string): ReadonlyMap<string, string> =>
  new Map(
    readIndex(text, address).offers.flatMap(({ name, versions }) =>
      versions.flatMap(({ version, source }) =>
        source.kind === 'archive' ? [[`${name} ${version}`, source.sha256] as const] : [],
      ),
    ),
  );
