import type { Facts } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { plain } from '../model/plain-text.ts';
import { failureOf } from './failure.ts';

/** Sends one ICMP echo request with the system's own program, which has the right to. */
export async function probePing({
  order,
  place: { reach, ping },
  watch,
  signal,
}: Means): Promise<Partial<Facts>> {
  if (ping === undefined) {
    throw new Error('the program ping is not installed here');
  }
  const { address, family } = await reach(order.target, undefined, order.ip);
  watch.end('resolve');
  const seconds = Math.max(1, Math.ceil(order.timeout_ms / 1_000));
  // After every option and verified to be an address, so it cannot be an option.
  const printed = await ping(
    [`-${family}`, '-n', '-q', '-c', '1', '-W', String(seconds), address],
    signal,
  );
  const [, received] = /transmitted, (\d+) (?:packets )?received/.exec(printed) ?? [];
  if (received === undefined) {
    throw new Error(plain(printed).slice(0, 200) || 'ping printed nothing');
  }
  if (received === '0') {
    throw new Error(failureOf(new Error('no echo reply'), signal, order.timeout_ms));
  }
  watch.end('rtt');
  const [, rtt] = /= [\d.]+\/([\d.]+)\//.exec(printed) ?? [];
  return { address, ...(rtt !== undefined && { phases: { ...watch.phases, rtt: Number(rtt) } }) };
}
