import { pick, type Random } from 'svc/seeded';
import type { ChangeKind } from 'svc/rca';

import type { World } from './world.ts';

/** Effect of a fault on one service or host in one step; everything else follows from the world. */
export interface Strain {
  /** Service only: slowdown. */
  readonly slower?: number;
  readonly added?: number;
  readonly errors?: number;
  readonly down?: boolean;
  readonly refuses?: boolean;
  readonly heap?: number;
  readonly pool?: number;
  readonly traffic?: number;
  /** Host only: CPU use. */
  readonly cpu?: number;
  readonly memory?: number;
  readonly disk?: number;
  readonly io?: number;
  readonly loss?: number;
  readonly writesFail?: boolean;
  readonly throttle?: number;
  /** True if its series stop. */
  readonly silent?: boolean;
}

export interface Fault {
  readonly name: string;
  readonly on: 'host' | 'service' | 'entries' | 'nothing';
  /** Nodes that are right answers, by index. */
  readonly target: number;
  readonly strain: (step: number) => Strain;
  readonly categories: readonly string[];
  readonly verdicts: readonly string[];
  /** Result of a check on the host, or entry in the trail of changes, that shows the fault. */
  readonly check?: {
    readonly name: string;
    readonly details: Readonly<Record<string, number | string | boolean>>;
  };
  readonly change?: { readonly kind: ChangeKind; readonly title: string };
  readonly log?: {
    readonly template: string;
    readonly severity: 'warn' | 'error' | 'fatal';
    readonly of: 'target' | 'callers';
  };
  /** The alert is that data do not come. */
  readonly absent?: boolean;
}

export type Making = (random: Random, world: World) => Fault;

export const found = ['root_cause', 'suspected'];
export const anyHost = (random: Random, { hosts, services }: World): number =>
  pick(
    random,
    hosts.map((_, at) => at).filter((at) => services.some(({ host }) => host === at)),
  );
export const inner = (random: Random, { services }: World): number =>
  pick(
    random,
    services.map((_, at) => at).filter((at) => services[at]!.layer > 0),
  );
export const bottom = (random: Random, { services }: World): number =>
  pick(
    random,
    services.map((_, at) => at).filter((at) => services[at]!.calls.length === 0),
  );
export const onHost = { on: 'host', verdicts: found } as const;
export const onService = { on: 'service', verdicts: found } as const;
export const ramp = (step: number, length: number): number =>
  Math.min(1, Math.max(0, (step + 1) / length));
