import type { Persona, PromptSkill, SvcError } from 'svc/sdk';

import type { DropIn } from './drop-in.ts';

/** Everything good that there is at one moment. */
export interface DropInEntries {
  readonly personas: readonly Persona[];
  readonly skills: readonly PromptSkill[];
}

/** Owner of each name, keyed by its conflict path: `/personas/<name>`, `/skills/<key>`. */
export type NameClaims = Map<string, DropIn>;

/**
 * Assigns each name to the first root that uses it, and within a folder to the file that already
 * has it, else to the first; the others report the owner. A file added later never takes another
 * one's name.
 */
export function claimNames(roots: readonly Iterable<DropIn>[], before: NameClaims): NameClaims {
  const claims: NameClaims = new Map();
  const has = (file: DropIn): number =>
    file.source === 'disk' && before.get(pointerOf(file) ?? '') === file ? 0 : 1;
  for (const file of roots.flatMap((files) => [...files].toSorted((a, b) => has(a) - has(b)))) {
    file.rivalry = undefined;
    const pointer = pointerOf(file);
    if (file.good && pointer !== undefined) {
      const first = claims.get(pointer);
      if (first) {
        file.rivalry = `${file.file}: the name "${file.good.name}" is already used by ${first.file}; rename one of them`;
      } else {
        claims.set(pointer, file);
      }
    }
  }
  return claims;
}

const pointerOf = ({ kind, good }: DropIn): string | undefined => good && `/${kind}s/${good.name}`;

/** Releases the names that belong to a plugin according to `conflict`; false if there are none. */
export function yieldNames(claims: NameClaims, conflict: SvcError): boolean {
  const before = claims.size;
  for (const { path, message } of conflict.details ?? []) {
    const file = claims.get(path);
    if (file) {
      file.rivalry = `${file.file}: the name "${file.good?.name}" is taken by a plugin (${message}); rename the one in the file`;
      claims.delete(path);
    }
  }
  return claims.size < before;
}

export function entriesOf(claims: NameClaims): DropInEntries {
  const good = [...claims.values()].map((file) => file.good).filter((value) => value !== undefined);
  return {
    personas: good.filter((value) => 'when_to_use' in value),
    skills: good.filter((value) => 'kind' in value),
  };
}

/** Values are replaced, never changed, so the same objects are the same entries. */
export const sameEntries = (a: DropInEntries, b: DropInEntries): boolean =>
  sameList(a.personas, b.personas) && sameList(a.skills, b.skills);

const sameList = (a: readonly object[], b: readonly object[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);
