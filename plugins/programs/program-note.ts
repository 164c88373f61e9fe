import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Logger, messageOf } from 'svc/sdk';

/** Data by which a process is recognized, as process ids are reused. */
interface Note {
  readonly pid: number;
  /** When it was started, in ticks since the machine was. */
  readonly started: string;
  readonly command: string;
  /** The process of svc that runs it. */
  readonly of: string | undefined;
}

const graceMs = 10_000;
const lookMs = 50;

/** Writes down that this process is ours. A system that does not tell about processes gets no note. */
export function noteProgram(file: string, pid: number): void {
  const identity = identityOf(pid);
  if (identity !== undefined) {
    writeFileSync(
      `${file}.new`,
      JSON.stringify({ pid, ...identity, of: ownIdentity() } satisfies Note),
      { mode: 0o600 },
    );
    renameSync(`${file}.new`, file);
  }
}

export const forgetProgram = (file: string): void => rmSync(file, { force: true });

/** Ends recorded processes that still run, but not for this process, and removes the records. */
export async function endLeftovers(folder: string, log: Logger): Promise<void> {
  const notes = readdirIf(folder).filter((name) => name.endsWith('.json'));
  await Promise.all(notes.map((name) => endLeftover(join(folder, name), log)));
}

async function endLeftover(file: string, log: Logger): Promise<void> {
  const note = readNote(file);
  if (note?.of !== undefined && note.of === ownIdentity()) {
    return;
  }
  if (note !== undefined && isSame(note)) {
    log.warn(
      { event: 'programs.left_behind', pid: note.pid, file },
      'stopping a program left over from an earlier run',
    );
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

const ownIdentity = (): string | undefined => {
  const identity = identityOf(process.pid);
  return identity && `${process.pid} ${identity.started}`;
};

const isSame = ({ pid, started, command }: Note): boolean => {
  const identity = identityOf(pid);
  return identity?.started === started && identity.command === command;
};

/** A process that is ending has lost its command line already, but not yet its sockets and files. */
const isThere = ({ pid, started }: Note): boolean => identityOf(pid)?.started === started;

async function gone(note: Note): Promise<void> {
  for (let waitedMs = 0; isThere(note) && waitedMs < graceMs; waitedMs += lookMs) {
    await sleep(lookMs);
  }
}

function readdirIf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing was ever run.
    return [];
  }
}

function readNote(file: string): Note | undefined {
  try {
    const { pid, started, command, of } = JSON.parse(readFileSync(file, 'utf8')) as Record<
      string,
      unknown
    >;
    return Number.isInteger(pid) &&
      (pid as number) > 1 &&
      typeof started === 'string' &&
      typeof command === 'string'
      ? { pid: pid as number, started, command, of: typeof of === 'string' ? of : undefined }
      : undefined;
  } catch {
    // Cut off while it was written: the svc that wrote it ended at once, and so did the program that it had only just started.
    return undefined;
  }
}

function identityOf(pid: number): Pick<Note, 'started' | 'command'> | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Behind the name, which may hold anything: state is the third field, the time of the start the twenty-second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z'
      ? undefined
      : { started: fields[19]!, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') {
      return undefined;
    }
    throw new Error(`cannot look at process ${pid}: ${messageOf(error)}`, { cause: error });
  }
}
