import { SvcError } from 'svc/sdk';
import type { TunnelSession } from 'svc/tunnel';
import type { DataPlane } from './data-plane.ts';

/** Push that a simulated host delivers. */
export interface Push {
  readonly to: string;
  readonly type: string;
  readonly encoding?: string;
  readonly body: Buffer | Uint8Array;
}

const wholeMs = 60_000;

/** Pushes through the tunnel, as agents do. `cut` is called while it is in flight. */
export async function pushThrough(
  session: TunnelSession,
  { body, ...head }: Push,
  cut?: () => void,
): Promise<void> {
  const answer = session.call(
    'push',
    { ...head, body: Buffer.from(body).toString('base64') },
    { timeoutMs: wholeMs },
  );
  cut?.();
  await answer;
}

/** Pushes by HTTP request, as agents do if the manager accepts no pushes through tunnels. */
export async function pushByRequest(
  plane: DataPlane,
  { to, type, encoding, body }: Push,
  {
    manager,
    authorization,
    cut,
    signal,
  }: {
    readonly manager: URL;
    readonly authorization: string;
    readonly cut: boolean;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const headers = {
    'content-type': type,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    authorization,
  };
  const { status, text } = await plane.post({ manager, path: to, headers, body, cut }, signal);
  if (status < 200 || status > 299) {
    throw new SvcError(
      status === 429 ? 'rate_limited' : 'upstream_error',
      `HTTP ${status} to a push: ${text.slice(0, 200)}`,
      { reason: 'edge.sim_push_refused' },
    );
  }
}
