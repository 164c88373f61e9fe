import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import {
  ajvSchemas,
  bootSettings,
  type Environment,
  type Product,
} from '../../../core/boot/index.ts';
import { messageOf } from '../../../core/sdk/index.ts';
import { connect } from '../../serve/connect.ts';
import {
  type Call,
  type Command,
  type Result,
  usageFailure,
  printable,
  table,
  type Paint,
  type RunningSvc,
  runningSvc,
} from 'svc/cli';
import { areas } from '../doctor/areas.ts';
import { certificate } from '../doctor/certificate.ts';
import {
  configFolder,
  database,
  lock,
  privateFiles,
  rights,
  secretKey,
  update,
} from '../doctor/data-folder.ts';
import { examined, type Examination, fail, type Finding, ok } from '../doctor/finding.ts';
import { listening } from '../doctor/listening.ts';
import { clock, fileWatching, freeDisk, node, openFiles, sqlite } from '../doctor/machine.ts';
import { plugins } from '../doctor/plugins.ts';
import { publicAddress } from '../doctor/public-address.ts';
import { currentProduct } from '../../product/product.ts';

export const command: Command = {
  operands: [],
  options: {
    fix: { about: 'list what svc can fix, without changing anything' },
    yes: { about: 'with --fix: apply the fixes' },
    thorough: {
      about: 'also run checks that cost money or take several minutes, such as testing the model',
    },
  },
  about:
    'Checks this machine, the data folder, the public address and, if svc is running, its plugins, stores, edges and model; explains each finding and what to do about it. Changes nothing without --fix --yes.',
  example: 'svc doctor --data /var/lib/svc',

  async run(call) {
    if (call.has('yes') && !call.has('fix')) {
      throw usageFailure('--yes needs --fix');
    }
    const product = await currentProduct();
    const look = (): Promise<readonly Finding[]> => lookAtAll(product, call);
    const findings = await look();
    const repairs = call.has('fix')
      ? findings.flatMap(({ subject, repair }) =>
          repair === undefined ? [] : [{ subject, ...repair }],
        )
      : [];
    if (!call.has('yes')) {
      return outcome(findings, { repairs, done: false });
    }
    for (const { run } of repairs) {
      await run();
    }
    return outcome(await look(), { repairs, done: true });
  },
};

interface Repairs {
  readonly repairs: readonly { readonly subject: string; readonly about: string }[];
  readonly done: boolean;
}

function outcome(findings: readonly Finding[], { repairs, done }: Repairs): Result {
  const healthy = findings.every(({ verdict }) => verdict !== 'fail');
  const told = repairs.map(({ subject, about }) => ({ subject, about, done }));
  return {
    data: {
      ok: healthy,
      findings: findings.map(({ repair: _repair, ...finding }) => finding),
      ...(repairs.length > 0 && { repairs: told }),
    },
    text: (paint) => [report(findings, paint), ...listOf(repairs, done)].join('\n'),
    code: healthy ? 0 : 1,
  };
}

const listOf = (repairs: Repairs['repairs'], done: boolean): readonly string[] =>
  repairs.length === 0
    ? []
    : [
        '',
        done ? 'Done:' : 'svc can fix this; run "svc doctor --fix --yes":',
        ...repairs.map(({ subject, about }) => `  ${subject}: ${printable(about)}`),
      ];

async function lookAtAll(
  product: Product,
  { environment, has }: Call,
): Promise<readonly Finding[]> {
  const { dataDir, settings, value } = readSettings(product, environment);
  const running = runningSvc(dataDir);
  const nativeBinding = product.embedded?.nativeBinding;
  const there = existsSync(dataDir);
  // What is read once at the start is what the svc that serves was given, which need not be what this command is.
  const given = running === undefined ? value : await valuesOf(running).catch(() => value);
  const [tlsAddress, publicUrl] = [given('http.tls_addr'), given('http.public_url')];
  const host = publicUrl.startsWith('https:') ? new URL(publicUrl).hostname : undefined;
  const examinations: readonly (readonly [subject: string, examination: Examination])[] = [
    ['node', node],
    ['sqlite', sqlite(nativeBinding)],
    ['settings', settings],
    ['clock', clock(dataDir)],
    ['open files', openFiles(running)],
    ['file watching', fileWatching],
    [
      'data folder',
      there ? rights(dataDir) : (subject) => ok(subject, `the first start creates ${dataDir}`),
    ],
    ['free disk', freeDisk(there ? dataDir : nearestFolder(dataDir))],
    ['secret key', secretKey(dataDir, environment)],
    ['private files', privateFiles(dataDir, given('http.tls_key'))],
    ['lock', lock(dataDir, running, nativeBinding)],
    ['database', database(dataDir, nativeBinding)],
    ['update', update(dataDir)],
    ['config folder', configFolder(dataDir)],
    ['address', listening(running, given('http.addr'), 'http.addr')],
    ...(tlsAddress === ''
      ? []
      : ([
          ...(running === undefined
            ? ([['TLS address', listening(undefined, tlsAddress, 'http.tls_addr')]] as const)
            : []),
          [
            'certificate',
            certificate({ cert: given('http.tls_cert'), key: given('http.tls_key'), host }),
          ],
        ] as const)),
    ...(publicUrl === ''
      ? []
      : ([
          ['public address', publicAddress(running && (() => probeOf(running)), publicUrl)],
        ] as const)),
    ['plugins', plugins(running)],
    ['areas', areas(running, has('thorough'))],
  ];
  const findings: Finding[] = [];
  for (const [subject, examination] of examinations) {
    findings.push(...(await examined(subject, examination)));
  }
  return findings;
}

const probeOf = async (running: RunningSvc): Promise<string> =>
  (await connect(running).post<{ probe: string }>('/api/v1/doctor/probes')).probe;

type Values = (key: string) => string;

async function valuesOf(running: RunningSvc): Promise<Values> {
  const all = await connect(running).list<{
    category: string;
    key: string;
    value: string | number | boolean;
  }>('/api/v1/system-settings');
  return (wanted) =>
    String(all.find(({ category, key }) => `${category}.${key}` === wanted)?.value ?? '');
}

/** Settings that cannot be read are a finding; the folder is then the one that the environment names. */
function readSettings(
  product: Product,
  environment: Environment,
): { readonly dataDir: string; readonly settings: Examination; readonly value: Values } {
  try {
    const { dataDir, settings } = bootSettings(product, environment, { schemas: ajvSchemas });
    return {
      dataDir,
      settings: (subject) => ok(subject, 'environment and files are valid'),
      value: (key) => String(settings.get(key)),
    };
  } catch (error) {
    const dataDir = resolve(environment['SVC_DATA_DIR'] ?? 'data');
    const value: Values = (key) => (key === 'http.addr' ? '127.0.0.1:0' : '');
    return {
      dataDir,
      settings: (subject) => fail(subject, messageOf(error), 'correct the name or the value'),
      value,
    };
  }
}

const nearestFolder = (path: string): string =>
  existsSync(path) ? path : nearestFolder(dirname(path));

function report(findings: readonly Finding[], paint: Paint): string {
  const brush = { ok: paint.good, 'not tried': paint.faint, warn: paint.warn, fail: paint.bad };
  return table(
    findings.flatMap(({ subject, verdict, detail, fix }) => [
      [brush[verdict](verdict), subject, printable(detail)],
      ...(fix === null ? [] : [['', '', `→ ${printable(fix)}`]]),
    ]),
  );
}
