import { asBuffer, textOf } from 'svc/query';
import { ProtoReader } from 'svc/store';

import type { Attribute, Scope } from '../../traceql/spans/span.ts';
import { ByteDictionary } from '../columns/byte-dictionary.ts';
import { type ScopeName, scopeBits, type SpanDictionary } from '../columns/columns.ts';
import { i32, u8, u32 } from '../columns/growable.ts';
import { type Losses, Shortened } from '../columns/shortened.ts';
import { textPairIn } from '../columns/text-pair.ts';
import type { TraceLimits } from './limits.ts';
import { cut, readerBehindLength, readKeyValue } from './otlp-values.ts';
import { scopeHead } from './scope-head.ts';

export interface ServerStamp {
  readonly device_id?: string | undefined;
  readonly edge_id?: string | undefined;
}

/**
 * Stamp of the sender; `kept` if the spans come from a store of ours, which stamped them before.
 */
export type Stamping = ServerStamp | 'kept';

const stamped: readonly (keyof ServerStamp)[] = ['device_id', 'edge_id'];
const undecoded = -2;
/** Number of a pair that cannot be kept, and of one without a value. */
export const unusable = -1;
export const valueless = -3;

interface ResourceEntry {
  readonly attributes: readonly Attribute[];
  readonly pairs: readonly number[];
}

interface ScopeEntry {
  readonly scope: Scope;
  readonly pairs: readonly number[];
}

/** The dictionary of a head: grows as spans come, and knows bytes that it has seen before. */
export class HeadDictionary implements SpanDictionary {
  readonly shortened = new Shortened();
  readonly #limits: TraceLimits;
  readonly #textBytes: ByteDictionary;
  readonly #texts: string[] = [];
  readonly #pairBytes: ByteDictionary;
  /** Numbers of pairs by number of their bytes. */
  readonly #pairByBytes: number[] = [];
  readonly #pairs: (Attribute | undefined)[] = [];
  readonly #pairScopes = u8();
  readonly #pairKeys = u32();
  /**
   * Start of a pair's text within the bytes of all pairs, and its length; length 0 if the pair has
   * no text.
   */
  readonly #textStarts = u32();
  readonly #textLengths = i32();
  readonly #keyBytes: ByteDictionary;
  readonly #keys: { readonly key: string; scopes: number; readonly pairs: number[] }[] = [];
  readonly #resources: ResourceEntry[] = [];
  readonly #resourceByBytes = new Map<string, number>();
  readonly #resourceBytes: ByteDictionary;
  readonly #scopes: ScopeEntry[] = [];
  readonly #scopeByBytes: number[] = [];
  readonly #scopeBytes: ByteDictionary;
  #textLength = 0;

  constructor(limits: TraceLimits, seed: number) {
    this.#limits = limits;
    this.#textBytes = new ByteDictionary(seed);
    this.#pairBytes = new ByteDictionary(seed);
    this.#keyBytes = new ByteDictionary(seed);
    this.#resourceBytes = new ByteDictionary(seed);
    this.#scopeBytes = new ByteDictionary(seed);
    this.textOfBytes(new Uint8Array(0), 0, 0);
  }

  /** About what the memory holds. */
  get bytes(): number {
    return (
      this.#textBytes.bytes +
      this.#pairBytes.bytes * 2 +
      this.#resourceBytes.bytes * 2 +
      this.#textLength * 2 +
      this.#pairs.length * 48
    );
  }

  get texts(): number {
    return this.#texts.length;
  }

  get pairs(): number {
    return this.#pairs.length;
  }

  get resources(): number {
    return this.#resources.length;
  }

  get scopes(): number {
    return this.#scopes.length;
  }

  text(id: number): string {
    return this.#texts[id]!;
  }

  pair(id: number): Attribute {
    return (this.#pairs[id] ??= {
      key: this.#keys[this.#pairKeys.data[id]!]!.key,
      value: { type: 'string', value: this.#textOfPair(id) },
    });
  }

  /** The number of a pair's key. */
  keyOf(pair: number): number {
    return this.#pairKeys.data[pair]!;
  }

  key(id: number): string {
    return this.#keys[id]!.key;
  }

