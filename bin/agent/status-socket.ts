import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

import { messageOf, type SvcError } from '../../core/sdk/index.ts';
import { errors } from './errors.ts';

const answerMs = 3_000;
const mostBytes = 4 * 1024 * 1024;
/** Max length of a socket's path in the kernel. */
const longestPath = 107;

/**
 * Socket in the data folder of an edge: its listener owns the folder, and reports its status to
 * whoever connects.
 */
export interface EdgeDoor {
  close(): Promise<void>;
}

/** Takes the folder; throws conflict while a living process has it. Only the folder's owner can connect. */
export async function openEdgeDoor(
  dataDir: string,
  tell: () => Promise<object>,
): Promise<EdgeDoor> {
  const path = doorOf(dataDir);
  await clearLeftover(path, dataDir);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.setTimeout(answerMs, () => socket.destroy());
    void tell().then(
      (status) => socket.end(JSON.stringify(status)),
      (error: unknown) => socket.end(JSON.stringify({ error: messageOf(error) })),
    );
  });
  await listen(server, path, dataDir);
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        rmSync(path, { force: true });
      }),
  };
}

/** Returns the status of the edge of a data folder; undefined if none runs there. */
export function askEdge(dataDir: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connect(doorOf(dataDir));
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(answerMs, () => socket.destroy(errors.silent({ dataDir })));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > mostBytes) {
        socket.destroy(errors.answer_too_long({ dataDir }));
      }
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') {
        resolve(undefined);
      } else {
        reject(error);
      }
    });
    socket.on('end', () => {
      try {
        resolve(JSON.parse(text));
      } catch (cause) {
        reject(errors.stopped_midway({ dataDir }, { cause }));
      }
    });
  });
}

function doorOf(dataDir: string): string {
  const path = join(dataDir, 'edge.sock');
  if (Buffer.byteLength(path) > longestPath) {
    throw errors.path_too_long({ dataDir, longestPath: longestPath - 10 });
  }
  return path;
}

/** A socket that nobody answers at was left by a process that was killed. */
async function clearLeftover(path: string, dataDir: string): Promise<void> {
  const before = lstatSync(path, { throwIfNoEntry: false });
  if (!before) {
    return;
  }
  if (await answers(path)) {
    throw taken(dataDir);
  }
  // Unless another start has cleared it and listens by now.
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === before.ino) {
    rmSync(path, { force: true });
  }
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const listen = (server: Server, path: string, dataDir: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? taken(dataDir)
          : errors.folder_unwritable({ dataDir, cause: messageOf(error) }),
      ),
    );
    server.listen(path, resolve);
  });

const taken = (dataDir: string): SvcError => errors.folder_in_use({ dataDir });
