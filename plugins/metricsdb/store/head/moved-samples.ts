import { type LateSamples } from '../columns/late-samples.ts';
import { Samples } from '../columns/samples.ts';
import { type ChunkStore } from './chunk-store.ts';

/** Samples that are moving from the head to a block, by slot: they stay readable until released. */
export class MovedSamples {
  readonly boundary: number;
  readonly #chunks: ChunkStore;
  readonly #late: LateSamples;
  readonly #has: Uint8Array;
  readonly #chains: Uint32Array;
  readonly #lists: Int32Array;
  readonly #free: () => void;
  readonly #rest = new Samples();

  /**
   * Takes everything before `boundary`, of slots below `size`; what is stored in `chunks` from now
   * on stays.
   */
  constructor(boundary: number, size: number, chunks: ChunkStore, late: LateSamples) {
    this.boundary = boundary;
    this.#chunks = chunks;
    this.#late = late;
    this.#free = chunks.seal();
    this.#has = new Uint8Array(size);
    this.#chains = new Uint32Array(size);
    this.#lists = new Int32Array(size);
  }

  /** Takes a chain and a list over and appends all they hold, in no order. */
  take(slot: number, chain: number, list: number, into: Samples): void {
    this.#has[slot] = 1;
    this.#chains[slot] = chain;
    this.#lists[slot] = list;
    this.#chunks.readChain(chain, -Infinity, into);
    this.#late.read(list, Infinity, into);
  }

  /** Appends the samples that left, those later than `mint` and some before. */
  read(slot: number, mint: number, into: Samples): void {
    if (this.#has[slot] !== 1) {
      return;
    }
    const { boundary } = this;
    const rest = this.#rest;
    this.#chunks.readChain(this.#chains[slot]!, mint, rest.clear());
    this.#late.read(this.#lists[slot]!, boundary, rest);
    for (let i = 0; i < rest.length; i++) {
      if (rest.times[i]! < boundary) {
        into.push(rest.times[i]!, rest.values[i]!, rest.stale[i] === 1);
      }
    }
  }

  each(visit: (slot: number, chain: number, list: number) => void): void {
    this.#has.forEach(
      (is, slot) => is === 1 && visit(slot, this.#chains[slot]!, this.#lists[slot]!),
    );
  }

  /** Frees it all. */
  release(): void {
    this.each((_slot, _chain, list) => this.#late.drop(list));
    this.#free();
  }
}
