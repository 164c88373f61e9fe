import { compress, decompress } from 'svc/store';

/**
 * Rates of the processor of an idle machine when the goals were set: parsing JSON push bodies of
 * 500 log lines, and packing and unpacking 256 KiB of log lines with brotli at its fastest; all in
 * MB per second of CPU time.
 */
const onIdleBox = { parse: 490, pack: 390, unpack: 450 } as const;
type Load = keyof typeof onIdleBox;

const rounds: Readonly<Record<Load, number>> = { parse: 64, pack: 12, unpack: 20 };

/**
 * A fixed load of what no store can do without, run between the parts of a bench. Neighbours on the same cores make every
 * second of processor time worth less; what the same load takes here and took there tells by how much.
 */
export class ReferenceLoad {
  readonly #bytes: Record<Load, number> = { parse: 0, pack: 0, unpack: 0 };
  readonly #seconds: Record<Load, number> = { parse: 0, pack: 0, unpack: 0 };

  /** `body` is JSON; `raw` is about a chunk of what the store packs. */
  run(body: Buffer, raw: Uint8Array): void {
    const packed = compress(raw);
    this.#time('parse', body.length, () => JSON.parse(body.toString('utf8')));
    this.#time('pack', raw.length, () => compress(raw));
    this.#time('unpack', raw.length, () => decompress(packed.codec, packed.bytes, raw.length));
  }

  #time(load: Load, bytes: number, work: () => unknown): void {
    const began = process.cpuUsage();
    for (let i = 0; i < rounds[load]; i++) {
      work();
    }
    this.#seconds[load] += cpuSeconds(began);
    this.#bytes[load] += bytes * rounds[load];
  }

  /** MB a second of processor time, here and now. */
  rate(load: Load): number {
    return this.#bytes[load] / 1e6 / this.#seconds[load];
  }

  /**
   * Returns the factor that makes a figure measured here comparable with a goal for an idle
   * machine.
   */
  factor(load: Load): number {
    return onIdleBox[load] / this.rate(load);
  }

  /**
   * Row of the output: measured and idle rates, so that readers of a calibrated figure can undo it.
   */
  get row(): Readonly<Record<string, string | number>> {
    const line = (load: Load): string =>
      `${Math.round(this.rate(load))} here, ${onIdleBox[load]} on the idle box`;
    return {
      'MB/cpu-s': 'reference load',
      'JSON.parse of push bodies': line('parse'),
      'brotli packing': line('pack'),
      'brotli unpacking': line('unpack'),
    };
  }
}

export function cpuSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
