import { writeSync } from 'node:fs';

import { startTestEdge } from 'svc/testing';

import { decoded, specOf } from '../plugins/edge-hostmetrics/box.ts';

/** An agent that measures this machine and scrapes `url`, and writes a line `<job> <milliseconds>` for each sample that it would send. */
const [dataDir = '', url = '', ...seconds] = process.argv.slice(2);

const spec = {
  ...specOf<object>('edge-hostmetrics', {
    targets: seconds.map((every) => ({ job: `every${every}`, url, interval: '5s' })),
  }),
  // Shorter than what the manager lets through.
  interval: '1s',
};
const targets = (spec as unknown as { targets: readonly object[] }).targets.map((target, at) => ({
  ...target,
  interval: `${seconds[at]!}s`,
}));

const told: Readonly<Record<string, string>> = { node: 'measured every 1' };

const edge = await startTestEdge(
  { after: () => undefined },
  {
    plugins: ['edge-hostmetrics'],
    dataDir,
    services: {
      'uplink.specs': { of: () => ({ ...spec, targets }) },
      'uplink.policy': { current: () => ({ tcp: [] }) },
      'uplink.shipping': {
        async ship({ body, items }: { body: Uint8Array; items: number }) {
          const key = /^(?:up|node_load1)\{.*job="([^"]+)"/;
          for (const [series, { time, value }] of decoded([{ body, samples: items }])) {
            const [, job] = key.exec(series) ?? [];
            if (job !== undefined && (!series.startsWith('up') || value === 1)) {
              writeSync(1, `${JSON.stringify([told[job] ?? job, time])}\n`);
            }
          }
        },
      },
    },
  },
);

process.once('SIGTERM', () => void edge.stop().then(() => process.exit(0)));
