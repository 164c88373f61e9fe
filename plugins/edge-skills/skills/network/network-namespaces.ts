import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import { type MachineFiles, parseProcessStat, plainName } from 'svc/probe';

import { fitRows } from '../fit-rows.ts';

interface Namespace {
  readonly id: string;
  /**
   * True for the namespace of the first process, which is the host's own unless the agent runs in a
   * container.
   */
  readonly is_host: boolean;
  processes: number;
  /** The first few. */
  readonly members: { readonly pid: number; readonly name: string }[];
  readonly containers: string[];
  interfaces: readonly string[];
}

const [turn, maxMembers, maxContainers, maxInterfaces] = [200, 5, 20, 64];

export const networkNamespaces = (files: MachineFiles, rest: () => Promise<void>): EdgeSkill => ({
  key: 'network_namespaces',
  name: 'Network namespaces',
  description:
    'The network namespaces on this machine: their interfaces, and the processes and containers in each. Only processes that the agent may inspect are counted.',
  class: 'safe',
  tier: 'specialty',
  schema: { type: 'object', additionalProperties: false, properties: {} },
  async run(_params: object, { signal }: SkillCall) {
    const host = files.link('/proc/1/ns/net') ?? files.link('/proc/self/ns/net');
    const found = new Map<string, Namespace>();
    let [seen, hidden] = [0, 0];
    for (const pid of (files.names('/proc') ?? []).filter((name) => /^[1-9]\d{0,9}$/.test(name))) {
      if (++seen % turn === 0) {
        await rest();
        signal.throwIfAborted();
      }
      const id = files.link(`/proc/${pid}/ns/net`);
      if (id === undefined) {
        hidden++;
        continue;
      }
      let namespace = found.get(id);
      if (namespace === undefined) {
        namespace = {
          id,
          is_host: id === host,
          processes: 0,
          members: [],
          containers: [],
          interfaces: interfacesOf(files, pid),
        };
        found.set(id, namespace);
      }
      namespace.processes++;
      if (namespace.members.length < maxMembers) {
        namespace.members.push({
          pid: Number(pid),
          name: plainName(
            parseProcessStat(files.text(`/proc/${pid}/stat`, 4_096) ?? '')?.name ?? '',
          ),
        });
      }
      const container = containerOf(files.text(`/proc/${pid}/cgroup`, 8_192) ?? '');
      if (
        container !== undefined &&
        namespace.containers.length < maxContainers &&
        !namespace.containers.includes(container)
      ) {
        namespace.containers.push(container);
      }
    }
    const all = [...found.values()].sort((a, b) => b.processes - a.processes);
    const rows = fitRows(all);
    const readOn =
      rows.length < all.length
        ? {
            hint: 'There are more namespaces, with fewer processes, than fit in one response.',
            params: {},
          }
        : undefined;
    return { result: { namespaces: rows, hidden_processes: hidden }, readOn };
  },
});

/** The network devices as this process sees them. */
const interfacesOf = (files: MachineFiles, pid: string): string[] =>
  (files.text(`/proc/${pid}/net/dev`, 64 * 1024) ?? '')
    .split('\n')
    .slice(2, 2 + maxInterfaces)
    .flatMap((line) =>
      line.includes(':') ? [plainName(line.slice(0, line.indexOf(':')).trim())] : [],
    );

/**
 * Returns the id of a container from its cgroup: engines use its 64 digits, whatever surrounds
 * them.
 */
const containerOf = (text: string): string | undefined =>
  /[/-]([0-9a-f]{64})(?:\.scope)?$/m.exec(text)?.[1]?.slice(0, 12);
