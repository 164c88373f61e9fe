import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';

import type { FsNumbers } from '../../../plugins/edge-hostmetrics/moment/filesystems.ts';
import { isOwn, NameFilter } from '../../../plugins/edge-hostmetrics/moment/name-filter.ts';
import { Box, rootOf, type Samples } from './box.ts';

const cpu = (...lines: string[]): string =>
  `cpu 0 0 0 0\n${lines.join('\n')}\nintr 99 1 2 3\nctxt 5\nbtime 1700000000\nprocesses 7\nprocs_running 1\nprocs_blocked 0\n`;
const disk: FsNumbers = { bsize: 4096, blocks: 1000, bfree: 300, bavail: 250, files: 10, ffree: 4 };
const switchedOn = (...on: string[]): object => ({
  collectors: Object.fromEntries([...all, 'canonical'].map((name) => [name, on.includes(name)])),
});
const all =
  'arp cgroup conntrack cpu diskstats entropy filefd filesystem loadavg meminfo netclass netdev netstat os pressure sockstat softnet stat time uname vmstat'.split(
    ' ',
  );

/** The value of a series without the labels job and instance. */
const at = (samples: Samples, key: string): number | undefined =>
  [...samples].find(
    ([name]) =>
      name
        .replace(/,?(?:instance|job)="[^"]*"/g, '')
        .replace('{,', '{')
        .replace('{}', '') === key,
  )?.[1].value;
const names = (samples: Samples): string[] =>
  [...new Set([...samples.keys()].map((key) => key.split('{', 1)[0]!))].sort();

describe('a CPU', () => {
  test('whose idle time goes back a little keeps the time it had, and is never less than idle or more than busy', async (t) => {
    const { root, write } = rootOf(t, { '/proc/stat': cpu('cpu0 100 0 100 800 0 0 0 0 0 0') });
    const box = new Box(root, switchedOn('cpu', 'canonical'));
    const first = await box.measure();
    assert.equal(
      at(first, 'node_cpu_usage_percent'),
      undefined,
      'one reading says nothing about usage',
    );
    write('/proc/stat', cpu('cpu0 150 0 150 790 0 0 0 0 0 0'));
    const second = await box.measure();
    assert.equal(at(second, 'node_cpu_seconds_total{cpu="0",mode="idle"}'), 8);
    assert.equal(at(second, 'node_cpu_usage_percent'), 100);
    write('/proc/stat', cpu('cpu0 150 0 150 890 0 0 0 0 0 0'));
    assert.equal(at(await box.measure(), 'node_cpu_usage_percent'), 0);
  });

  test('that was taken out and put in again begins anew, and does not distort the usage of the others', async (t) => {
    const { root, write } = rootOf(t, {
      '/proc/stat': cpu('cpu0 0 0 0 1000', 'cpu1 500 0 0 90000'),
    });
    const box = new Box(root, switchedOn('cpu', 'canonical'));
    await box.measure();
    write('/proc/stat', cpu('cpu0 75 0 0 1025'));
    const without = await box.measure();
    assert.equal(at(without, 'node_cpu_seconds_total{cpu="1",mode="idle"}'), undefined);
    assert.equal(at(without, 'node_cpu_usage_percent'), 75);
    write('/proc/stat', cpu('cpu0 125 0 0 1075', 'cpu1 3 0 0 20'));
    const back = await box.measure();
    assert.equal(at(back, 'node_cpu_seconds_total{cpu="1",mode="idle"}'), 0.2);
    assert.equal(at(back, 'node_cpu_usage_percent'), 50);
    write('/proc/stat', cpu('cpu0 125 0 0 1175', 'cpu1 1 0 0 9000'));
    await box.measure();
    write('/proc/stat', cpu('cpu0 125 0 0 1275', 'cpu1 1 0 0 100'));
    const plugged = await box.measure();
    assert.equal(at(plugged, 'node_cpu_seconds_total{cpu="1",mode="idle"}'), 1);
    assert.equal(at(plugged, 'node_cpu_usage_percent'), 0);
  });
});

