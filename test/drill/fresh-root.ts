import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const buildMs = 600_000;
const storyMs = 600_000;
/** Libraries that Node is linked with, and nothing else: no shell, no user, no name server. */
const libraries = ['libc6', 'libgcc-s1', 'libstdc++6'];

/** Final output of the story. */
export interface Told {
  readonly questions: readonly Row[];
  readonly steps: readonly Row[];
}

/**
 * Runs the binary in a fresh root with nothing but the C library: with a first administrator, an
 * agent in a second root, an alert, its report and a backup, which is restored in a third root,
 * where twenty questions are answered as before. There is no network.
 */
export async function run({
  binary = '',
  keep = false,
}: { readonly binary?: string; readonly keep?: boolean } = {}): Promise<Outcome> {
  if (process.getuid?.() !== 0) {
    return { ok: false, why: 'only root can change roots' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-fresh-root-'));
  try {
    const program = binary === '' ? built(folder) : String(binary);
    for (const name of ['manager', 'host', 'elsewhere']) {
      freshRoot(join(folder, name), program);
    }
    say('three roots are made');
    const { questions, steps } = await story(folder);
    const right = questions.filter(({ ok }) => ok === true).length;
    return {
      ok:
        right === questions.length &&
        questions.length === 20 &&
        steps.every(({ ok }) => ok === true),
      right,
      of: questions.length,
      steps,
      questions,
    };
  } finally {
    if (!keep) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function built(folder: string): string {
  const out = join(folder, 'svc');
  execFileSync(
    process.execPath,
    ['--import', 'tsx', join(root, 'bin/dev/build.ts'), '--out', out],
    {
      cwd: root,
      timeout: buildMs,
      stdio: 'ignore',
    },
  );
  return out;
}

/**
 * Creates a root with the files that `dpkg` lists for the packages, limited to what a program
 * loads.
 */
function freshRoot(folder: string, program: string): void {
  const files = execFileSync('dpkg', ['-L', ...libraries], { encoding: 'utf8' }).split('\n');
  for (const file of files.filter(
    (path) =>
      /^\/(usr\/)?lib[^/]*\/.*\.so(\.[\d.]+)?$/.test(path) && !/gconv|audit|python|gdb/.test(path),
  )) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(file, join(folder, file), { dereference: true });
  }
  mkdirSync(join(folder, 'dev'));
  for (const [name, ...numbers] of [
    ['null', '1', '3'],
    ['zero', '1', '5'],
    ['urandom', '1', '9'],
  ] as const) {
    execFileSync('mknod', ['-m', '666', join(folder, 'dev', name), 'c', ...numbers]);
  }
  mkdirSync(join(folder, 'proc'));
  mkdirSync(join(folder, 'tmp'), { mode: 0o1777 });
  cpSync(program, join(folder, 'svc'));
  writeFileSync(join(folder, 'password'), 'a long enough passphrase\n', { mode: 0o600 });
}

/**
 * Runs the story in separate namespaces: the loopback is the only network, and mounts disappear
 * with it.
 */
async function story(folder: string): Promise<Told> {
  const script = fileURLToPath(new URL('fresh-root-story.ts', import.meta.url));
  const child = spawn(
    'unshare',
    [
      '--net',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      process.execPath,
      '--import',
      'tsx',
      script,
      folder,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: storyMs,
      killSignal: 'SIGKILL',
    },
  );
  let said = '';
  child.stdout.on('data', (chunk) => (said += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const last = said.trim().split('\n').at(-1) ?? '';
  if (code !== 0 || !last.startsWith('{')) {
    throw new Error(`the story broke off (${code}): ${said.slice(-2_000)}`);
  }
  return JSON.parse(last) as Told;
}
