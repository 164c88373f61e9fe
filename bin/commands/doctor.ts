import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { ajvSchemas, bootSettings, type Environment, type Product } from '../../core/boot/index.ts';
import { runningSvc } from '../cli/running.ts';
import { messageOf } from '../../core/sdk/index.ts';
import type { Command } from '../cli/command.ts';
import { printable, table } from '../cli/layout.ts';
import type { Paint } from '../cli/paint.ts';
import { database, lock, rights, secretKey, update } from '../doctor/data-folder.ts';
import { examined, type Examination, fail, type Finding, ok } from '../doctor/finding.ts';
import { freeDisk, node, sqlite } from '../doctor/machine.ts';
import { plugins } from '../doctor/plugins.ts';
import { currentProduct } from '../product.ts';

export const command: Command = {
  operands: [],
  options: {},
  about: 'Looks at this machine, the data folder and, when svc runs, its plugins, and says what to do about each finding. Changes nothing.',
  example: 'svc doctor --data /var/lib/svc',

  async run({ environment }) {
    const product = await currentProduct();
    const findings = await lookAtAll(product, environment);
    const healthy = findings.every(({ verdict }) => verdict !== 'fail');
    return { data: { ok: healthy, findings }, text: (paint) => report(findings, paint), code: healthy ? 0 : 1 };
  },
};

async function lookAtAll(product: Product, environment: Environment): Promise<readonly Finding[]> {
  const { dataDir, settings } = readSettings(product, environment);
  const running = runningSvc(dataDir);
  const nativeBinding = product.embedded?.nativeBinding;
  const there = existsSync(dataDir);
  const examinations: readonly (readonly [subject: string, examination: Examination])[] = [
    ['node', node],
    ['sqlite', sqlite(nativeBinding)],
    ['settings', settings],
    ['data folder', there ? rights(dataDir) : (subject) => ok(subject, `${dataDir} is made by the first start`)],
    ['free disk', freeDisk(there ? dataDir : nearestFolder(dataDir))],
    ['secret key', secretKey(dataDir, environment)],
    ['lock', lock(dataDir, running, nativeBinding)],
    ['database', database(dataDir, nativeBinding)],
    ['update', update(dataDir)],
    ['plugins', plugins(running)],
  ];
  const findings: Finding[] = [];
  for (const [subject, examination] of examinations) {
    findings.push(await examined(subject, examination));
  }
  return findings;
}

/** Settings that cannot be read are a finding; the folder is then the one that the environment names. */
function readSettings(product: Product, environment: Environment): { readonly dataDir: string; readonly settings: Examination } {
  try {
    const { dataDir } = bootSettings(product, environment, { schemas: ajvSchemas });
    return { dataDir, settings: (subject) => ok(subject, 'environment and files are in order') };
  } catch (error) {
    const dataDir = resolve(environment['SVC_DATA_DIR'] ?? 'data');
    return { dataDir, settings: (subject) => fail(subject, messageOf(error), 'correct the name or the value') };
  }
}

const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)));

function report(findings: readonly Finding[], paint: Paint): string {
  const brush = { ok: paint.good, warn: paint.warn, fail: paint.bad };
  return table(
    findings.flatMap(({ subject, verdict, detail, fix }) => [
      [brush[verdict](verdict), subject, printable(detail)],
      ...(fix === null ? [] : [['', '', `→ ${printable(fix)}`]]),
    ]),
  );
}
