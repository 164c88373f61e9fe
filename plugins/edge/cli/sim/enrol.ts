import { isSvcError, messageOf, SvcError } from 'svc/sdk';
import type { Reply } from './data-plane.ts';
import type { SimulatedHost } from './host.ts';
import type { HostKeys } from './keys.ts';
import type { Random } from 'svc/seeded';
import type { Shared } from './shared.ts';

const enrolAgainMs = 2_000;

/** The manager does not take the token: not for this host, and so for none. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** Asks the manager to take a simulated host in. */
async function enrol(
  { plane, options, version, signal }: Shared,
  host: SimulatedHost,
): Promise<HostKeys> {
  const { os, os_version: release, arch } = host.info;
  const asked = {
    token: options.token!,
    machine_uuid: host.uuid,
    hostname: host.hostname,
    agent_version: version,
    arch,
    os: `${os} ${release}`,
  };
  const body = Buffer.from(JSON.stringify(asked));
  const reply = await plane.post(
    {
      manager: options.manager,
      path: '/internal/edge/enrol',
      headers: { 'content-type': 'application/json' },
      body,
    },
    signal,
  );
  if (reply.status !== 200 && reply.status !== 201) {
    throw refusal(reply);
  }
  const { edge_id, access_key, secret_key, tunnel_path } = JSON.parse(reply.text) as HostKeys;
  return { number: host.number, edge_id, access_key, secret_key, tunnel_path };
}

/** Enrols, retrying until the manager accepts the host; throws TokenRefused if it never will. */
export async function enrolPatiently(
  shared: Shared,
  host: SimulatedHost,
  random: Random,
): Promise<HostKeys> {
  const { keys, signal, tally, pause } = shared;
  for (;;) {
    shared.demandToken();
    try {
      const made = await enrol(shared, host);
      keys.put(made);
      tally.enrolled += 1;
      return made;
    } catch (error) {
      if (error instanceof TokenRefused) {
        shared.refuseToken(error.message);
        throw error;
      }
      signal.throwIfAborted();
      tally.refused += 1;
      tally.problem = messageOf(error);
      const asked = isSvcError(error) ? error.retryAfterSeconds : undefined;
      await pause((asked === undefined ? enrolAgainMs : asked * 1_000) * (0.5 + random()));
      signal.throwIfAborted();
    }
  }
}

function refusal({ status, text, retryAfterMs }: Reply): Error {
  const said = `the manager answered HTTP ${status} to an enrolment: ${text.slice(0, 300)}`;
  if (status === 400 || status === 401 || status === 403 || status === 404) {
    return new TokenRefused(said);
  }
  return new SvcError('unavailable', said, {
    reason: 'edge.sim_enrolment_refused',
    retryAfterSeconds: retryAfterMs === undefined ? undefined : retryAfterMs / 1_000,
  });
}
