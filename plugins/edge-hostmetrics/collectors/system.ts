import type { MachineFiles } from 'svc/probe';

import type { Collect } from './collector.ts';

export const filefd: Collect = (moment, sink) => {
  const handles = moment.fileHandles();
  if (handles !== undefined) {
    sink.add('node_filefd_allocated', handles.allocated);
    sink.add('node_filefd_maximum', handles.maximum);
  }
};

export const entropy: Collect = ({ files }, sink) => {
  for (const [file, name] of [
    ['entropy_avail', 'node_entropy_available_bits'],
    ['poolsize', 'node_entropy_pool_size_bits'],
  ] as const) {
    const value = files.number(`/proc/sys/kernel/random/${file}`);
    if (value !== undefined) {
      sink.add(name, value);
    }
  }
};

export const time: Collect = (moment, sink) => {
  sink.add('node_time_seconds', moment.time / 1000);
};

export const uname: Collect = ({ files, machine }, sink) => {
  const word = (file: string): string =>
    files.text(`/proc/sys/kernel/${file}`, 4_096)?.trim() ?? '';
  sink.add('node_uname_info', 1, [
    'domainname',
    word('domainname'),
    'machine',
    machine.architecture,
    'nodename',
    word('hostname'),
    'release',
    word('osrelease'),
    'sysname',
    word('ostype'),
    'version',
    word('version'),
  ]);
};

const facts = [
  'build_id',
  'id',
  'id_like',
  'image_id',
  'image_version',
  'name',
  'pretty_name',
  'variant',
  'variant_id',
  'version',
  'version_codename',
  'version_id',
];

export const os: Collect = ({ files }, sink) => {
  const release = osRelease(files);
  if (release === undefined) {
    return;
  }
  sink.add(
    'node_os_info',
    1,
    facts.flatMap((name) => [name, release.get(name) ?? '']),
  );
  const version = /^\d+(?:\.\d+)?/.exec(release.get('version_id') ?? '')?.[0];
  if (version !== undefined) {
    sink.add(
      'node_os_version',
      Number(version),
      ['id', 'id_like', 'name'].flatMap((name) => [name, release.get(name) ?? '']),
    );
  }
};

/** `VERSION_ID="12"` a line, quoted as a shell would; names in lower case. */
function osRelease(files: MachineFiles): ReadonlyMap<string, string> | undefined {
  const text =
    files.text('/etc/os-release', 64 * 1024) ?? files.text('/usr/lib/os-release', 64 * 1024);
  if (text === undefined) {
    return undefined;
  }
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, quoted] = /^\s*([A-Z_][A-Z0-9_]*)=(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) {
      const bare = /^(["'])(.*)\1$/.exec(quoted!)?.[2] ?? quoted!;
      values.set(name.toLowerCase(), bare.replaceAll(/\\(["$`\\])/g, '$1').slice(0, 1_000));
    }
  }
  return values;
}
