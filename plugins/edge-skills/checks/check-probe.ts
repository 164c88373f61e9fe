import {
  type Browser,
  checkKinds,
  type Chromium,
  type Order,
  orderFault,
  type Place,
  PlaceFault,
  probe,
} from 'svc/check';
import type { EdgeMethod, LocalPolicy } from 'svc/contracts/edge-uplink';
import { type Clock, type Ids, isSvcError, messageOf } from 'svc/sdk';

import type { MachinePrograms } from '../reach/machine-programs.ts';
import type { ProbeRules } from '../reach/probe-rules.ts';
import { errors } from '../skills/errors.ts';
import type { AllowedCommands } from '../reach/allowed-commands.ts';
import { errors as reachErrors } from '../reach/errors.ts';

export interface CheckProbeParts {
  readonly policy: LocalPolicy;
  readonly rules: ProbeRules;
  readonly programs: MachinePrograms;
  readonly commands: AllowedCommands;
  readonly chromium: Pick<Chromium, 'lend'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'token'>;
}

const maxTimeoutMs = 60_000;
const maxPingOutput = 4_096;

/**
 * Method by which the manager probes a target from this machine, within the policy of its owner, as
 * the probes of skills are.
 */
export const checkProbe = ({
  policy,
  rules,
  programs,
  commands,
  chromium,
  clock,
  ids,
}: CheckProbeParts): EdgeMethod => ({
  name: 'check_probe',
  mutating: false,
  async run(params: unknown, { signal }) {
    const order = orderOf(params);
    if (!policy.current().skills.enabled) {
      throw errors.checks_not_allowed();
    }
    void (order.kind !== 'command' && rules.requireAny());
    const ping = order.kind === 'ping' ? programs.find('ping') : undefined;
    const reach: Place['reach'] = (host, port, ip) => rules.target(host, port, { ip });
    const probeWith = (browser?: Browser) =>
      probe(
        order,
        {
          reach,
          monotonic: () => clock.monotonic(),
          now: () => clock.now(),
          nonce: () => ids.token(24),
          command: (name, stop) => commands.run(name, order, stop),
          ping:
            ping === undefined
              ? undefined
              : async (args, stop) => {
                  const { output, errors: printed } = await programs.run(ping, args, {
                    timeoutMs: order.timeout_ms,
                    maxBytes: maxPingOutput,
                    signal: stop,
                  });
                  return Buffer.from(output).toString('utf8') || printed;
                },
        },
        signal,
        browser,
      );
    return order.kind === 'browser'
      ? await chromium.lend(order, reach, signal, probeWith).catch(inWords)
      : await probeWith();
  },
});

/** The manager is told why no browser runs here, as of everything else that the policy or the machine refuses. */
function inWords(error: unknown): never {
  const { cause } = error as { readonly cause?: unknown };
  throw error instanceof PlaceFault
    ? isSvcError(cause)
      ? cause
      : reachErrors.browser_failed({ cause: messageOf(error) }, { cause: error })
    : error;
}

/** A manager of another version may send what this agent does not know. */
function orderOf(params: unknown): Order {
  const { conditions, ...rest } = Object(params) as Partial<Order>;
  const order = {
    ...rest,
    ip: rest.ip ?? 'any',
    timeout_ms: Math.min(Number(rest.timeout_ms) || maxTimeoutMs, maxTimeoutMs),
    conditions: Array.isArray(conditions) ? conditions.map(String) : [],
  };
  const fault = isOrder(order) ? orderFault(order) : { field: 'kind', message: 'is not known' };
  if (fault !== undefined) {
    throw errors.check_form(fault);
  }
  return order as Order;
}

const isOrder = (order: { readonly kind?: unknown; readonly target?: unknown }): order is Order =>
  typeof order.target === 'string' && checkKinds.some((kind) => kind === order.kind);
