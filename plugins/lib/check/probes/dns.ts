import { Resolver } from 'node:dns/promises';

import type { Facts } from '../model/check.ts';
import type { Means } from '../wire/conversation.ts';
import { hostPort } from './host-port.ts';

const usualPort = 53;
const maxAnswers = 50;

/** Codes of the resolver that are answers of a name server. */
const rcodes: Readonly<Record<string, string>> = {
  ENOTFOUND: 'NXDOMAIN',
  ENODATA: 'NOERROR',
  EFORMERR: 'FORMERR',
  ESERVFAIL: 'SERVFAIL',
  ENOTIMP: 'NOTIMP',
  EREFUSED: 'REFUSED',
};

/** Looks up the records of a name. */
export async function probeDns({
  order,
  place: { reach },
  watch,
  signal,
}: Means): Promise<Partial<Facts>> {
  const { target, record_type: type = 'A', server, timeout_ms: timeout } = order;
  const resolver = new Resolver({ timeout, tries: 1 });
  let address: string | undefined;
  if (server !== undefined) {
    const { host, port } = hostPort(server, usualPort)!;
    const found = await reach(host, port, order.ip);
    address = found.address;
    resolver.setServers([`${found.family === 6 ? `[${address}]` : address}:${port}`]);
  }
  watch.end('resolve');
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    const records: unknown = await resolver.resolve(target, type);
    watch.end('request');
    const answers = textsOf(records);
    return { ...shown(address), rcode: 'NOERROR', answers, body: answers.join('\n') };
  } catch (error) {
    const rcode = rcodes[(error as NodeJS.ErrnoException).code ?? ''];
    if (signal.aborted || rcode === undefined) {
      throw error;
    }
    watch.end('request');
    return { ...shown(address), rcode, answers: [] };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

const shown = (address: string | undefined): Partial<Facts> =>
  address === undefined ? {} : { address };

/** Records as a zone file would have them, roughly: their fields in a row. */
const textsOf = (records: unknown): readonly string[] =>
  (Array.isArray(records) ? (records as unknown[]) : [records])
    .slice(0, maxAnswers)
    .map((record) =>
      (Array.isArray(record)
        ? record.join('')
        : typeof record === 'object' && record !== null
          ? Object.values(record).join(' ')
          : String(record)
      ).slice(0, 500),
    );
