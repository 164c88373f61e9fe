import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { certify } from './rca-real-certificate.ts';
import { tell } from './rca-real-disk.ts';
import { ports, type Stand } from './rca-real-stand.ts';

/** Something that breaks, and what an answer must name. */
export interface Fault {
  readonly name: string;
  /** Breaks it; false where this kernel does not lend the means. */
  readonly inject: (stand: Stand) => Promise<boolean> | boolean;
  readonly mend: (stand: Stand) => Promise<void> | void;
  /** Names of the things that are the cause. `host` is this machine. */
  readonly nodes: readonly string[];
  /** Words of which the answer must have one: what is wrong with it. */
  readonly words: RegExp;
}

const children = new Map<string, ChildProcess[]>();

function begin(name: string, program: string, args: readonly string[], times = 1): void {
  children.set(
    name,
    Array.from({ length: times }, () => spawn(program, args, { stdio: 'ignore' })),
  );
}

const end = (name: string): void => children.get(name)?.forEach((child) => child.kill('SIGKILL'));

const group = (controller: string): string => `/sys/fs/cgroup/${controller}/svc-rca-real`;

function opened(controller: string): boolean {
  try {
    mkdirSync(group(controller), { recursive: true });
    return true;
  } catch {
    // Read-only, or another version of control groups.
    return false;
  }
}

/** Moves processes out of a group of ours, and removes it. */
function closed(controller: string): void {
  const procs = join(group(controller), 'cgroup.procs');
  readFileSync(procs, 'utf8')
    .split('\n')
    .filter((pid) => pid !== '')
    .forEach((pid) => tell(`/sys/fs/cgroup/${controller}/cgroup.procs`, pid));
  rmdirSync(group(controller));
}

/** A process and its children. */
const family = (pid: number): readonly number[] => [
  pid,
  ...readdirSync('/proc').flatMap((entry) => {
    const child = Number(entry);
    return Number.isInteger(child) && parentOf(child) === pid ? [child] : [];
  }),
];

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]);
  } catch {
    // Gone since it was listed.
    return undefined;
  }
}

/** Number of the device that holds a folder, as control groups want it. */
function deviceOf(folder: string): string {
  const { dev } = statSync(folder);
  return `${(dev >> 8) & 0xfff}:${dev & 0xff}`;
}

const reload = (stand: Stand): void => void process.kill(stand.pid('nginx'), 'SIGHUP');
const ask = async (port: number, path: string): Promise<void> =>
  void (await fetch(`http://127.0.0.1:${port}${path}`));

const hugeKeys = 900;