  /** The bytes of a pair's text as they came; undefined where it has another value. */
  textBytesOf(pair: number): Uint8Array | undefined {
    const length = this.#textLengths.data[pair]!;
    const start = this.#textStarts.data[pair]!;
    return length < 0 ? undefined : this.#pairBytes.data.subarray(start, start + length);
  }

  scopesOf(pair: number): number {
    return this.#pairScopes.data[pair]!;
  }

  pairsOf(key: string): Iterable<number> {
    const bytes = Buffer.from(key);
    const id = this.#keyBytes.find(bytes, 0, bytes.length);
    return id < 0 ? [] : this.#keys[id]!.pairs;
  }

  pairsThatMayBe(key: string, text: string): Iterable<number> {
    const bytes = Buffer.from(text);
    return [...this.pairsOf(key)].filter((pair) => {
      const own = this.textBytesOf(pair);
      return own === undefined || (own.length === bytes.length && Buffer.compare(own, bytes) === 0);
    });
  }

  keys(): Iterable<{ readonly key: string; readonly scopes: number }> {
    return this.#keys;
  }

  resource(id: number): readonly Attribute[] {
    return this.#resources[id]!.attributes;
  }

  resourcePairs(id: number): readonly number[] {
    return this.#resources[id]!.pairs;
  }

  scope(id: number): Scope {
    return this.#scopes[id]!.scope;
  }

  scopePairs(id: number): readonly number[] {
    return this.#scopes[id]!.pairs;
  }

