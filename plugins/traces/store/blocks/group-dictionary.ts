import { ByteReader } from 'svc/store';

import type { Attribute, Scope } from '../../traceql/spans/span.ts';
import type { SpanDictionary } from '../columns/columns.ts';
import { decodeValue, skipValue } from '../columns/value-codec.ts';

interface Key {
  readonly key: string;
  readonly scopes: number;
  /** Number of its first pair. */
  readonly first: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  /** Positions of each value; computed when one of them is first needed. */
  places:
    | {
        readonly starts: Uint32Array;
        readonly scopes: Uint8Array;
        readonly pairs: (Attribute | undefined)[];
      }
    | undefined;
}

/** The dictionary of a group in a block; the values of a key are decoded when one of them is asked for. */
export class GroupDictionary implements SpanDictionary {
  readonly #texts: readonly string[];
  readonly #resourcePairs: readonly (readonly number[])[];
  readonly #scopes: readonly {
    readonly name: string;
    readonly version: string;
    readonly pairs: readonly number[];
  }[];
  readonly #readPairs: () => Uint8Array;
  readonly #resources: (readonly Attribute[])[] = [];
  readonly #scopeObjects: Scope[] = [];
  #keyList: readonly Key[] | undefined;
  #keyMap: ReadonlyMap<string, Key> | undefined;

  constructor(bytes: Uint8Array, readPairs: () => Uint8Array) {
    const reader = new ByteReader(bytes);
    const many = <T>(one: () => T): T[] => {
      const list: T[] = [];
      for (let count = reader.uvarint(); count > 0; count--) {
        list.push(one());
      }
      return list;
    };
    const numbers = (): number[] => many(() => reader.uvarint());
    this.#texts = many(() => reader.utf8());
    this.#resourcePairs = many(numbers);
    this.#scopes = many(() => ({ name: reader.utf8(), version: reader.utf8(), pairs: numbers() }));
    this.#readPairs = readPairs;
  }

  get texts(): number {
    return this.#texts.length;
  }

  get pairs(): number {
    const last = this.#keys.at(-1);
    return last === undefined ? 0 : last.first + last.count;
  }

  get resources(): number {
    return this.#resourcePairs.length;
  }

  get scopes(): number {
    return this.#scopes.length;
  }

  text(id: number): string {
    return this.#texts[id] ?? '';
  }

  pair(id: number): Attribute {
    const key = this.#keyOf(id);
    const { starts, pairs } = placesIn(key);
    return (pairs[id - key.first] ??= {
      key: key.key,
      value: decodeValue(new ByteReader(key.bytes, starts[id - key.first])),
    });
  }

  scopesOf(pair: number): number {
    const key = this.#keyOf(pair);
    return placesIn(key).scopes[pair - key.first]!;
  }

  pairsOf(key: string): Iterable<number> {
    const found = this.#find(key);
    return found === undefined
      ? []
      : Array.from({ length: found.count }, (_, index) => found.first + index);
  }

  pairsThatMayBe(key: string, text: string): Iterable<number> {
    const found = this.#find(key);
    const pairs: number[] = [];
    if (found !== undefined) {
      const bytes = Buffer.from(text);
      const reader = new ByteReader(found.bytes);
      for (let i = 0; i < found.count; i++) {
        reader.u8();
        if (skipValue(reader, bytes) !== false) {
          pairs.push(found.first + i);
        }
      }
    }
    return pairs;
  }

  keys(): Iterable<{ readonly key: string; readonly scopes: number }> {
    return this.#keys;
  }

  resource(id: number): readonly Attribute[] {
    return (this.#resources[id] ??= this.resourcePairs(id).map((pair) => this.pair(pair)));
  }

  resourcePairs(id: number): readonly number[] {
    return this.#resourcePairs[id]!;
  }

  scope(id: number): Scope {
    const { name, version, pairs } = this.#scopes[id]!;
    return (this.#scopeObjects[id] ??= {
      name,
      version,
      attributes: pairs.map((pair) => this.pair(pair)),
    });
  }

  scopePairs(id: number): readonly number[] {
    return this.#scopes[id]!.pairs;
  }

  #find(key: string): Key | undefined {
    this.#keyMap ??= new Map(this.#keys.map((entry) => [entry.key, entry]));
    return this.#keyMap.get(key);
  }

  get #keys(): readonly Key[] {
    return (this.#keyList ??= keysIn(this.#readPairs()));
  }

  #keyOf(pair: number): Key {
    const keys = this.#keys;
    let low = 0;
    let high = keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (keys[middle]!.first <= pair) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return keys[low]!;
  }
}

function keysIn(bytes: Uint8Array): Key[] {
  const reader = new ByteReader(bytes);
  const keys: Key[] = [];
  let first = 0;
  for (let count = reader.uvarint(); count > 0; count--) {
    const key: Key = {
      key: reader.utf8(),
      scopes: reader.u8(),
      first,
      count: reader.uvarint(),
      bytes: reader.block(),
      places: undefined,
    };
    keys.push(key);
    first += key.count;
  }
  return keys;
}

function placesIn(key: Key): NonNullable<Key['places']> {
  if (key.places === undefined) {
    const reader = new ByteReader(key.bytes);
    const scopes = new Uint8Array(key.count);
    const starts = new Uint32Array(key.count);
    for (let i = 0; i < key.count; i++) {
      scopes[i] = reader.u8();
      starts[i] = reader.position;
      skipValue(reader);
    }
    key.places = { starts, scopes, pairs: [] };
  }
  return key.places;
}
