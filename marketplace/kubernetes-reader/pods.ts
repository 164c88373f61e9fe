interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: Ended;
  };
  readonly lastState?: { readonly terminated?: Ended };
}

interface Ended {
  readonly reason?: string;
  readonly exitCode?: number;
  readonly finishedAt?: string;
}

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly creationTimestamp?: string;
  };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

const most = 100;

/** Pods as somebody reads them who looks for trouble; what is well is only counted. */
export function podsOf(pods: readonly Pod[]): object {
  const told = pods.map(podOf);
  const troubled = told
    .filter(({ trouble }) => trouble.length > 0)
    .toSorted((a, b) => b.restarts - a.restarts);
  const well = told.filter(({ trouble }) => trouble.length === 0);
  return {
    pods: pods.length,
    troubled: troubled.slice(0, most),
    well: well.slice(0, most).map(({ namespace, name, node }) => ({ namespace, name, node })),
  };
}

function podOf({ metadata, spec, status }: Pod) {
  const containers = status?.containerStatuses ?? [];
  const phase = status?.phase ?? 'Unknown';
  const trouble = containers.flatMap(({ name, ready, state, lastState, restartCount = 0 }) => {
    const { waiting, terminated } = state ?? {};
    const before = lastState?.terminated;
    return [
      ...(waiting === undefined
        ? []
        : [
            `${name} waits: ${waiting.reason ?? 'unknown'}${waiting.message === undefined ? '' : ` (${waiting.message.slice(0, 200)})`}`,
          ]),
      ...(terminated === undefined || phase === 'Succeeded'
        ? []
        : [`${name} ended: ${ending(terminated)}`]),
      ...(restartCount > 0 && before !== undefined
        ? [`${name} restarted ${restartCount} times, last after ${ending(before)}`]
        : []),
      ...(ready === false && waiting === undefined && terminated === undefined
        ? [`${name} is not ready`]
        : []),
    ];
  });
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    node: spec?.nodeName ?? null,
    phase,
    restarts: containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    trouble: [
      ...(['Running', 'Succeeded'].includes(phase)
        ? []
        : [`phase ${phase}${status?.reason === undefined ? '' : `: ${status.reason}`}`]),
      ...trouble,
    ],
  };
}

const ending = ({ reason = 'unknown', exitCode, finishedAt }: Ended): string =>
  `${reason}${exitCode === undefined ? '' : ` with code ${exitCode}`}${finishedAt === undefined ? '' : ` at ${finishedAt}`}`;
