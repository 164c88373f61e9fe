import { redactText } from 'svc/probe';

import { plainText } from '../fit-rows.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Kinds of objects that may be listed: none of them holds a secret. */
export const kinds = [
  'pods',
  'deployments',
  'statefulsets',
  'daemonsets',
  'replicasets',
  'jobs',
  'cronjobs',
  'nodes',
  'services',
  'ingresses',
  'endpoints',
  'persistentvolumeclaims',
  'persistentvolumes',
  'horizontalpodautoscalers',
  'namespaces',
  'networkpolicies',
  'resourcequotas',
] as const;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : [];
const textOf = (value: unknown, most = 300): string | null =>
  typeof value === 'string' && value !== '' ? redactText(plainText(value).slice(0, most)) : null;
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

export interface ObjectRow {
  readonly namespace: string | null;
  readonly name: string | null;
  readonly created_at: string | null;
  /** Reason for concern; null if there is none. */
  readonly trouble: string | null;
  /** Whatever else objects of its kind have. */
  readonly [field: string]: unknown;
}

/** One object in a line: what kubectl prints in its columns, and what is wrong. */
export function rowOf(kind: string, object: unknown): ObjectRow {
  const fields = fieldsOf(object);
  const [meta, spec, status] = [
    fieldsOf(fields['metadata']),
    fieldsOf(fields['spec']),
    fieldsOf(fields['status']),
  ];
  const head = {
    namespace: textOf(meta['namespace']),
    name: textOf(meta['name']),
    created_at: textOf(meta['creationTimestamp']),
  };
  if (kind === 'pods') {
    return { ...head, ...podOf(spec, status) };
  }
  if (kind === 'nodes') {
    const conditions = listOf(status['conditions']);
    const bad = conditions
      .filter((one) => (one['type'] === 'Ready') !== (one['status'] === 'True'))
      .map((one) => `${textOf(one['type'])}: ${textOf(one['message']) ?? textOf(one['reason'])}`);
    return {
      ...head,
      trouble: [...bad, ...(spec['unschedulable'] === true ? ['cordoned'] : [])].join('; ') || null,
      version: textOf(fieldsOf(status['nodeInfo'])['kubeletVersion']),
    };
  }
  if (typeof spec['replicas'] === 'number' || kind === 'daemonsets') {
    const wanted = numberOf(spec['replicas'] ?? status['desiredNumberScheduled']);
    const ready = numberOf(status['readyReplicas'] ?? status['numberReady']);
    return {
      ...head,
      trouble: ready < wanted ? `${ready} of ${wanted} are ready` : null,
      wanted,
      ready,
    };
  }
  const failed = numberOf(status['failed']);
  const phase = textOf(status['phase']);
  const waits = phase !== null && !/^(?:Bound|Active|Available|Released)$/.test(phase);
  return {
    ...head,
    trouble: failed > 0 ? `${failed} failed` : waits ? phase : null,
    phase,
    ...(kind === 'services' && {
      type: textOf(spec['type']),
      cluster_ip: textOf(spec['clusterIP']),
      ports: listOf(spec['ports']).map(
        ({ port, protocol }) => `${numberOf(port)}/${textOf(protocol)}`,
      ),
    }),
  };
}

function podOf(spec: Fields, status: Fields) {
  const containers = [
    ...listOf(status['initContainerStatuses']),
    ...listOf(status['containerStatuses']),
  ].map((container) => {
    const [waiting, running, ended, before] = [
      fieldsOf(fieldsOf(container['state'])['waiting']),
      fieldsOf(fieldsOf(container['state'])['running']),
      fieldsOf(fieldsOf(container['state'])['terminated']),
      fieldsOf(fieldsOf(container['lastState'])['terminated']),
    ];
    return {
      name: textOf(container['name']),
      ready: container['ready'] === true,
      restarts: numberOf(container['restartCount']),
      waiting: textOf(waiting['reason']),
      message: textOf(waiting['message']),
      started_at: textOf(running['startedAt']),
      ended: textOf(ended['reason']),
      last_end:
        before['reason'] === undefined
          ? null
          : {
              reason: textOf(before['reason']),
              exit_code: numberOf(before['exitCode']),
              at: textOf(before['finishedAt']),
            },
    };
  });
  const phase = textOf(status['phase']);
  const stuck = containers.find(({ waiting }) => waiting !== null);
  const notScheduled = listOf(status['conditions']).find(
    (one) => one['type'] === 'PodScheduled' && one['status'] === 'False',
  );
  const restarts = containers.reduce((sum, one) => sum + one.restarts, 0);
  return {
    trouble:
      stuck?.waiting ??
      textOf(notScheduled?.['message']) ??
      textOf(status['reason']) ??
      (phase === 'Failed' || phase === 'Unknown' ? phase : null),
    phase,
    node: textOf(spec['nodeName']),
    restarts,
    containers,
  };
}

/** One event in a line. */
export function eventOf(event: unknown) {
  const fields = fieldsOf(event);
  const about = fieldsOf(fields['involvedObject']);
  return {
    at: textOf(fields['lastTimestamp']) ?? textOf(fields['eventTime']),
    type: textOf(fields['type']),
    reason: textOf(fields['reason']),
    namespace: textOf(about['namespace']),
    object: `${textOf(about['kind']) ?? ''}/${textOf(about['name']) ?? ''}`,
    count: numberOf(fields['count']) || 1,
    message: textOf(fields['message'], 1_000),
  };
}