describe('memory', () => {
  test('of a kernel that does not tell what is available is estimated, and its odd names are ours', async (t) => {
    const { root } = rootOf(t, {
      '/proc/meminfo':
        'MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 250 kB\nActive(anon): 7 kB\nHugePages_Total: 3\nSwapTotal: 0 kB\nSwapFree: 0 kB\n',
    });
    const samples = await new Box(root, switchedOn('meminfo', 'canonical')).measure();
    assert.equal(at(samples, 'node_memory_used_percent'), 60);
    assert.equal(at(samples, 'node_memory_Active_anon_bytes'), 7 * 1024);
    assert.equal(at(samples, 'node_memory_HugePages_Total'), 3);
    assert.equal(at(samples, 'node_swap_used_percent'), 0);
    assert.equal(at(samples, 'node_memory_MemAvailable_bytes'), undefined);
  });

  test('of a container is told beside that of the machine, in both kinds of cgroups; no limit is no series', async (t) => {
    const two = rootOf(t, {
      '/sys/fs/cgroup/memory.max': '536870912\n',
      '/sys/fs/cgroup/memory.current': '1048576\n',
      '/sys/fs/cgroup/cpu.max': '150000 100000\n',
    });
    const newer = await new Box(two.root, switchedOn('cgroup')).measure();
    assert.deepEqual(
      [
        at(newer, 'node_cgroup_memory_limit_bytes'),
        at(newer, 'node_cgroup_memory_usage_bytes'),
        at(newer, 'node_cgroup_cpu_limit_cores'),
      ],
      [536870912, 1048576, 1.5],
    );
    two.write('/sys/fs/cgroup/memory.max', 'max\n');
    two.write('/sys/fs/cgroup/cpu.max', 'max 100000\n');
    assert.deepEqual(names(await new Box(two.root, switchedOn('cgroup')).measure()), [
      'node_scrape_collector_success',
    ]);
    const one = rootOf(t, {
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '1000000\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '5000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '50000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    });
    const older = await new Box(one.root, switchedOn('cgroup')).measure();
    assert.deepEqual(
      [at(older, 'node_cgroup_memory_limit_bytes'), at(older, 'node_cgroup_cpu_limit_cores')],
      [1000000, 0.5],
    );
    one.write('/sys/fs/cgroup/memory/memory.limit_in_bytes', '9223372036854771712\n');
    one.write('/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '-1\n');
    assert.deepEqual(names(await new Box(one.root, switchedOn('cgroup')).measure()), [
      'node_scrape_collector_success',
    ]);
  });
});

describe('file systems', () => {
  const mounts = (...lines: string[]): Record<string, string> => ({
    '/proc/self/mounts': lines.map((line) => `${line} 0 0\n`).join(''),
  });

  test('are named as people named them, count what is reserved as df does, and the hidden ones are not counted', async (t) => {
    const { root } = rootOf(
      t,
      mounts(
        '/dev/sda1 / overlay rw',
        '/dev/sdb /mnt/old ext4 rw',
        '/dev/sdc /mnt/old xfs ro,noatime',
        '/dev/sdd /media/my\\040disk\\134\\303\\244 vfat rw',
        'tmpfs /dev/shm tmpfs rw',
        'proc /x proc rw',
      ),
    );
    const samples = await new Box(root, switchedOn('filesystem', 'canonical'), () =>
      Promise.resolve(disk),
    ).measure();
    assert.equal(
      at(
        samples,
        'node_filesystem_used_percent{device="/dev/sda1",fstype="overlay",mountpoint="/"}',
      ),
      (100 * 700) / 950,
    );
    assert.equal(
      at(samples, 'node_filesystem_readonly{device="/dev/sdc",fstype="xfs",mountpoint="/mnt/old"}'),
      1,
    );
    assert.equal(
      at(
        samples,
        'node_filesystem_avail_bytes{device="/dev/sdd",fstype="vfat",mountpoint="/media/my disk\\\\ä"}',
      ),
      250 * 4096,
    );
    assert.equal(
      [...samples.keys()].filter((key) => key.startsWith('node_filesystem_size_bytes')).length,
      3,
    );
  });

  test('of a dead server hold one thread, are told as stuck, hide no disk and are asked again when they answer', async (t) => {
    const { root } = rootOf(
      t,
      mounts(
        'srv:/a /nfs/a nfs4 rw',
        'srv:/b /nfs/b nfs4 rw',
        'me /home/me fuse.sshfs rw',
        '/dev/sda1 / ext4 rw',
        '/dev/sdb /data xfs rw',
      ),
    );
    let revive: (() => void) | undefined;
    const asked: string[] = [];
    const box = new Box(root, switchedOn('filesystem', 'canonical'), (path) => {
      const point = path.slice(root.length);
      asked.push(point);
      return point === '/nfs/a'
        ? new Promise((resolve) => (revive = () => resolve(disk)))
        : Promise.resolve(disk);
    });
    const { filesystems } = box.machine;
    for (let i = 0; i < 3; i++) {
      const measured = box.measure();
      await settled();
      assert.ok(filesystems.held <= 2);
      box.timers.elapse();
      const samples = await measured;
      assert.equal(filesystems.held, 1);
      assert.equal(
        at(
          samples,
          'node_filesystem_device_error{device="srv:/a",fstype="nfs4",mountpoint="/nfs/a"}',
        ),
        1,
      );
      assert.equal(
        at(
          samples,
          'node_filesystem_size_bytes{device="srv:/a",fstype="nfs4",mountpoint="/nfs/a"}',
        ),
        undefined,
      );
      assert.equal(
        at(
          samples,
          'node_filesystem_device_error{device="/dev/sdb",fstype="xfs",mountpoint="/data"}',
        ),
        0,
      );
      assert.equal(
        at(samples, 'node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"}'),
        4096000,
      );
    }
    assert.equal(asked.filter((point) => point === '/nfs/a').length, 1);
    assert.deepEqual(box.stuck, ['/nfs/a hangs']);
    revive!();
    await settled();
    assert.equal(filesystems.held, 0);
    const measured = box.measure();
    await settled();
    revive!();
    assert.equal(
      at(
        await measured,
        'node_filesystem_device_error{device="srv:/a",fstype="nfs4",mountpoint="/nfs/a"}',
      ),
      0,
    );
    assert.deepEqual(box.stuck, ['/nfs/a hangs', '/nfs/a answers']);
  });

  test('are left out by mount point and by type as the spec says, and a pattern that is none is refused by name', async (t) => {
    const { root } = rootOf(
      t,
      mounts('/dev/sda1 / ext4 rw', 'x /srv/a tmpfs rw', 'x /keep squashfs rw'),
    );
    const box = new Box(
      root,
      { ...switchedOn('filesystem'), filesystem: { mount_exclude: '^/srv', fstype_exclude: '' } },
      () => Promise.resolve(disk),
    );
    const found = [...(await box.measure()).keys()]
      .filter((key) => key.startsWith('node_filesystem_files{'))
      .map((key) => /mountpoint="([^"]*)"/.exec(key)![1]);
    assert.deepEqual(found, ['/', '/keep']);
    assert.throws(
      () => new Box(root, { filesystem: { mount_exclude: '(' } }),
      /filesystem\.mount_exclude is not a valid regular expression/,
    );
  });
});

test('the defaults of the spec are patterns that cost nothing, and mean what RE2 takes them for', () => {
  const { filesystem, disk: block, network } = new Box('/').spec;
  const names =
    '/ /dev /devil /proc/x /run/credentials/a /run /var/lib/docker/x/y /var/lib/docker cgroup cgroup2 cgroup22 ext4 procfs ram0 loop7 sda sda1 nvme0n1 nvme0n1p2 vda xvda9 veth0 eth0'.split(
      ' ',
    );
  for (const pattern of [
    filesystem.mount_exclude,
    filesystem.fstype_exclude,
    block.device_exclude,
    network.device_exclude,
  ]) {
    assert.ok(isOwn(pattern), pattern);
    // A pattern of others that means the same.
    const [own, foreign] = [new NameFilter(pattern, 'x'), new NameFilter(`(?:${pattern})`, 'x')];
    assert.deepEqual(
      names.filter((name) => own.excludes(name)),
      names.filter((name) => foreign.excludes(name)),
    );
  }
});

describe('counters', () => {
  const dev = (...lines: string[]): string =>
    `Inter-| Receive\n face |bytes\n${lines.join('\n')}\n`;
  const row = (name: string, received: number, sent: number): string =>
    `${name}:${received} 1 0 0 0 0 0 0 ${sent} 1 0 0 0 0 0 0`;

  test('of 32 bits that went round make a true rate; those that began anew count from there', async (t) => {
    const { root, write } = rootOf(t, {
      '/proc/net/dev': dev(row('eth0', 2 ** 32 - 1000, 2 ** 40), row('lo', 5, 5)),
      '/proc/diskstats': disks(2 ** 32 - 1000),
    });
    const box = new Box(root, switchedOn('canonical'));
    await box.measure();
    write('/proc/net/dev', dev(row('eth0', 4000, 700), row('lo', 9, 9)));
    write('/proc/diskstats', disks(1500));
    const samples = await box.measure(10_000);
    assert.equal(at(samples, 'node_network_receive_bytes_per_second{device="eth0"}'), 500);
    assert.equal(at(samples, 'node_network_transmit_bytes_per_second{device="eth0"}'), 70);
    assert.equal(at(samples, 'node_disk_io_utilization_percent{device="sda"}'), 25);
    assert.ok(![...samples.keys()].some((key) => key.includes('device="lo"')));
  });

  test('stand behind a colon without a blank, also of names with a colon, and virtual devices carry nothing of their own', async (t) => {
    const { root, write } = rootOf(t, {
      '/proc/net/dev': dev(
        row('eth0', 0, 0),
        row('eth0:1', 3, 4),
        row('br0', 0, 0),
        row('veth1', 0, 0),
      ),
    });
    for (const [device, path] of [
      ['eth0', 'pci0/net/eth0'],
      ['br0', 'virtual/net/br0'],
    ] as const) {
      mkdirSync(dirname(join(root, '/sys/class/net', device)), { recursive: true });
      symlinkSync(`../../devices/${path}`, join(root, '/sys/class/net', device));
    }
    const box = new Box(root, switchedOn('netdev', 'canonical'));
    assert.equal(at(await box.measure(), 'node_network_transmit_bytes_total{device="eth0:1"}'), 4);
    write('/proc/net/dev', dev(row('eth0', 100, 0), row('br0', 100, 0)));
    const samples = await box.measure();
    assert.equal(at(samples, 'node_network_receive_bytes_per_second{device="eth0"}'), 10);
    assert.equal(at(samples, 'node_network_receive_bytes_per_second{device="br0"}'), undefined);
    assert.ok(![...samples.keys()].some((key) => key.includes('veth')));
    assert.equal(
      (await box.canonical.snapshot(box.moment()))['node_network_receive_bytes_per_second'],
      0,
    );
  });

  test('of devices that the spec leaves out are not read', async (t) => {
    const { root } = rootOf(t, {
      '/proc/net/dev': dev(row('eth0', 1, 1), row('wg0', 1, 1), row('veth2', 1, 1)),
      '/proc/diskstats': `${disks(1)}${disks(1).replace('sda', 'sda1')}`,
    });
    const box = new Box(root, {
      ...switchedOn('netdev', 'diskstats'),
      network: { device_exclude: '^wg' },
      disk: { device_exclude: 'sda$' },
    });
    const devices = new Set(
      [...(await box.measure()).keys()].flatMap((key) => /device="([^"]*)"/.exec(key)?.[1] ?? []),
    );
    assert.deepEqual([...devices].sort(), ['eth0', 'sda1', 'veth2']);
  });
});

const disks = (busy: number): string => `   8       0 sda 1 2 3 4 5 6 7 8 0 ${busy} 11\n`;

test('the snapshot has the closed set, null where the machine cannot tell, and no reading of it disturbs the rates', async (t) => {
  const { root, write } = rootOf(t, {
    '/proc/stat': cpu('cpu0 0 0 0 100'),
    '/proc/loadavg': '0.5 0.25 0.125 1/100 4242\n',
    '/proc/sys/fs/file-nr': '50\t0\t200\n',
  });
  const box = new Box(root, switchedOn('canonical'));
  const empty = await box.canonical.snapshot(box.moment());
  assert.deepEqual(empty, {
    node_cpu_usage_percent: null,
    node_memory_used_percent: null,
    node_swap_used_percent: null,
    node_open_fds_percent: 25,
    node_uptime_seconds: null,
    node_load1: 0.5,
    node_load5: 0.25,
    node_load15: 0.125,
    node_filesystem_used_percent: null,
    node_filesystem_avail_bytes: null,
    node_network_receive_bytes_per_second: null,
    node_network_transmit_bytes_per_second: null,
    node_disk_io_utilization_percent: null,
  });
  await box.measure();
  write('/proc/stat', cpu('cpu0 50 0 0 150'));
  assert.equal((await box.canonical.snapshot(box.moment()))['node_cpu_usage_percent'], 50);
  write('/proc/stat', cpu('cpu0 50 0 0 200'));
  assert.equal(Math.round(at(await box.measure(), 'node_cpu_usage_percent')!), 33);
  assert.equal(
    Math.round((await box.canonical.snapshot(box.moment(10)))['node_cpu_usage_percent']!),
    33,
  );
});

test('every collector can be switched off alone, and what alert rules ask for stays', async () => {
  const full = names(await new Box('/').measure());
  for (const off of all) {
    const samples = await new Box('/', { collectors: { [off]: false } }).measure();
    assert.equal(at(samples, `node_scrape_collector_success{collector="${off}"}`), undefined);
    const gone = full.filter((name) => !names(samples).includes(name));
    assert.ok(
      gone.every((name) => !/^node_(?:load\d+|filesystem_avail_bytes)$/.test(name)),
      gone.join(' '),
    );
  }
  assert.deepEqual(
    names(await new Box('/', { collectors: { canonical: false } }).measure()).filter((name) =>
      /percent|per_second/.test(name),
    ),
    [],
  );
});

test('job and instance of every series are those of the spec, or the name of the machine', async (t) => {
  const { root } = rootOf(t, { '/proc/sys/kernel/hostname': 'hut\n', '/proc/uptime': '12.5 3\n' });
  const keys = async (wish: object): Promise<string[]> =>
    [...(await new Box(root, { ...switchedOn('canonical'), ...wish }).measure()).keys()].filter(
      (key) => key.includes('uptime'),
    );
  assert.deepEqual(await keys({}), ['node_uptime_seconds{instance="hut",job="node"}']);
  assert.deepEqual(await keys({ job: 'farm', instance: 'roof' }), [
    'node_uptime_seconds{instance="roof",job="farm"}',
  ]);
});

test('an empty machine and one full of nonsense are measured without a failure', async (t) => {
  const noise = `${'\u0000(((: \\999 = " \n\n cpu0\ncpu0 x y\n:::\nlo:\n'.repeat(50)}${'9'.repeat(400)}`;
  const files =
    'stat meminfo loadavg diskstats net/dev net/arp net/netstat net/snmp net/snmp6 net/sockstat net/softnet_stat self/mounts uptime vmstat sys/fs/file-nr pressure/cpu'.split(
      ' ',
    );
  const odd = rootOf(
    t,
    Object.fromEntries([
      ...files.map((file) => [`/proc/${file}`, noise] as const),
      ['/etc/os-release', noise] as const,
    ]),
  );
  for (const root of [rootOf(t, { '/proc/x': '' }).root, odd.root]) {
    const box = new Box(root);
    await box.measure();
    await box.measure();
    assert.deepEqual(box.log.lines, []);
  }
});

test('a collector that fails says so once and takes nothing from the others', async (t) => {
  const { root } = rootOf(t, { '/proc/loadavg': '1 2 3 1/1 1\n' });
  const box = new Box(root, switchedOn('loadavg', 'netdev'));
  Object.defineProperty(box.machine, 'networkExclude', { value: undefined });
  const { files } = box.machine;
  const text = files.text.bind(files);
  files.text = (path, most) => {
    if (path === '/proc/net/dev') {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    }
    return text(path, most);
  };
  await box.measure();
  const samples = await box.measure();
  assert.equal(at(samples, 'node_scrape_collector_success{collector="netdev"}'), 0);
  assert.equal(at(samples, 'node_load1'), 1);
  assert.equal(box.log.lines.length, 1);
});

/** Lets everything that waits for nothing run. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
