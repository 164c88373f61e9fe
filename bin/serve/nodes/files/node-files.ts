import type { ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

import { type Logger, messageOf } from '../../../../core/sdk/index.ts';
import { Follower } from './follower.ts';
import { FileOffer } from './offer.ts';

const everyMs = 10_000;
/** Pause before an owner that cannot be asked yet is tried again. */
const awaitedMs = 500;

interface NodeFilesOptions {
  readonly dataDir: string;
  /** Connection to the owner of the data. */
  readonly line: {
    readonly isUp: boolean;
    readonly ask: (path: string) => Promise<Readable>;
  };
  readonly log: Logger;
}

/** Files that all nodes have: offered by the owner of the data, and copied by the others. */
export class NodeFiles {
  readonly #options: NodeFilesOptions;
  readonly #offer: FileOffer;
  readonly #follower: Follower;

  constructor(options: NodeFilesOptions) {
    const { dataDir, line } = options;
    this.#options = options;
    this.#offer = new FileOffer(dataDir);
    this.#follower = new Follower({ dataDir, ask: (path) => line.ask(path) });
  }

  /** Says how far this node is behind the owner; empty if it is not. */
  get report(): readonly string[] {
    const { behind } = this.#follower;
    if (behind === undefined) {
      return ['the files of the owner have not been compared yet'];
    }
    return behind === 0 ? [] : [`${behind} files behind the owner`];
  }

  /** Copies what differs until `signal` aborts; after that, nothing is changed any more. */
  async follow(signal: AbortSignal): Promise<void> {
    const { line, log } = this.#options;
    let isTold = false;
    while (!signal.aborted) {
      const { isUp } = line;
      try {
        if (isUp) {
          await this.#follower.look(signal);
          isTold = false;
        }
      } catch (error) {
        if (!isTold && !signal.aborted) {
          isTold = true;
          log.warn(
            { event: 'node.files_behind', cause: messageOf(error) },
            'failed to copy files from the owner of the data; trying again',
          );
        }
      }
      await pause(isUp ? everyMs : awaitedMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Answers a node that follows; returns false for what is no question about files. */
  answer(path: string, stream: ServerHttp2Stream): boolean {
    if (!/^\/files?(?:\?|$)/.test(path)) {
      return false;
    }
    void this.#send(path, stream).catch(() => stream.destroy());
    return true;
  }

  async #send(path: string, stream: ServerHttp2Stream): Promise<void> {
    const answer = await this.#offer.answer(path);
    if (stream.destroyed) {
      return;
    }
    stream.respond({ ':status': answer === undefined ? 404 : 200 });
    await pipeline(typeof answer === 'string' ? Readable.from([answer]) : (answer ?? []), stream);
  }
}
