import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Outcome } from '../exercise.ts';
import { type Cue, terminalSvg } from './terminal-svg.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const command = 'svc demo';
/** On a busy box the demo looks for its cause again and again; that is no picture to keep. */
const longestMs = 240_000;
/** Last thing that the demo says by itself. */
const isLast = (line: string): boolean => line.includes('svc investigate show');

interface Options {
  /** File of the picture. */
  readonly file?: string;
}

/** Runs `svc demo` until its incident is investigated, and keeps what it says as an animated picture. */
export async function run({ file = 'docs/pictures/demo.svg' }: Options): Promise<Outcome> {
  const demo = spawn(process.execPath, ['bin/svc', 'demo', '--fault-after', '20'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const began = performance.now();
  const late = setTimeout(() => demo.kill('SIGINT'), longestMs);
  const cues: Cue[] = [{ afterMs: 0, text: `$ ${command}` }];
  for await (const line of createInterface({ input: demo.stderr })) {
    cues.push({ afterMs: performance.now() - began, text: withoutSecrets(line) });
    if (isLast(line)) {
      demo.kill('SIGINT');
    }
  }
  clearTimeout(late);
  if (demo.exitCode === null && demo.signalCode === null) {
    await once(demo, 'exit');
  }
  const ok = cues.some(({ text }) => isLast(text));
  if (ok) {
    writeFileSync(file, terminalSvg(cues));
  }
  return { ok, lines: cues.length - 1, seconds: Math.round((performance.now() - began) / 1_000) };
}

/** Removes what works on this demo only: its password, its temporary folder, and the key of a link. */
const withoutSecrets = (line: string): string =>
  line
    .replace(/(with password ).*/, '$1…')
    .replace(/\/tmp\/svc-demo-\w+/g, '/tmp/svc-demo')
    .replace(/\/incident-pages\/\S+/, '/incident-pages/…');
