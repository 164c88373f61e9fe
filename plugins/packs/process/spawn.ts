import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';

import { messageOf } from 'svc/sdk';

import { channelFd } from '../wire/wire.ts';
import { type Hold, held } from './confinement.ts';
import { errors } from './errors.ts';
import { type ChildOrigin, programFile } from './program-file.ts';

export interface Restrictions {
  /** Folders that the child may read. It may write nothing. */
  readonly read: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly heapMb: number;
  readonly rssMb: number;
  readonly network: boolean;
  readonly hold: Pick<Hold, 'confinement' | 'user'>;
}

/** A process with its pipes. */
export interface Spawned {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly channel: Duplex;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Starts a Node process that can read its folders and nothing else: no writing, no processes, threads or addons; held by the system where it can be. */
export async function spawnRestricted(
  origin: ChildOrigin,
  restrictions: Restrictions,
): Promise<Spawned> {
  const environment = allowedEnvironment(restrictions.env);
  const file = await programFile(origin);
  const flags = flagsOf(restrictions, origin.isBinary ? [process.execPath, file] : [file]);
  const { read, rssMb, network, hold } = restrictions;
  const inside = {
    ...hold,
    network,
    root: join(origin.cacheDir, 'root'),
    visible: [file, ...read.flatMap(bothNames)],
    memoryMb: rssMb + spareMb,
  };
  return origin.isBinary
    ? await started(held([process.execPath, file], inside), {
        ...environment,
        SVC_ROLE: 'child',
        NODE_OPTIONS: flags.map(quoted).join(' '),
      })
    : await started(held([process.execPath, ...flags, file], inside), environment);
}

/** Memory that a process reserves and does not use: thread stacks, address space of the engine. */
const spareMb = 512;

function flagsOf({ read, heapMb }: Restrictions, files: readonly string[]): string[] {
  // Node 20 knows only the experimental name, Node 24 only the final one.
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const readable = [...files, ...read.flatMap(readableFolder)];
  return [
    permission,
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${heapMb}`,
    ...readable.map((path) => `--allow-fs-read=${path}`),
  ];
}

/**
 * Returns both names of a folder, because the permission model compares names and knows no links.
 */
function readableFolder(folder: string): string[] {
  if (!isAbsolute(folder) || /[*,\0]/.test(folder)) {
    throw errors.child_folder({ folder: JSON.stringify(folder) });
  }
  return bothNames(folder).map((name) => `${name.replace(/\/+$/, '')}/*`);
}

const bothNames = (folder: string): string[] => [...new Set([folder, realpathSync(folder)])];

/**
 * Returns the environment: nothing of the host's, and nothing that would change how Node itself
 * starts.
 */
function allowedEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  for (const name of Object.keys(env)) {
    if (/^(NODE_|LD_|DYLD_|SVC_ROLE$)/i.test(name)) {
      throw errors.child_environment({ name });
    }
  }
  return { ...env };
}

const quoted = (flag: string): string => `"${flag.replace(/[\\"]/g, '\\$&')}"`;

const niceness = 10;

/**
 * Lowers the priority: if processors are scarce svc comes first, and a pack in a loop takes the
 * rest.
 */
function giveWay(pid: number): void {
  try {
    setPriority(pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  } catch {
    // It is over already, or the system gives no priorities: the limits hold all the same.
  }
}

/** Starts a low-priority process, with a channel in addition to its output. */
export function started(
  [command, ...args]: readonly string[],
  env: Record<string, string>,
): Promise<Spawned> {
  return new Promise((resolve, reject) => {
    const child = spawn(command!, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      cwd: '/',
    });
    // Stays for the life of the process: a failing `kill` is reported here too, and must not end
    // the host.
    child.on('error', (error) =>
      reject(errors.no_child({ cause: messageOf(error) }, { cause: error })),
    );
    child.once('spawn', () => {
      giveWay(child.pid!);
      resolve({
        process: child,
        pid: child.pid!,
        channel: child.stdio[channelFd] as Duplex,
        stdout: child.stdout!,
        stderr: child.stderr!,
      });
    });
  });
}
