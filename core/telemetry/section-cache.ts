/** Unpacked sections of blocks, the most lately used ones, up to a number of bytes. */
export interface SectionCache {
  /** What `isWanted` refuses is handed out and not kept: a search through everything must not push out what is used. */
  get(path: string, index: number, load: () => Uint8Array, isWanted?: (section: Uint8Array) => boolean): Uint8Array;
  /** Lets go of what belongs to one block. */
  forget(path: string): void;
  readonly bytes: number;
}

export function sectionCache(maxBytes: number): SectionCache {
  /** In the order of their use. */
  const entries = new Map<string, Uint8Array>();
  const indexes = new Map<string, Set<number>>();
  let bytes = 0;

  const keyOf = (path: string, index: number): string => `${path}\0${index}`;

  function remove(path: string, index: number): void {
    const key = keyOf(path, index);
    bytes -= entries.get(key)?.length ?? 0;
    entries.delete(key);
    const known = indexes.get(path);
    known?.delete(index);
    if (known?.size === 0) {
      indexes.delete(path);
    }
  }

  function makeRoom(): void {
    for (const key of entries.keys()) {
      if (bytes <= maxBytes) {
        return;
      }
      const at = key.lastIndexOf('\0');
      remove(key.slice(0, at), Number(key.slice(at + 1)));
    }
  }

  return {
    get(path, index, load, isWanted) {
      const key = keyOf(path, index);
      const known = entries.get(key);
      if (known !== undefined) {
        entries.delete(key);
        entries.set(key, known);
        return known;
      }
      const section = load();
      // A large one would push out everything else for one use.
      if (section.length > maxBytes / 4 || isWanted?.(section) === false) {
        return section;
      }
      entries.set(key, section);
      bytes += section.length;
      (indexes.get(path) ?? indexes.set(path, new Set()).get(path)!).add(index);
      makeRoom();
      return section;
    },
    forget(path) {
      for (const index of [...(indexes.get(path) ?? [])]) {
        remove(path, index);
      }
    },
    get bytes() {
      return bytes;
    },
  };
}
