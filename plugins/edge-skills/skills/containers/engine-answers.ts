import { isSecretName, redactArguments, redactText } from 'svc/probe';

import { plainText } from '../fit-rows.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object of an answer; an engine may leave out any field, so nothing is taken for granted. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown, most = 500): string | null =>
  typeof value === 'string' && value !== '' ? plainText(value).slice(0, most) : null;

export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

const namesOf = (value: unknown): readonly string[] =>
  listOf(value).flatMap((name) => textOf(name)?.replace(/^\//, '') ?? []);

/** Engines write the year 1 for a time that never was. */
const timeOf = (value: unknown): string | null => {
  const text = textOf(value, 40);
  return text === null || text.startsWith('0001-') ? null : text;
};

/** One row of the list of containers. */
export function listedOf(container: unknown) {
  const fields = fieldsOf(container);
  return {
    id: textOf(fields['Id'], 64)?.slice(0, 12) ?? null,
    name: namesOf(fields['Names'])[0] ?? null,
    image: textOf(fields['Image']),
    state: textOf(fields['State']),
    status: textOf(fields['Status']),
  };
}

/** Returns how a container ran until now, by which one that restarts is known. */
export function courseOf(inspected: unknown) {
  const fields = fieldsOf(inspected);
  const state = fieldsOf(fields['State']);
  const health = fieldsOf(state['Health']);
  return {
    restarts: numberOf(fields['RestartCount']),
    exit_code: numberOf(state['ExitCode']),
    out_of_memory: state['OOMKilled'] === true,
    started_at: timeOf(state['StartedAt']),
    finished_at: timeOf(state['FinishedAt']),
    health: textOf(health['Status']),
    error: textOf(state['Error']),
  };
}

/** All that is told of one container. Variables are told by their names: their values are what programs keep secrets in. */
export function inspectedOf(inspected: unknown): object {
  const fields = fieldsOf(inspected);
  const [state, config, host, networks] = [
    fieldsOf(fields['State']),
    fieldsOf(fields['Config']),
    fieldsOf(fields['HostConfig']),
    fieldsOf(fieldsOf(fields['NetworkSettings'])['Networks']),
  ];
  const command = [
    textOf(fields['Path']) ?? '',
    ...listOf(fields['Args']).map((arg) => textOf(arg) ?? ''),
  ];
  const checks = listOf(fieldsOf(state['Health'])['Log']).slice(-3);
  return {
    id: textOf(fields['Id'], 64)?.slice(0, 12) ?? null,
    name: textOf(fields['Name'])?.replace(/^\//, '') ?? null,
    image: textOf(config['Image']) ?? textOf(fields['Image']),
    created_at: timeOf(fields['Created']),
    state: textOf(state['Status']),
    ...courseOf(inspected),
    health_checks: checks.map((check) => ({
      exit_code: numberOf(fieldsOf(check)['ExitCode']),
      output: redactText(textOf(fieldsOf(check)['Output']) ?? ''),
    })),
    command: redactArguments(command).join(' ').slice(0, 1_000),
    variables: listOf(config['Env'])
      .flatMap((variable) => textOf(variable)?.split('=', 1)[0] ?? [])
      .slice(0, 200),
    labels: Object.fromEntries(
      Object.entries(fieldsOf(config['Labels']))
        .slice(0, 50)
        .map(([name, value]) => [
          plainText(name).slice(0, 200),
          isSecretName(name) ? '[redacted]' : redactText(textOf(value, 200) ?? ''),
        ]),
    ),
    restart_policy: textOf(fieldsOf(host['RestartPolicy'])['Name']),
    memory_limit_bytes: numberOf(host['Memory']) || null,
    cpu_limit: (numberOf(host['NanoCpus']) ?? 0) / 1e9 || null,
    privileged: host['Privileged'] === true,
    network_mode: textOf(host['NetworkMode']),
    networks: Object.entries(networks)
      .slice(0, 20)
      .map(([name, network]) => ({
        name: plainText(name).slice(0, 200),
        address: textOf(fieldsOf(network)['IPAddress']),
      })),
    ports: Object.entries(fieldsOf(host['PortBindings']))
      .slice(0, 50)
      .map(([port, bound]) => ({
        container: plainText(port).slice(0, 40),
        host: listOf(bound).map(
          (one) =>
            `${textOf(fieldsOf(one)['HostIp']) ?? '*'}:${textOf(fieldsOf(one)['HostPort']) ?? ''}`,
        ),
      })),
    mounts: listOf(fields['Mounts'])
      .slice(0, 50)
      .map((mount) => {
        const { Type: type, Source: source, Destination: to, RW: writable } = fieldsOf(mount);
        return {
          type: textOf(type),
          from: textOf(source),
          to: textOf(to),
          writable: writable === true,
        };
      }),
  };
}

/** Use of one container: CPU as its share of one core, from the two samples of the answer. */
export function statsOf(stats: unknown) {
  const fields = fieldsOf(stats);
  const [cpu, before, memory] = [
    fieldsOf(fields['cpu_stats']),
    fieldsOf(fields['precpu_stats']),
    fieldsOf(fields['memory_stats']),
  ];
  const total = (of: Fields): number => numberOf(fieldsOf(of['cpu_usage'])['total_usage']) ?? 0;
  const system = (of: Fields): number => numberOf(of['system_cpu_usage']) ?? 0;
  const [used, passed] = [total(cpu) - total(before), system(cpu) - system(before)];
  const cores = numberOf(cpu['online_cpus']) ?? 1;
  const cache = numberOf(fieldsOf(memory['stats'])['inactive_file']) ?? 0;
  const usage = numberOf(memory['usage']);
  const limit = numberOf(memory['limit']);
  const networks = Object.values(fieldsOf(fields['networks'])).map(fieldsOf);
  const sum = (name: string): number =>
    networks.reduce((bytes, network) => bytes + (numberOf(network[name]) ?? 0), 0);
  return {
    cpu_percent: passed > 0 ? Math.round((used / passed) * cores * 1_000) / 10 : null,
    memory_bytes: usage === null ? null : Math.max(0, usage - cache),
    memory_limit_bytes: limit,
    received_bytes: sum('rx_bytes'),
    sent_bytes: sum('tx_bytes'),
    processes: numberOf(fieldsOf(fields['pids_stats'])['current']),
  };
}

/**
 * Lines of a log. Without a terminal the engine puts a head of eight bytes before each piece: which
 * stream it belongs to, and how long it is.
 */
export function logTextOf(body: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const isHead = body.length - at >= 8 && body[at]! <= 2 && body.readUIntBE(at + 1, 3) === 0;
    if (!isHead) {
      // Of a terminal: all of it is text.
      pieces.push(body.subarray(at));
      break;
    }
    const end = at + 8 + body.readUInt32BE(at + 4);
    pieces.push(body.subarray(at + 8, end));
    at = end;
  }
  return plainText(Buffer.concat(pieces).toString('utf8'));
}
