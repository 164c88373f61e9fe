import { spawn } from 'node:child_process';

import type { RunOptions, RunResult } from 'svc/contracts/programs';
import { messageOf, type SvcError } from 'svc/sdk';

import { errors as programsErrors } from './errors.ts';
import { forgetProgram, noteProgram, signalGroup } from './program-note.ts';

export interface RunParts {
  readonly label: string;
  /** Absolute path of the executable. */
  readonly file: string;
  readonly args: readonly string[];
  readonly options: RunOptions;
  readonly cwd: string;
  /** File that says which process it is, by its number. */
  readonly note: (pid: number) => string;
  /** What ends it besides a signal of its own. */
  readonly ends: readonly AbortSignal[];
}

const mostErrorBytes = 8 * 1024;
/** A child of its own may hold the pipes open. */
const lastWordsMs = 300;

/** Runs a program once and collects what it prints, in a group of its own that is killed when it takes too long, prints too much, or is not wanted any more. */
export function runOnce({
  label,
  file,
  args,
  options,
  cwd,
  note,
  ends,
}: RunParts): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const stops = options.signal === undefined ? ends : [...ends, options.signal];
    const unwanted = () => programsErrors.stopped_early({ label });
    if (stops.some((signal) => signal.aborted)) {
      reject(unwanted());
      return;
    }
    const output = { chunks: [] as Buffer[], bytes: 0 };
    const errors = { chunks: [] as Buffer[], bytes: 0 };
    let cut: RunResult['cut'];
    const child = spawn(file, [...args], {
      cwd,
      env: { ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const { pid } = child;
    const kill = (): void => {
      if (pid !== undefined) {
        signalGroup(pid, 'SIGKILL');
      }
    };
    const deadline = setTimeout(() => {
      cut ??= 'time';
      kill();
    }, options.timeoutMs);
    stops.forEach((signal) => signal.addEventListener('abort', kill, { once: true }));
    const settle = (): void => {
      clearTimeout(deadline);
      stops.forEach((signal) => signal.removeEventListener('abort', kill));
      if (pid !== undefined) {
        forgetProgram(note(pid));
      }
    };
    // One that ends without reading all of it says why by its code.
    child.stdin.on('error', () => undefined).end(options.input);
    child.stdout.on('data', (chunk: Buffer) => {
      if (take(output, chunk, options.maxBytes) && cut === undefined) {
        cut = 'size';
        kill();
      }
    });
    child.stderr.on('data', (chunk: Buffer) => void take(errors, chunk, mostErrorBytes));
    child.once('error', (error) => {
      settle();
      reject(programsErrors.not_started({ label, cause: messageOf(error) }, { cause: error }));
    });
    child.once('exit', () => {
      // What it has left behind.
      kill();
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, lastWordsMs).unref();
    });
    child.once('close', (code) => {
      settle();
      if (stops.some((signal) => signal.aborted)) {
        reject(unwanted());
      } else {
        resolve({
          code,
          output: Buffer.concat(output.chunks),
          errors: Buffer.concat(errors.chunks).toString('utf8'),
          cut,
        });
      }
    });
    if (pid !== undefined) {
      noteProgram(note(pid), pid);
    }
  });
}

/** True when there was more than may be kept. */
function take(kept: { chunks: Buffer[]; bytes: number }, chunk: Buffer, most: number): boolean {
  const room = most - kept.bytes;
  if (room > 0) {
    kept.chunks.push(chunk.subarray(0, room));
  }
  kept.bytes += Math.min(Math.max(room, 0), chunk.length);
  return chunk.length > room;
}
