import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isMainThread, type MessagePort, parentPort, Worker } from 'node:worker_threads';

import { isSvcError, messageOf } from 'svc/sdk';

import { PackTables, type TablesData } from '../tables/pack-tables.ts';
import { carriedRows, type TablesAnswer, type TablesQuestion } from '../tables/tables-wire.ts';
import { frame, frameReader } from '../wire/frames.ts';
import { channelFd } from '../wire/wire.ts';

/** The host is trusted; this only keeps a broken frame from being taken for a length. */
const maxFrameBytes = 64 * 1024 * 1024;
const heapMb = 64;

/** Answers for the tables of one pack: the statements run in a thread, so that this process ends with its host in the middle of one. */
export function serveTables(): void {
  if (isMainThread) {
    keepWatch();
  } else {
    answer(parentPort!);
  }
}

function keepWatch(): void {
  const channel = new Socket({ fd: channelFd });
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  // A statement may have no end, and no other signal ends a thread that is in one.
  channel.on('close', end);
  channel.on('error', end);
  const worker = new Worker(readFileSync(process.argv.at(-1)!, 'utf8'), {
    eval: true,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  channel.on('data', (chunk: Buffer) => worker.postMessage(chunk));
  worker.on('message', (framed: Uint8Array) => channel.write(framed));
  worker.on('error', (error) => {
    process.stderr.write(`${messageOf(error)}\n`);
    end();
  });
}

function answer(port: MessagePort): void {
  let tables: PackTables | undefined;
  const read = frameReader(
    maxFrameBytes,
    (body) => {
      const { method, input } = JSON.parse(body.toString('utf8')) as TablesQuestion;
      port.postMessage(frame(Buffer.from(JSON.stringify(answered(method, input)))));
    },
    () => process.exit(76),
  );
  port.on('message', (chunk: Uint8Array) => read(Buffer.from(chunk)));

  const answered = (method: TablesQuestion['method'], input: unknown): TablesAnswer => {
    try {
      switch (method) {
        case 'open':
          tables = new PackTables(input as TablesData);
          return {};
        case 'all':
          return { value: carriedRows(tables!.all(input)) };
        case 'run':
          return { value: tables!.run(input) };
        case 'batch':
          tables!.batch(input);
          return {};
      }
    } catch (error) {
      return {
        error: { code: isSvcError(error) ? error.code : 'internal', message: messageOf(error) },
      };
    }
  };
}
