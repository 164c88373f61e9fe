import type { MachineFiles } from 'svc/probe';

import type { Collect } from './collector.ts';

const wanted =
  /^(?:.*_(?:InErrors|InErrs)|Ip_Forwarding|Ip(?:6|Ext)_(?:InOctets|OutOctets)|Icmp6?_(?:InMsgs|OutMsgs)|TcpExt_(?:Listen.*|Syncookies.*|TCPSynRetrans|TCPTimeouts|TCPOFOQueue|TCPRcvQDrop)|Tcp_(?:ActiveOpens|InSegs|OutSegs|OutRsts|PassiveOpens|RetransSegs|CurrEstab)|Udp6?_(?:InDatagrams|OutDatagrams|NoPorts|RcvbufErrors|SndbufErrors))$/;

export const netstat: Collect = ({ files }, sink) => {
  for (const [name, value] of [
    ...pairedLines(files, '/proc/net/netstat'),
    ...pairedLines(files, '/proc/net/snmp'),
    ...flatLines(files, '/proc/net/snmp6'),
  ]) {
    if (wanted.test(name) && Number.isFinite(value)) {
      sink.add(`node_netstat_${name}`, value);
    }
  }
};

/** `Tcp: ActiveOpens PassiveOpens …`, and below it `Tcp: 17 4 …`. */
function* pairedLines(files: MachineFiles, path: string): Iterable<readonly [string, number]> {
  const lines = (files.text(path) ?? '').split('\n');
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const [protocol, ...names] = lines[i]!.split(' ');
    const [again, ...values] = lines[i + 1]!.split(' ');
    if (protocol === again && protocol !== undefined) {
      yield* names.map(
        (name, at) => [`${protocol.slice(0, -1)}_${name}`, Number(values[at] ?? NaN)] as const,
      );
    }
  }
}

/** `Ip6InReceives   5`. */
function* flatLines(files: MachineFiles, path: string): Iterable<readonly [string, number]> {
  for (const line of (files.text(path) ?? '').split('\n')) {
    const [, protocol, name, value] = /^(Ip6|Icmp6|UdpLite6|Udp6)(\S+)\s+(\d+)/.exec(line) ?? [];
    if (value !== undefined) {
      yield [`${protocol}_${name}`, Number(value)];
    }
  }
}

/** `TCP: inuse 6 orphan 0 …`; memory is counted in pages. */
export const sockstat: Collect = ({ files, machine }, sink) => {
  for (const path of ['/proc/net/sockstat', '/proc/net/sockstat6']) {
    for (const line of (files.text(path) ?? '').split('\n')) {
      const [protocol, ...words] = line.split(' ');
      for (let i = 0; i + 1 < words.length; i += 2) {
        const name = `node_sockstat_${protocol!.slice(0, -1)}_${words[i]}`;
        const value = Number(words[i + 1]);
        sink.add(name, value);
        if (words[i] === 'mem') {
          sink.add(`${name}_bytes`, value * machine.pageSize);
        }
      }
    }
  }
};

const tracked = [
  'found',
  'invalid',
  'ignore',
  'insert',
  'insert_failed',
  'drop',
  'early_drop',
  'search_restart',
];

export const conntrack: Collect = ({ files }, sink) => {
  const entries = files.number('/proc/sys/net/netfilter/nf_conntrack_count');
  const limit = files.number('/proc/sys/net/netfilter/nf_conntrack_max');
  if (entries !== undefined && limit !== undefined) {
    sink.add('node_nf_conntrack_entries', entries);
    sink.add('node_nf_conntrack_entries_limit', limit);
  }
  // One line a CPU, in hexadecimal.
  const [head, ...rows] = (files.text('/proc/net/stat/nf_conntrack') ?? '').trim().split('\n');
  const names = head?.trim().split(/\s+/) ?? [];
  for (const name of tracked) {
    const at = names.indexOf(name);
    if (at !== -1) {
      sink.add(
        `node_nf_conntrack_stat_${name}`,
        rows.reduce((sum, row) => sum + Number.parseInt(row.trim().split(/\s+/)[at] ?? '0', 16), 0),
      );
    }
  }
};
