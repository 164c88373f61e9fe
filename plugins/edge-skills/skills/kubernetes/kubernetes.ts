import type { EdgeSkill, SkillCall } from 'svc/contracts/edge-skills';
import type { LocalPolicy } from 'svc/contracts/edge-uplink';
import { redactText } from 'svc/probe';
import { messageOf } from 'svc/sdk';

import type { AllowedViews } from '../../reach/allowed-views.ts';
import type { MachinePrograms } from '../../reach/machine-programs.ts';
import { errors } from '../errors.ts';
import { fitRows, maxAnswerBytes } from '../fit-rows.ts';
import { eventOf, kinds, rowOf } from './objects.ts';

export interface KubernetesParts {
  readonly programs: MachinePrograms;
  readonly views: AllowedViews;
  readonly policy: LocalPolicy;
}

interface Place {
  readonly namespace?: string;
}

interface Named extends Place {
  readonly kind: string;
  readonly name: string;
}

const maxOutput = 16 * 1024 * 1024;
const objectName = { type: 'string', pattern: '^[a-z0-9]([a-z0-9.:-]{0,251}[a-z0-9])?$' } as const;
const namespace = { ...objectName, description: 'Default: all namespaces.' } as const;
const kind = { enum: kinds } as const;
const common = { class: 'safe', tier: 'specialty' } as const;

/** Skills that look at a cluster from a machine whose owner gave the agent a kubeconfig. Secrets are not among the kinds. */
export const kubernetesSkills = (parts: KubernetesParts): readonly EdgeSkill[] => [
  get(parts),
  describe(parts),
  events(parts),
  logs(parts),
  top(parts),
];

const get = (parts: KubernetesParts): EdgeSkill => ({
  ...common,
  key: 'kubernetes_get',
  name: 'Kubernetes objects',
  description:
    'Objects of one kind in the cluster, with their state: pods with restarts and why they are waiting, deployments with missing replicas, nodes with conditions. Objects with problems come first.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['kind'],
    properties: {
      kind,
      namespace,
      selector: {
        type: 'string',
        pattern: '^[A-Za-z0-9_./=!, ()-]{1,300}$',
        description: 'Labels, such as app=web.',
      },
    },
  },
  async run(
    { kind: asked, namespace: within, selector }: { kind: string; selector?: string } & Place,
    call,
  ) {
    const list = await objects(
      parts,
      [
        'get',
        asked,
        ...placeOf(within),
        ...(selector === undefined ? [] : [`--selector=${selector}`]),
      ],
      call,
    );
    const rows = list
      .map((object) => rowOf(asked, object))
      .toSorted((a, b) => Number(b.trouble !== null) - Number(a.trouble !== null));
    const shown = fitRows(rows);
    const readOn =
      shown.length < rows.length
        ? { hint: 'There are more objects: filter by namespace or labels.', params: {} }
        : undefined;
    return { result: { kind: asked, total: rows.length, objects: shown }, readOn };
  },
});

const describe = (parts: KubernetesParts): EdgeSkill => ({
  ...common,
  key: 'kubernetes_describe',
  name: 'One Kubernetes object',
  description: 'The output of kubectl describe for one object, including its latest events.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'name'],
    properties: { kind, name: objectName, namespace: { ...objectName, default: 'default' } },
  },
  async run({ kind: asked, name, namespace: within = 'default' }: Named, call) {
    const { text, cut } = await kubectl(
      parts,
      ['describe', asked, name, `--namespace=${within}`],
      call,
      maxAnswerBytes,
    );
    return {
      result: { kind: asked, name, namespace: within, text: redactText(text) },
      readOn: cut
        ? { hint: 'The description does not fit in the response.', params: {} }
        : undefined,
    };
  },
});

const events = (parts: KubernetesParts): EdgeSkill => ({
  ...common,
  key: 'kubernetes_events',
  name: 'Kubernetes events',
  description:
    'Cluster events, newest first, such as containers that were killed, and pods or images that could not be scheduled or pulled.',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      namespace,
      warnings_only: { type: 'boolean', default: true },
      object: { ...objectName, description: 'Only events for the object with this name.' },
    },
  },
  async run(
    {
      namespace: within,
      warnings_only: warnings,
      object,
    }: { warnings_only: boolean; object?: string } & Place,
    call,
  ) {
    const fields = [
      ...(warnings ? ['type=Warning'] : []),
      ...(object === undefined ? [] : [`involvedObject.name=${object}`]),
    ];
    const list = await objects(
      parts,
      [
        'get',
        'events',
        ...placeOf(within),
        ...(fields.length === 0 ? [] : [`--field-selector=${fields.join(',')}`]),
      ],
      call,
    );
    const rows = list.map(eventOf).toSorted((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1));
    return { result: { total: rows.length, events: fitRows(rows.slice(0, 300)) } };
  },
});

