import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import type { RunOptions, RunResult } from 'svc/contracts/programs';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import { forgetProgram, noteProgram, signalGroup } from './program-note.ts';

export interface RunParts {
  readonly label: string;
  /** Absolute path of the executable. */
  readonly file: string;
  readonly args: readonly string[];
  readonly options: RunOptions;
  readonly cwd: string;
  /** Returns the file that records the process, by its pid. */
  readonly note: (pid: number) => string;
  /** Signals that end it besides its own. */
  readonly ends: readonly AbortSignal[];
}

const maxErrorBytes = 8 * 1024;
const usualPipes = ['pipe', 'pipe', 'pipe'] as const;
const morePipes = ['pipe', 'pipe'] as const;
/** A child of its own may hold the pipes open. */
const lastWordsMs = 300;

/**
 * Runs a program once and collects its output, in a process group that is killed if it takes too
 * long, prints too much, or is aborted.
 */
export async function runOnce(parts: RunParts): Promise<RunResult> {
  const { label, file, args, options, cwd, ends } = parts;
  const stops = options.signal === undefined ? ends : [...ends, options.signal];
  if (stops.some((signal) => signal.aborted)) {
    throw errors.stopped_early({ label });
  }
  const child = spawn(file, [...args], {
    cwd,
    env: { ...options.env },
    stdio: [...usualPipes, ...(options.converse === undefined ? [] : morePipes)],
    detached: true,
  });
  return await resultOf(child, parts, stops);
}

function resultOf(
  child: ChildProcessWithoutNullStreams,
  { label, options, note }: RunParts,
  stops: readonly AbortSignal[],
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const { pid } = child;
    let cut: RunResult['cut'];
    const kill = (): void => {
      if (pid !== undefined) {
        signalGroup(pid, 'SIGKILL');
      }
    };
    const cutOff = (by: RunResult['cut']): void => {
      cut ??= by;
      kill();
    };
    const deadline = setTimeout(() => cutOff('time'), options.timeoutMs);
    stops.forEach((signal) => signal.addEventListener('abort', kill, { once: true }));
    const settle = (): void => {
      clearTimeout(deadline);
      stops.forEach((signal) => signal.removeEventListener('abort', kill));
      if (pid !== undefined) {
        forgetProgram(note(pid));
      }
    };
    // A program that ends without reading all of it says why by its exit code.
    child.stdin.on('error', () => undefined).end(options.input);
    const output = gathered(child.stdout, options.maxBytes, () => cutOff('size'));
    const complaints = gathered(child.stderr, maxErrorBytes, () => undefined);
    child.once('error', (error) => {
      settle();
      reject(errors.not_started({ label, cause: messageOf(error) }, { cause: error }));
    });
    child.once('exit', () => {
      // Remaining child processes.
      kill();
      setTimeout(() => {
        child.stdio.forEach((pipe) => pipe?.destroy());
      }, lastWordsMs).unref();
    });
    child.once('close', (code) => {
      settle();
      if (stops.some((signal) => signal.aborted)) {
        reject(errors.stopped_early({ label }));
      } else {
        resolve({ code, output: output(), errors: complaints().toString('utf8'), cut });
      }
    });
    if (pid !== undefined) {
      noteProgram(note(pid), pid);
      options.converse?.(...conversationWith(child));
    }
  });
}

/** Collects the first `max` bytes of a stream, and calls `onMore` if there are more. */
function gathered(stream: Readable, max: number, onMore: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    const room = max - bytes;
    if (room > 0) {
      chunks.push(chunk.subarray(0, room));
      bytes += Math.min(room, chunk.length);
    }
    if (chunk.length > room) {
      onMore();
    }
  });
  return () => Buffer.concat(chunks);
}

/** Returns the pipes by which a program is spoken with; that it breaks one off is known by its end. */
function conversationWith({ stdio }: ChildProcessWithoutNullStreams): [Writable, Readable] {
  const [, , , to, from] = stdio as unknown as readonly [null, null, null, Writable, Readable];
  to.on('error', () => undefined);
  from.on('error', () => undefined);
  return [to, from];
}
