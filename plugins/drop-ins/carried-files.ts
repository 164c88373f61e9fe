import type { CarriedFile } from 'svc/contracts/drop-ins';
import type { Contribution } from 'svc/sdk';

import { DropIn, type DropInStatus } from './drop-in.ts';

/** Set of files that plugins carry. */
export class CarriedFileSet {
  readonly #contributed: () => readonly Contribution<CarriedFile>[];
  #files: ReadonlyMap<string, DropIn> = new Map();

  constructor(contributed: () => readonly Contribution<CarriedFile>[]) {
    this.#contributed = contributed;
  }

  /**
   * Files that ship with svc, sorted by plugin, so that reloading one does not change who owns a
   * name.
   */
  get shipped(): Iterable<DropIn> {
    return [...this.#files.values()].filter(({ pack }) => pack === undefined);
  }

  /** Files of packs, sorted by pack. */
  get ofPacks(): Iterable<DropIn> {
    return [...this.#files.values()].filter(({ pack }) => pack !== undefined);
  }

  async visit(now: () => number): Promise<void> {
    const files = new Map<string, DropIn>();
    for (const { value } of this.#contributed().toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const { file, path, text, pack } = value;
      const dropIn =
        this.#files.get(path) ??
        new DropIn({ ...kindOf(file), file: path, source: 'builtin', pack });
      if (!dropIn.isAt(text)) {
        await dropIn.read(text, () => text, now());
      }
      files.set(path, dropIn);
    }
    this.#files = files;
  }

  list(): readonly DropInStatus[] {
    return [...this.#files.values()].map((file) => file.describe());
  }
}

/** The host contributes nothing but `agents/<name>.md` and `skills/<name>/SKILL.md`. */
function kindOf(file: string): { readonly kind: DropInStatus['kind']; readonly name: string } {
  const [folder, name = ''] = file.split('/');
  return folder === 'skills'
    ? { kind: 'skill', name }
    : { kind: 'persona', name: name.slice(0, -'.md'.length) };
}
