import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { GroupTotals } from '../../plugins/edge-procmetrics/group-totals.ts';
import { filesIn, projectRoot } from '../house/source.ts';
import { Box, rootOf } from '../plugins/edge-hostmetrics/box.ts';

/** A disk and a network card, for machines (containers, mostly) that show none. */
const hardware = {
  '/proc/diskstats': '   8       0 sda 9 1 72 5 4 2 32 6 0 7 11 3 1 24 2 5 4\n',
  '/proc/net/dev': `Inter-|\n face |\n  eth0: ${Array.from({ length: 16 }, (_, i) => i).join(' ')}\n`,
  '/sys/class/net/eth0/operstate': 'up\n',
  ...Object.fromEntries(
    [
      'carrier',
      'carrier_changes',
      'carrier_up_count',
      'carrier_down_count',
      'mtu',
      'speed',
      'tx_queue_len',
    ].map((file) => [`/sys/class/net/eth0/${file}`, '1\n']),
  ),
};

/** Every metric that agents and the manager make: measured here, or as the source declares it. */
export async function metricNames(): Promise<ReadonlySet<string>> {
  const undo: (() => void)[] = [];
  try {
    const boxes = [
      new Box('/', { network: { device_exclude: '' } }),
      new Box(rootOf({ after: (end: () => void) => undo.push(end) }, hardware).root),
    ];
    const measured = await Promise.all(boxes.map((box) => box.measure()));
    const hosts = measured.flatMap((samples) =>
      [...samples.keys()].map((key) => key.split('{', 1)[0]!),
    );
    return new Set([...hosts, ...processNames(), ...declaredNames()]);
  } finally {
    undo.forEach((end) => end());
  }
}

function processNames(): string[] {
  const names = new Set<string>();
  const totals = new GroupTotals({ maxGroups: 10, pageSize: 4_096, files: true, io: true });
  const stat = {
    pid: 1,
    startTime: 1,
    state: 'S',
    threads: 1,
    residentPages: 1,
    virtualBytes: 1,
    userTime: 0,
    systemTime: 0,
    majorFaults: 0,
    minorFaults: 0,
  };
  const member = { stat, detail: {}, group: 'init' } as unknown as Parameters<
    GroupTotals['add']
  >[0][number];
  totals.add([member], { uptime: 10, boot: 1 }, { add: (name) => void names.add(name) });
  return [...names];
}

/** Names that stand whole in the source, and those that are declared below the id of their plugin. */
function declaredNames(): string[] {
  return filesIn('plugins')
    .concat(filesIn('core/observe'))
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => {
      const text = readFileSync(join(projectRoot, path), 'utf8');
      const whole = [...text.matchAll(/'((?:node|svc|traces|probe)_[a-z0-9_]+)'/g)].map(
        ([, name]) => name!,
      );
      const prefix = path.startsWith('plugins/')
        ? `svc_${path.split('/')[1]!.replaceAll('-', '_')}_`
        : path.endsWith('process-metrics.ts')
          ? 'svc_process_'
          : 'svc_';
      const declared = [
        ...text.matchAll(/\b(?:counter|gauge|read|(histogram))\(\s*'([a-z0-9_]+)'/g),
      ].flatMap(([, histogram, name]) =>
        (histogram === undefined ? [''] : ['_bucket', '_sum', '_count']).map(
          (end) => `${prefix}${name}${end}`,
        ),
      );
      const figures = text.includes('followFigures(')
        ? [...text.matchAll(/^ +([a-z0-9_]+): \[/gm)].map(([, name]) => `${prefix}${name!}`)
        : [];
      return [...whole, ...declared, ...figures, ...(/\.add\('up'/.test(text) ? ['up'] : [])];
    });
}
