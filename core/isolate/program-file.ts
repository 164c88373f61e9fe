import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Logger, messageOf } from '../sdk/index.ts';

/** Enough to know a process again: numbers of processes are given anew. */
interface Note {
  readonly pid: number;
  /** When it was started, in ticks since the machine was. */
  readonly started: string;
  readonly command: string;
}

const graceMs = 10_000;
const lookMs = 50;

/** Writes down that this process is ours. A system that does not tell about processes gets no note. */
export function noteProgram(file: string, pid: number): void {
  const identity = identityOf(pid);
  if (identity !== undefined) {
    writeFileSync(`${file}.new`, JSON.stringify({ pid, ...identity } satisfies Note), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

export const forgetProgram = (file: string): void => rmSync(file, { force: true });

/** Ends the process that the note speaks of, when it still is that one, and removes the note. */
export async function endLeftover(file: string, log: Logger): Promise<void> {
  const note = readNote(file);
  if (note !== undefined && isSame(note)) {
    log.warn({ pid: note.pid }, 'a program that an earlier run has left behind is ended');
    signalGroup(note.pid, 'SIGTERM');
    await gone(note);
    if (isThere(note)) {
      signalGroup(note.pid, 'SIGKILL');
      await gone(note);
    }
  }
  forgetProgram(file);
}

/** A program leads a group of its own, so that its own children end with it. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
      throw error;
    }
  }
}

const isSame = ({ pid, started, command }: Note): boolean => {
  const identity = identityOf(pid);
  return identity?.started === started && identity.command === command;
};

/** A process that is ending has lost its command line already, but not yet its sockets and files. */
const isThere = ({ pid, started }: Note): boolean => identityOf(pid)?.started === started;

async function gone(note: Note): Promise<void> {
  for (const deadline = performance.now() + graceMs; isThere(note) && performance.now() < deadline; await sleep(lookMs));
}

function readNote(file: string): Note | undefined {
  try {
    const { pid, started, command } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    return Number.isInteger(pid) && (pid as number) > 1 && typeof started === 'string' && typeof command === 'string'
      ? { pid: pid as number, started, command }
      : undefined;
  } catch {
    // Cut off while it was written: whoever wrote it ended at once, and so did what it had only just started to note.
    return undefined;
  }
}

function identityOf(pid: number): Omit<Note, 'pid'> | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Behind the name, which may hold anything: state is the third field, the time of the start the twenty-second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : { started: fields[19]!, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') {
      return undefined;
    }
    throw new Error(`cannot look at process ${pid}: ${messageOf(error)}`, { cause: error });
  }
}
