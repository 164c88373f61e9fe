import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Keys that enrolment gave to one simulated host. */
export interface HostKeys {
  readonly number: number;
  readonly edge_id: number;
  readonly access_key: string;
  readonly secret_key: string;
  readonly tunnel_path: string;
}

/** The keys of the hosts of one seed at one manager: with the same folder the same hosts come again, and no token is spent. */
export class KeyFile {
  readonly #file: string;
  readonly #keys = new Map<number, HostKeys>();

  constructor(folder: string, seed: string, manager: URL) {
    const own = join(folder, 'edge-sim', `seed-${encodeURIComponent(seed)}`);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    this.#file = join(own, `${encodeURIComponent(manager.host)}.jsonl`);
    const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : '';
    for (const line of text.split('\n')) {
      const keys = read(line);
      if (keys) {
        this.#keys.set(keys.number, keys);
      }
    }
  }

  get(number: number): HostKeys | undefined {
    return this.#keys.get(number);
  }

  /** The latest line of a host counts. */
  put(keys: HostKeys): void {
    this.#keys.set(keys.number, keys);
    appendFileSync(this.#file, `${JSON.stringify(keys)}\n`, { mode: 0o600 });
  }

  forget(number: number): void {
    this.#keys.delete(number);
  }
}

/** Parses a line; undefined if a kill truncated it. */
function read(line: string): HostKeys | undefined {
  try {
    const keys = JSON.parse(line) as Partial<HostKeys>;
    return typeof keys.number === 'number' && typeof keys.secret_key === 'string'
      ? (keys as HostKeys)
      : undefined;
  } catch {
    return undefined;
  }
}
