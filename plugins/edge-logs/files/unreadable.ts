import { type Logger, messageOf } from 'svc/sdk';

/** Files that should be read and cannot be; each is complained of once. */
export class Unreadable {
  readonly #paths = new Set<string>();
  readonly #log: Logger;
  readonly #most: number;

  constructor(log: Logger, most: number) {
    this.#log = log;
    this.#most = most;
  }

  get sentence(): string | undefined {
    const [first, ...more] = this.#paths;
    return first === undefined
      ? undefined
      : `${first}${more.length === 0 ? '' : ` and ${more.length} more`} cannot be read`;
  }

  add(path: string, error: unknown): void {
    if (!this.#paths.has(path) && this.#paths.size < this.#most) {
      this.#paths.add(path);
      this.#log.warn(
        { event: 'edge-logs.open_failed', path, cause: messageOf(error) },
        'opening a log file failed; retrying at each scan',
      );
    }
  }

  remove(path: string): void {
    this.#paths.delete(path);
  }

  /** Drops those that are no longer found. */
  keep(found: ReadonlySet<string>): void {
    [...this.#paths].filter((path) => !found.has(path)).forEach((path) => this.#paths.delete(path));
  }
}
