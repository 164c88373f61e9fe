import type { WebSocket } from 'ws';

const mostMissed = 3;
const pingsPerSecond = 20;

/** Pings the client and cuts it after three unanswered ones, or when it floods us with its own. */
export function keepAlive(ws: WebSocket, everyMs: number): () => void {
  let missed = 0;
  let pings = 0;
  const beat = setInterval(() => {
    if (missed >= mostMissed) {
      ws.terminate();
      return;
    }
    missed += 1;
    if (ws.readyState === ws.OPEN) {
      ws.ping();
    }
  }, everyMs);
  const count = setInterval(() => (pings = 0), 1_000);
  beat.unref();
  count.unref();
  ws.on('pong', () => (missed = 0));
  ws.on('message', () => (missed = 0));
  ws.on('ping', () => {
    pings += 1;
    if (pings > pingsPerSecond) {
      ws.terminate();
    }
  });
  return () => {
    clearInterval(beat);
    clearInterval(count);
  };
}
