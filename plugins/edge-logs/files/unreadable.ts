import { type Logger, messageOf } from 'svc/sdk';

import { readingRemedy, userName } from './reading-remedy.ts';

/** Files that should be read and cannot be, because of the machine or of the policy of its owner; each is complained of once. */
export class Unreadable {
  readonly #paths = new Set<string>();
  readonly #forbidden = new Set<string>();
  readonly #log: Logger;
  readonly #most: number;

  constructor(log: Logger, most: number) {
    this.#log = log;
    this.#most = most;
  }

  /** Sentence about files that are not read, with the remedy. */
  get sentence(): string | undefined {
    const [unread] = this.#paths;
    const [refused] = this.#forbidden;
    const sentences = [
      ...(unread === undefined
        ? []
        : [
            `${named(this.#paths)} cannot be read by the user ${userName()}: ${readingRemedy(unread)}`,
          ]),
      ...(refused === undefined
        ? []
        : [
            `${named(this.#forbidden)} cannot be read because this machine's policy does not allow it; the machine's owner can add ${refused} to "logs.paths" in policy.yaml`,
          ]),
    ];
    return sentences.length === 0 ? undefined : sentences.join('; ');
  }

  add(path: string, error: unknown): void {
    if (!this.#paths.has(path) && this.#paths.size < this.#most) {
      this.#paths.add(path);
      this.#log.warn(
        { event: 'edge-logs.open_failed', path, cause: messageOf(error) },
        'failed to open a log file; retrying at each scan',
      );
    }
  }

  remove(path: string): void {
    this.#paths.delete(path);
  }

  /** Takes note of a file that the policy forbids; `keep` says when it is no longer one. */
  forbid(path: string): void {
    if (!this.#forbidden.has(path) && this.#forbidden.size < this.#most) {
      this.#forbidden.add(path);
      this.#log.info({ event: 'edge-logs.forbidden', path }, 'policy forbids reading a log file');
    }
  }

  /** Drops those that are no longer found, and those that the policy allows by now. */
  keep(found: ReadonlySet<string>, forbidden: ReadonlySet<string>): void {
    [...this.#paths].filter((path) => !found.has(path)).forEach((path) => this.#paths.delete(path));
    [...this.#forbidden]
      .filter((path) => !forbidden.has(path))
      .forEach((path) => this.#forbidden.delete(path));
  }
}

function named(paths: ReadonlySet<string>): string {
  const [first] = paths;
  return paths.size === 1 ? first! : `${first} and ${paths.size - 1} more`;
}
