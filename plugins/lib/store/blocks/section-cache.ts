/** Unpacked sections of blocks, the most lately used ones, up to a number of bytes. */
export interface SectionCache {
  get(path: string, index: number, load: () => Uint8Array): Uint8Array;
  /**
   * Returns the section if `isWanted` accepts it; `lend` returns memory that may change afterwards,
   * and only accepted sections are copied and cached: a search through everything must neither
   * evict what is used nor leave as much for the collector.
   */
  search(
    path: string,
    index: number,
    lend: () => Uint8Array,
    isWanted: (section: Uint8Array) => boolean,
  ): Uint8Array | undefined;
  /** Drops what belongs to one block. */
  forget(path: string): void;
  readonly bytes: number;
}

export function sectionCache(maxBytes: number): SectionCache {
  /** Entries, least recently used first. */
  const entries = new Map<string, Uint8Array>();
  const indexes = new Map<string, Set<number>>();
  let bytes = 0;

  const keyOf = (path: string, index: number): string => `${path}\0${index}`;

  function remove(path: string, index: number): void {
    const key = keyOf(path, index);
    bytes -= entries.get(key)?.length ?? 0;
    entries.delete(key);
    const ofPath = indexes.get(path);
    ofPath?.delete(index);
    if (ofPath?.size === 0) {
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

  function known(path: string, index: number): Uint8Array | undefined {
    const key = keyOf(path, index);
    const section = entries.get(key);
    if (section !== undefined) {
      entries.delete(key);
      entries.set(key, section);
    }
    return section;
  }

  function get(path: string, index: number, load: () => Uint8Array): Uint8Array {
    const found = known(path, index);
    if (found !== undefined) {
      return found;
    }
    const section = load();
    // A large one would push out everything else for one use.
    if (section.length > maxBytes / 4) {
      return section;
    }
    entries.set(keyOf(path, index), section);
    bytes += section.length;
    (indexes.get(path) ?? indexes.set(path, new Set()).get(path)!).add(index);
    makeRoom();
    return section;
  }

  return {
    get,
    search(path, index, lend, isWanted) {
      const found = known(path, index);
      if (found !== undefined) {
        return isWanted(found) ? found : undefined;
      }
      const lent = lend();
      return isWanted(lent) ? get(path, index, () => new Uint8Array(lent)) : undefined;
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