const logs = (parts: KubernetesParts): EdgeSkill => ({
  ...common,
  key: 'kubernetes_logs',
  name: 'Log of a pod',
  description: 'The last log lines of a pod, or of its container before the last restart.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: objectName,
      namespace: { ...objectName, default: 'default' },
      container: objectName,
      previous: {
        type: 'boolean',
        default: false,
        description: 'Read the log of the previous container instead, to see why it crashed.',
      },
      lines: { type: 'integer', minimum: 1, maximum: 2000, default: 100 },
    },
  },
  async run(
    {
      name,
      namespace: within,
      container,
      previous,
      lines,
    }: { name: string; namespace: string; container?: string; previous: boolean; lines: number },
    call,
  ) {
    const { text } = await kubectl(
      parts,
      [
        'logs',
        `pod/${name}`,
        `--namespace=${within}`,
        `--tail=${lines}`,
        '--timestamps',
        ...(container === undefined ? ['--all-containers'] : [`--container=${container}`]),
        ...(previous ? ['--previous'] : []),
      ],
      call,
      maxAnswerBytes * 4,
    );
    const all = text.split('\n').filter(Boolean).toReversed();
    const shown = fitRows(all).toReversed();
    const readOn =
      shown.length < all.length
        ? {
            hint: 'Not all lines fit in the response: request fewer.',
            params: { lines: shown.length },
          }
        : undefined;
    return { result: { pod: name, namespace: within, lines: shown }, readOn };
  },
});

const top = (parts: KubernetesParts): EdgeSkill => ({
  ...common,
  key: 'kubernetes_top',
  name: 'Use of the cluster',
  description:
    "CPU and memory usage of nodes or pods, as reported by the cluster's metrics server.",
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { of: { enum: ['pods', 'nodes'], default: 'pods' }, namespace },
  },
  async run({ of, namespace: within }: { of: 'pods' | 'nodes' } & Place, call) {
    const { text } = await kubectl(
      parts,
      ['top', of, '--no-headers', ...(of === 'pods' ? placeOf(within) : [])],
      call,
      maxOutput,
    );
    const rows = text
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((row) => row.length >= 3)
      .map((row) => ({
        ...(of === 'pods' && within === undefined && { namespace: row.shift()! }),
        name: row[0]!,
        cpu: row[1]!,
        memory: of === 'pods' ? row[2]! : row[3]!,
      }));
    return { result: { of, total: rows.length, rows: fitRows(rows) } };
  },
});

const placeOf = (namespace: string | undefined): readonly string[] =>
  namespace === undefined ? ['--all-namespaces'] : [`--namespace=${namespace}`];

async function kubectl(
  { programs, views, policy }: KubernetesParts,
  args: readonly string[],
  call: SkillCall,
  maxBytes: number,
) {
  views.requireView('kubernetes');
  const { kubeconfig } = policy.current().skills;
  if (kubeconfig === undefined) {
    throw errors.no_kubeconfig();
  }
  return await programs.ask('kubectl', 'Kubernetes', {
    args: [...args, `--kubeconfig=${kubeconfig}`, '--request-timeout=15s'],
    call,
    maxBytes,
    env: { HOME: '/nonexistent' },
  });
}

/** Objects of a list as JSON; what the answer lacks is not there. */
async function objects(
  parts: KubernetesParts,
  args: readonly string[],
  call: SkillCall,
): Promise<readonly unknown[]> {
  const { text, cut } = await kubectl(parts, [...args, '--output=json'], call, maxOutput);
  try {
    const answer = JSON.parse(text) as { readonly items?: unknown };
    if (!cut && Array.isArray(answer.items)) {
      return answer.items;
    }
  } catch (error) {
    throw errors.kubectl_answer({ cause: messageOf(error) }, { cause: error });
  }
  throw errors.kubectl_answer({ cause: cut ? 'it is too long' : 'it is not a list' });
}