export const faults: readonly Fault[] = [
  {
    name: 'lock in Postgres',
    inject: (stand) => {
      begin('lock', 'psql', [
        ...stand.psqlArgs(),
        '-c',
        'BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3600)',
      ]);
      return true;
    },
    mend: async (stand) => {
      await stand.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%' AND pid <> pg_backend_pid()",
      );
      end('lock');
    },
    nodes: ['postgres', 'shop-db'],
    words: /lock|transaction|pg_/i,
  },
  {
    name: 'full disk',
    inject: (stand) => {
      stand.disk.fill();
      return stand.disk.isOwn;
    },
    mend: (stand) => stand.disk.empty(),
    nodes: ['host', 'uploads'],
    words: /filesystem|file system|disk|space/i,
  },
  {
    name: 'exhausted pool',
    inject: async () => {
      await ask(ports.orders, '/leak/6');
      return true;
    },
    mend: () => ask(ports.orders, '/restore'),
    nodes: ['orders'],
    words: /pool|connection/i,
  },
  {
    name: 'redis at maxmemory',
    inject: async (stand) => {
      await fill(stand);
      return true;
    },
    mend: (stand) => redisCli(stand, 'FLUSHALL'),
    nodes: ['redis'],
    words: /memory/i,
  },
  {
    name: 'killed dependency',
    inject: (stand) => process.kill(stand.pid('mariadb'), 'SIGKILL'),
    mend: (stand) => stand.startMariadb(),
    nodes: ['mysql', 'mariadb'],
    words: /down|mysql_up|no responses|no requests|sends no data|refused/i,
  },
  {
    name: 'CPU hog',
    inject: () => {
      // As a job that somebody has given the highest priority.
      begin('hog', 'nice', ['-n', '-19', 'sh', '-c', 'exec yes > /dev/null'], 8);
      return true;
    },
    mend: () => end('hog'),
    nodes: ['host'],
    words: /cpu|load|yes/i,
  },
  {
    name: 'expired certificate',
    inject: (stand) => {
      certify(stand.folder, 'ended', -1);
      return process.kill(stand.pid('payments'), 'SIGHUP');
    },
    mend: (stand) => {
      certify(stand.folder, 'good', 3_650);
      process.kill(stand.pid('payments'), 'SIGHUP');
    },
    nodes: ['payments'],
    words: /certificate|cert/i,
  },
  {
    name: 'memory limit',
    inject: (stand) => {
      const isLent =
        opened('memory') && tell(join(group('memory'), 'memory.limit_in_bytes'), '56M');
      if (isLent) {
        stand.groups.set('search', group('memory'));
        tell(join(group('memory'), 'cgroup.procs'), String(stand.pid('search')));
        process.kill(stand.pid('search'), 'SIGKILL');
      }
      return isLent;
    },
    mend: (stand) => {
      stand.groups.delete('search');
      tell(join(group('memory'), 'memory.limit_in_bytes'), '-1');
      closed('memory');
    },
    nodes: ['search', 'host'],
    words: /memory|oom|restart|down|no data/i,
  },
  {
    name: 'wrong config',
    inject: (stand) => {
      stand.writeNginx(ports.shop + 50);
      reload(stand);
      return true;
    },
    mend: (stand) => {
      stand.writeNginx(ports.shop);
      reload(stand);
    },
    nodes: ['nginx'],
    words: /probe|config|fail|down/i,
  },
  {
    name: 'stuck service',
    inject: (stand) => process.kill(stand.pid('catalog'), 'SIGSTOP'),
    mend: (stand) => void process.kill(stand.pid('catalog'), 'SIGCONT'),
    nodes: ['catalog'],
    words: /down|no data|no responses|no requests|probe/i,
  },
  {
    name: 'slow disk',
    inject: (stand) => {
      const own = opened('blkio') && family(stand.pid('postgres'));
      return (
        own &&
        own.every((pid) => tell(join(group('blkio'), 'cgroup.procs'), String(pid))) &&
        tell(
          join(group('blkio'), 'blkio.throttle.write_iops_device'),
          `${deviceOf(stand.folder)} 2`,
        )
      );
    },
    mend: () => closed('blkio'),
    nodes: ['host', 'postgres'],
    words: /disk|i\/o|iowait|\bio\b|writ|block|wal/i,
  },
  {
    name: 'packet loss',
    inject: (stand) => stand.link.lose() !== undefined,
    mend: (stand) => stand.link.restore(),
    nodes: ['host', 'redis'],
    words: /retransmit|network|packet|tcp/i,
  },
];

const redisCli = async (stand: Stand, ...words: readonly string[]): Promise<void> => {
  const { host, port } = stand.redisAddress;
  const child = spawn('redis-cli', ['-h', host, '-p', String(port), ...words], { stdio: 'ignore' });
  await new Promise((resolve) => child.on('exit', resolve));
};

/** Fills the memory of redis up to its limit with what nobody asked for. */
async function fill(stand: Stand): Promise<void> {
  const script = `for i = 1, ${hugeKeys} do redis.call('SET', 'junk:' .. ARGV[1] .. ':' .. i, string.rep('x', 30000)) end`;
  // A script is refused as a whole at the limit: ever smaller pieces come closest to it.
  for (let times = 0; times < 3; times += 1) {
    await redisCli(stand, 'EVAL', script, '0', String(times));
  }
  for (let times = 0; times < 400; times += 1) {
    await redisCli(stand, 'SET', `rest:${times}`, 'x'.repeat(20_000));
  }
}
