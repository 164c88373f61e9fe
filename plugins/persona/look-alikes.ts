import type { Persona } from 'svc/sdk';

/**
 * Returns the appearance of a name: the same for names that people take for one another, by case or
 * by letters that look alike.
 */
export const lookOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[_.]/g, '-')
    .replaceAll(/[il1]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');

const ranks: readonly Persona['source'][] = ['builtin', 'disk', 'user'];

/**
 * Names by their look. Of names that look alike, the one from the most trusted source has the look;
 * the others must not be asked in its place. A pack is trusted less than any other source.
 */
export class LookAlikes {
  readonly #owners = new Map<string, string>();

  constructor(all: readonly Pick<Persona, 'name' | 'source' | 'pack'>[]) {
    const ranked = all.toSorted(
      (a, b) =>
        Number(a.pack !== undefined) - Number(b.pack !== undefined) ||
        ranks.indexOf(a.source) - ranks.indexOf(b.source) ||
        Number(a.name !== a.name.toLowerCase()) - Number(b.name !== b.name.toLowerCase()) ||
        (a.name < b.name ? -1 : 1),
    );
    for (const { name } of ranked) {
      const look = lookOf(name);
      this.#owners.set(look, this.#owners.get(look) ?? name);
    }
  }

  /** Returns the name that this one would be mistaken for. */
  mistakenFor(name: string): string | undefined {
    const owner = this.#owners.get(lookOf(name));
    return owner === name ? undefined : owner;
  }
}
