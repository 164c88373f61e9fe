import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one document on standard output. */
  json<T = Record<string, unknown>>(): T;
}

export interface CallOptions {
  readonly root?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text piped in. */
  readonly stdin?: string;
  /** Program to start instead of the launcher of `root`. */
  readonly program?: readonly [command: string, ...args: string[]];
}

const deadlineMs = 150_000;

/** Runs svc as a person would and waits for its end. */
export async function svc(args: readonly string[], options: CallOptions = {}): Promise<Outcome> {
  const child = start(args, options);
  const stdout = gathered(child, 'stdout');
  const stderr = gathered(child, 'stderr');
  const code = await endOf(child);
  return { code, stdout: stdout(), stderr: stderr(), json: <T>() => JSON.parse(stdout()) as T };
}

export interface Serving {
  readonly dataDir: string;
  readonly url: string;
  readonly pid: number;
  readonly token: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Returns the output so far. */
  said(): string;
  /** Asks it to end and resolves with its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a host for `dataDir` on a free port, until the test ends. */
export async function serving(
  t: TestContext,
  dataDir: string,
  options: CallOptions = {},
): Promise<Serving> {
  // The whole product would start the agent of this machine as well.
  const alone =
    options.root === undefined && options.program === undefined ? { SVC_EDGE_LOCAL: 'false' } : {};
  const child = start(['serve', '--data', dataDir], {
    ...options,
    env: { SVC_HTTP_ADDR: '127.0.0.1:0', ...alone, ...options.env },
  });
  const ended = endOf(child);
  const out = gathered(child, 'stdout');
  const err = gathered(child, 'stderr');
  const said = (): string => out() + err();
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    return await ended;
  };
  servants.set(t, [...(servants.get(t) ?? []), end]);
  t.after(() => end());
  const { url, pid } = await runFile(dataDir, child, said);
  const token = readFileSync(join(dataDir, 'keys', 'operator.token'), 'utf8').trim();
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(url + path, { ...init, headers });
  };
  return { dataDir, url, pid, token, fetch: ask, said, end };
}

async function runFile(
  dataDir: string,
  child: ChildProcess,
  said: () => string,
): Promise<{ url: string; pid: number }> {
  for (const deadline = Date.now() + deadlineMs; Date.now() < deadline; await pause(25)) {
    if (child.exitCode !== null) {
      throw new Error(`svc ended with ${child.exitCode} before it served: ${said()}`);
    }
    if (existsSync(join(dataDir, 'run.json'))) {
      return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as {
        url: string;
        pid: number;
      };
    }
  }
  throw new Error(`svc did not serve in time: ${said()}`);
}

/** Processes of a test: its folders are removed first unless their end is awaited. */
const servants = new WeakMap<TestContext, readonly (() => Promise<unknown>)[]>();

/** A folder of its own, gone when the test ends, and after all that serve in it. */
export function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  t.after(async () => {
    await Promise.all((servants.get(t) ?? []).map((end) => end()));
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A checkout of svc with only these plugins, which a test may change; its packages are links to ours. */
export function checkout(t: TestContext, ...plugins: string[]): string {
  const root = join(scratch(t), 'svc');
  for (const name of [
    'bin',
    'core',
    'plugins/lib',
    'test/kit',
    'config',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    '.oxfmtrc.json',
    '.oxlintrc.json',
  ]) {
    cpSync(join(projectRoot, name), join(root, name), { recursive: true });
  }
  for (const id of plugins) {
    cpSync(join(projectRoot, 'plugins', id), join(root, 'plugins', id), { recursive: true });
  }
  mkdirSync(join(root, 'node_modules'));
  const installed = join(projectRoot, 'node_modules');
  for (const name of readdirSync(installed).filter((entry) => entry !== '.cache')) {
    symlinkSync(join(installed, name), join(root, 'node_modules', name));
  }
  return root;
}

function start(
  args: readonly string[],
  {
    root = projectRoot,
    cwd,
    env,
    stdin,
    program = [process.execPath, join(root, 'bin', 'svc')],
  }: CallOptions,
): ChildProcess {
  const [command, ...first] = program;
  const child = spawn(command, [...first, ...args], {
    cwd: cwd ?? dirname(command),
    env: { ...cleanEnvironment(), ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    timeout: deadlineMs * 2,
    killSignal: 'SIGKILL',
  });
  // A command that fails before it reads leaves a broken pipe behind.
  child.stdin?.once('error', () => undefined).end(stdin);
  return child;
}

/** Returns an environment without the machine's own svc, and without the surrounding test run. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(SVC_|NODE_TEST_|NODE_OPTIONS$|NO_COLOR$)/.test(name),
    ),
  );
}

function gathered(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  const chunks: Buffer[] = [];
  child[stream]!.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });

/** Accepts what a pack asks for as soon as the svc over `dataDir` has seen it. */
export async function accepted(
  id: string,
  dataDir: string,
  options: CallOptions = {},
): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await pause(200)) {
    const rights = await svc(['pack', 'rights', id, '--data', dataDir, '--json'], options);
    if (rights.code === 0) {
      const accept = await svc(
        ['pack', 'accept', id, rights.json<{ hash: string }>().hash, '--data', dataDir],
        options,
      );
      assert.equal(accept.code, 0, accept.stderr + accept.stdout);
      return;
    }
    assert.ok(Date.now() < deadline, rights.stderr);
  }
}
