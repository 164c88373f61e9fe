import { connect, type Socket } from 'node:net';

/** A connection on which the test decides about each byte. */
export interface Raw {
  readonly socket: Socket;
  send(text: string): void;
  /** Everything received until the other side ends, or until `done` is content. */
  read(done?: (text: string) => boolean, deadlineMs?: number): Promise<string>;
}

export async function openRaw(port: number): Promise<Raw> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => socket.destroy()); // A reset is one of the ends that these tests look for.
  return {
    socket,
    send: (text) => void socket.write(text),
    read: (done = () => false, deadlineMs = 5_000) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (done(received) || socket.destroyed || socket.readableEnded) {
            clearInterval(poll);
            clearTimeout(late);
            resolve(received);
          }
        };
        const poll = setInterval(look, 5);
        const late = setTimeout(() => {
          clearInterval(poll);
          reject(new Error(`no end within ${deadlineMs} ms; got: ${received.slice(0, 300)}`));
        }, deadlineMs);
      }),
  };
}

export async function exchangeRaw(
  port: number,
  text: string,
  deadlineMs?: number,
): Promise<string> {
  const raw = await openRaw(port);
  raw.send(text);
  try {
    return await raw.read(undefined, deadlineMs);
  } finally {
    raw.socket.destroy();
  }
}
