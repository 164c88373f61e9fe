import { SvcError, timestamp } from 'svc/sdk';
import {
  type IdempotencyJournal,
  type InboundCall,
  isAddress,
  type ManagerAddress,
  type Outcome,
  type TunnelMethod,
  type TunnelSession,
} from 'svc/tunnel';

/** A simulated edge, as the manager asks it. */
export interface Asked {
  snapshot(): object;
  processes(top: number, sortBy: 'cpu' | 'mem'): object;
  processHistory(from: number, to: number): object;
  plugins(): readonly object[];
  configure(
    hash: string,
    plugins: Readonly<Record<string, { readonly enabled: boolean }>>,
    managers: readonly ManagerAddress[],
  ): void;
  /** Resolves once the new secret is proved and kept. */
  rotate(secretKey: string): Promise<void>;
  /** Delays some answers on purpose. */
  linger(call: Pick<InboundCall, 'signal'>): Promise<void>;
  readonly served: () => void;
}

type Handle = (edge: Asked, params: Record<string, unknown>) => unknown;

/** Returns one map of methods for all edges: the session of a call tells which edge it is for. */
export function answers(
  edgeOf: (session: TunnelSession) => Asked | undefined,
): ReadonlyMap<string, TunnelMethod> {
  const method = (handle: Handle, mutating = false): TunnelMethod => ({
    mutating,
    async handle(params: unknown, call: InboundCall) {
      // A call may come with the last word of the handshake, a moment before it is noted whose session this is.
      await Promise.resolve();
      const edge = edgeOf(call.session);
      if (!edge) {
        throw new SvcError('unavailable', 'this edge is about to disconnect', {
          reason: 'edge.sim_disconnecting',
        });
      }
      await edge.linger(call);
      const answer = await handle(edge, (params ?? {}) as Record<string, unknown>);
      edge.served();
      return answer;
    },
  });
  return new Map([
    ['host_snapshot', method((edge) => edge.snapshot())],
    [
      'processes',
      method((edge, { top, sort_by: by }) =>
        edge.processes(typeof top === 'number' ? top : 50, by === 'mem' ? 'mem' : 'cpu'),
      ),
    ],
    [
      'process_history',
      method((edge, { from, to }) => edge.processHistory(Number(from), Number(to))),
    ],
    ['plugin_status', method((edge) => edge.plugins())],
    [
      'config_apply',
      method((edge, { hash, plugins, managers }) => {
        edge.configure(
          String(hash),
          (plugins ?? {}) as Record<string, { enabled: boolean }>,
          Array.isArray(managers) ? managers.filter(isAddress) : [],
        );
        return { hash };
      }, true),
    ],
    [
      'rotate_secret',
      method(async (edge, { secret_key: secret }) => {
        await edge.rotate(String(secret));
        return {};
      }, true),
    ],
  ]);
}

const mostKept = 4_096;

/** Journal of commands of all edges, with globally unique keys; lost with the process. */
export function memoryJournal(): IdempotencyJournal {
  const outcomes = new Map<string, Promise<Outcome>>();
  return {
    run(key, fingerprint, work) {
      const id = `${fingerprint} ${key}`;
      const known = outcomes.get(id);
      if (known) {
        return known;
      }
      const outcome = work();
      outcomes.set(id, outcome);
      if (outcomes.size > mostKept) {
        outcomes.delete(outcomes.keys().next().value!);
      }
      return outcome;
    },
    close: () => Promise.all(outcomes.values()).then(() => undefined),
  };
}

export const healthOf = (
  enabled: boolean,
  startedAt: number,
  now: number,
  samples: number,
): object => ({
  state: enabled ? 'running' : 'stopped',
  last_error: null,
  restart_count: 0,
  started_at: enabled ? timestamp(startedAt) : null,
  updated_at: timestamp(now),
  samples,
});
