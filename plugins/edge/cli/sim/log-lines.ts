import { timestamp } from 'svc/sdk';
import type { SimulatedHost } from './host.ts';
import { pick, type Random } from 'svc/seeded';

const paths = [
  '/',
  '/login',
  '/api/v1/items',
  '/api/v1/items/7',
  '/static/app.js',
  '/health',
  '/search?q=shoes',
];
const agents = ['Mozilla/5.0 (X11; Linux x86_64)', 'curl/8.5.0', 'kube-probe/1.30'];
const messages = [
  'connection accepted',
  'job finished',
  'cache miss',
  'slow query',
  'retrying upstream',
  'session expired',
];
const units = [
  'systemd[1]: Started Daily apt download activities.',
  'sshd[812]: Connection closed by 203.0.113.9 port 52144 [preauth]',
  'CRON[4211]: (root) CMD (run-parts /etc/cron.hourly)',
];

const appLog = '/var/log/app/app.log';

/** Three files of a host, each with the lines that such a file has. */
const files: readonly {
  readonly filename: string;
  readonly line: (random: Random, now: number) => string;
}[] = [
  {
    filename: '/var/log/nginx/access.log',
    line: (random, now) => {
      const status = pick(random, [200, 200, 200, 200, 304, 404, 500]);
      const client = `203.0.113.${Math.floor(random() * 254) + 1}`;
      return `${client} - - [${timestamp(now)}] "GET ${pick(random, paths)} HTTP/1.1" ${status} ${Math.floor(random() * 40_000)} "-" "${pick(random, agents)}"`;
    },
  },
  {
    filename: appLog,
    line: (random, now) =>
      JSON.stringify({
        ts: timestamp(now),
        level: pick(random, ['debug', 'info', 'info', 'info', 'warn', 'error']),
        msg: pick(random, messages),
        duration_ms: Math.floor(random() * 900),
        request_id: Math.floor(random() * 2 ** 48).toString(16),
      }),
  },
  {
    filename: '/var/log/syslog',
    line: (random, now) => `${timestamp(now)} ${pick(random, units)}`,
  },
];

interface LogPush {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Errors that its program logs, with their times. */
  readonly failures: readonly { readonly at: number; readonly text: string }[];
}

/**
 * Builds a push of `count` lines between two times, each at its own nanosecond, and of what failed
 * meanwhile.
 */
export function logPush(
  { hostname }: SimulatedHost,
  random: Random,
  { from, to, count, failures }: LogPush,
): Buffer {
  const streams = files.map(({ filename, line }, file) => {
    const values: [string, string][] = [];
    for (let i = file; i < count; i += files.length) {
      const at = from + ((to - from) * i) / count;
      values.push([nanosecondOf(at, i), line(random, at)]);
    }
    return { stream: { host: hostname, job: 'files', filename }, values };
  });
  const values = failures.map(({ at, text }, i) => [
    nanosecondOf(at, count + i),
    JSON.stringify({ ts: timestamp(at), level: 'error', msg: `serve: ${text}` }),
  ]);
  const complaints = { stream: { host: hostname, job: 'files', filename: appLog }, values };
  return Buffer.from(
    JSON.stringify({ streams: [...streams, complaints].filter((one) => one.values.length > 0) }),
  );
}

const nanosecondOf = (at: number, index: number): string =>
  `${Math.floor(at)}${String(index % 1_000_000).padStart(6, '0')}`;
