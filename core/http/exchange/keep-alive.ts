import type { WebSocket } from 'ws';

const maxMissed = 3;
const pingsPerSecond = 20;
/** Sockets are pinged in so many groups, one after the other, by one timer for all of them. */
const groups = 10;

interface Watched {
  readonly ws: WebSocket;
  missed: number;
  pings: number;
}

/** Pings clients and cuts those that leave three unanswered, or that flood us with their own. */
export class KeepAlive {
  readonly #everyMs: number;
  readonly #groups: readonly Set<Watched>[] = Array.from(
    { length: groups },
    () => new Set<Watched>(),
  );
  #size = 0;
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /**
   * Watches a socket until the returned function is called. `silent`: the protocol of the route
   * pings itself, so only floods are cut.
   */
  watch(ws: WebSocket, silent: boolean): () => void {
    const watched: Watched = { ws, missed: 0, pings: 0 };
    ws.on('ping', () => {
      watched.pings += 1;
      if (watched.pings > pingsPerSecond * Math.max(1, this.#everyMs / 1_000)) {
        ws.terminate();
      }
    });
    if (!silent) {
      ws.on('pong', () => (watched.missed = 0));
      ws.on('message', () => (watched.missed = 0));
    } else {
      watched.missed = -Infinity;
    }
    const group = this.#groups[(this.#turn + this.#size) % groups]!;
    group.add(watched);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#beat(), this.#everyMs / groups).unref();
    return () => {
      group.delete(watched);
      this.#size -= 1;
      if (this.#size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    };
  }

  #beat(): void {
    this.#turn = (this.#turn + 1) % groups;
    for (const watched of this.#groups[this.#turn]!) {
      const { ws } = watched;
      watched.pings = 0;
      if (watched.missed >= maxMissed) {
        ws.terminate();
      } else if (watched.missed >= 0 && !ws.isPaused) {
        watched.missed += 1;
        if (ws.readyState === ws.OPEN) {
          ws.ping();
        }
      }
    }
  }
}