  textOfBytes(bytes: Uint8Array, start: number, end: number): number {
    const id = this.#textBytes.intern(bytes, start, end);
    if (id === this.#texts.length) {
      const sent = textOf(asBuffer(bytes), start, end);
      const text = cut(sent, this.#limits.nameLength);
      this.#texts.push(text);
      this.#note('text', id, sent.length > text.length);
      this.#textLength += text.length;
    }
    return id;
  }

  /**
   * Returns the pair of a length-prefixed KeyValue; `unusable` without a proper key, `valueless`
   * without a value.
   */
  pairOfBytes(bytes: Uint8Array, start: number, end: number, scope: ScopeName): number {
    const known = this.#pairBytes.intern(bytes, start, end);
    let pair = this.#pairByBytes[known] ?? undecoded;
    if (pair === undecoded) {
      pair =
        this.#textPair(bytes, start, end, this.#pairBytes.startOf(known)) ??
        this.#decoded(readerBehindLength(bytes, start, end));
      this.#pairByBytes[known] = pair;
    }
    if (pair >= 0) {
      this.#mark(pair, scopeBits[scope]);
    }
    return pair;
  }

  /**
   * Returns the resource of a body with the server's knowledge of its sender, which overrides the
   * sender's claims.
   */
  resourceOfBytes(bytes: Uint8Array, start: number, end: number, stamping: Stamping): number {
    const stamp = stamping === 'kept' ? {} : stamping;
    const key = `${this.#resourceBytes.intern(bytes, start, end)}|${stamp.device_id ?? ''}|${stamp.edge_id ?? ''}`;
    const known = this.#resourceByBytes.get(key);
    if (known !== undefined) {
      return known;
    }
    const isOurs = (name: string): boolean =>
      stamping !== 'kept' && (stamped as readonly string[]).includes(name);
    const losses = { count: 0 };
    const sent = this.#pairsIn(new ProtoReader(bytes, start, end), 1, 'resource', losses, isOurs);
    const ours = stamped.flatMap((name) =>
      stamp[name] === undefined
        ? []
        : [this.#add({ key: name, value: { type: 'string', value: stamp[name] } })],
    );
    const pairs = [...sent, ...ours];
    pairs.forEach((pair) => this.#mark(pair, scopeBits.resource));
    this.#resources.push({ pairs, attributes: pairs.map((pair) => this.pair(pair)) });
    this.#resourceByBytes.set(key, this.#resources.length - 1);
    this.#note('resource', this.#resources.length - 1, losses.count > 0);
    return this.#resources.length - 1;
  }

  scopeOfBytes(bytes: Uint8Array, start: number, end: number): number {
    const known = this.#scopeBytes.intern(bytes, start, end);
    const found = this.#scopeByBytes[known];
    if (found !== undefined) {
      return found;
    }
    const sent = scopeHead(bytes, start, end);
    const [name, version] = [
      cut(sent.name, this.#limits.nameLength),
      cut(sent.version, this.#limits.nameLength),
    ];
    const losses = { count: sent.name.length - name.length + sent.version.length - version.length };
    const pairs = this.#pairsIn(new ProtoReader(bytes, start, end), 3, 'instrumentation', losses);
    this.#scopes.push({
      pairs,
      scope: { name, version, attributes: pairs.map((pair) => this.pair(pair)) },
    });
    this.#scopeByBytes[known] = this.#scopes.length - 1;
    this.#note('scope', this.#scopes.length - 1, losses.count > 0);
    return this.#scopes.length - 1;
  }

  #pairsIn(
    reader: ProtoReader,
    wanted: number,
    scope: ScopeName,
    losses: Losses,
    isRefused: (key: string) => boolean = () => false,
  ): number[] {
    const pairs: number[] = [];
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field !== wanted || pairs.length >= this.#limits.attributes) {
        losses.count += field === wanted ? 1 : 0;
        reader.skip();
        continue;
      }
      const bytes = reader.bytes();
      const entry = readKeyValue(new ProtoReader(bytes), this.#limits, losses);
      if (entry !== undefined && !isRefused(entry.key)) {
        const pair = this.#add(entry);
        this.#mark(pair, scopeBits[scope]);
        pairs.push(pair);
      }
    }
    return pairs;
  }

  /**
   * Stores a pair with a text value, in the form that senders write: only the position of the text
   * is stored, and it is decoded on demand. `at` is the position of these bytes among those of all
   * pairs.
   */
  #textPair(bytes: Uint8Array, start: number, end: number, at: number): number | undefined {
    const found = textPairIn(bytes, start, end);
    if (
      found === undefined ||
      found.keyEnd - found.keyAt > this.#limits.keyLength ||
      found.textLength > this.#limits.valueLength
    ) {
      return undefined;
    }
    const { keyAt, keyEnd, textLength } = found;
    return this.#push(
      this.#keyOfBytes(bytes, keyAt, keyEnd),
      undefined,
      at + (keyEnd + 4 - start),
      textLength,
    );
  }

  #decoded(reader: ProtoReader): number {
    const losses = { count: 0 };
    const entry = readKeyValue(reader, this.#limits, losses);
    const pair = entry !== undefined ? this.#add(entry) : losses.count > 0 ? unusable : valueless;
    this.#note('pair', pair, losses.count > 0);
    return pair;
  }

  #note(what: Parameters<Shortened['add']>[0], id: number, isShort: boolean): void {
    if (isShort) {
      this.shortened.add(what, id);
    }
  }

  #add(entry: Attribute): number {
    const bytes = Buffer.from(entry.key);
    return this.#push(this.#keyOfBytes(bytes, 0, bytes.length), entry, 0, -1);
  }

  #keyOfBytes(bytes: Uint8Array, start: number, end: number): number {
    const key = this.#keyBytes.intern(bytes, start, end);
    if (key === this.#keys.length) {
      this.#keys.push({ key: textOf(asBuffer(bytes), start, end), scopes: 0, pairs: [] });
    }
    return key;
  }

  #push(key: number, entry: Attribute | undefined, textStart: number, textLength: number): number {
    const pair = this.#pairs.push(entry) - 1;
    this.#pairScopes.push(0);
    this.#pairKeys.push(key);
    this.#textStarts.push(textStart);
    this.#textLengths.push(textLength);
    this.#keys[key]!.pairs.push(pair);
    return pair;
  }

  #textOfPair(pair: number): string {
    const start = this.#textStarts.data[pair]!;
    return textOf(asBuffer(this.#pairBytes.data), start, start + this.#textLengths.data[pair]!);
  }

  #mark(pair: number, scope: number): void {
    const scopes = this.#pairScopes.data;
    if ((scopes[pair]! & scope) === 0) {
      scopes[pair]! |= scope;
      this.#keys[this.#pairKeys.data[pair]!]!.scopes |= scope;
    }
  }
}
