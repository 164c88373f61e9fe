import type { OpenFile } from './open-file.ts';
import { continues, type Place } from './place.ts';

/** Files that were read to their end or are not to be read, so that they are not taken for new ones under another name. */
export class ParkedPlaces {
  readonly #places = new Map<string, Place>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  list(): Iterable<Place> {
    return this.#places.values();
  }

  /** Adds a place; beyond the limit, those not seen for longest are dropped. */
  add(place: Place): void {
    this.#places.delete(place.id);
    this.#places.set(place.id, place);
    for (const id of [...this.#places.keys()].slice(
      0,
      Math.max(0, this.#places.size - this.#most),
    )) {
      this.#places.delete(id);
    }
  }

  remove(id: string): void {
    this.#places.delete(id);
  }

  /** A file with the same inode is the same file only if it holds what that one held. */
  async find(file: OpenFile): Promise<Place | undefined> {
    const place = this.#places.get(file.id);
    if (place === undefined || !(await continues(file.file, file.size, place))) {
      return undefined;
    }
    this.add(place);
    return place;
  }
}
