import { parseCondition } from 'svc/check';

import {
  Collection,
  type Draft,
  type Fields,
  fieldsOf,
  listOf,
  secondsOf,
  type Taken,
  textOf,
  textsOf,
  within,
} from './taken.ts';

/** Kinds by the scheme of an address; undefined as a kind: http and the others that svc names alike. */
const schemes: Readonly<Record<string, (rest: string, url: string) => Draft>> = {
  http: (_rest, url) => ({ target: url }),
  https: (_rest, url) => ({ target: url }),
  ws: (_rest, url) => ({ target: url }),
  wss: (_rest, url) => ({ target: url }),
  grpc: (_rest, url) => ({ target: url }),
  grpcs: (_rest, url) => ({ target: url }),
  tcp: (rest) => ({ kind: 'tcp', target: rest }),
  tls: (rest) => ({ kind: 'tls', target: rest }),
  icmp: (rest) => ({ kind: 'ping', target: rest }),
  starttls: (rest) => ({ kind: 'smtp', target: `smtp://${rest}`, tls: 'required' }),
};

/** Takes the endpoints of a configuration of Gatus. */
export function fromGatus(file: Fields): Taken {
  const collection = new Collection();
  for (const endpoint of listOf(file['endpoints'])) {
    takeEndpoint(endpoint, collection);
  }
  for (const external of listOf(file['external-endpoints'])) {
    const interval = secondsOf(fieldsOf(external['heartbeat'])['interval']);
    if (interval === undefined) {
      collection.leave(nameOf(external), 'its results are pushed without a heartbeat interval');
    } else {
      collection.heartbeat(nameOf(external), { period_s: within(interval, 30, 31_622_400) });
    }
  }
  return collection.taken;
}

const nameOf = ({ group, name }: Fields): string =>
  [textOf(group), textOf(name) ?? 'endpoint'].filter((part) => part !== undefined).join(' ');

function takeEndpoint(endpoint: Fields, collection: Collection): void {
  const name = nameOf(endpoint);
  const url = textOf(endpoint['url']) ?? '';
  const dns = fieldsOf(endpoint['dns']);
  const where = Object.keys(dns).length > 0 ? dnsDraft(dns, url) : addressDraft(url);
  if (where === undefined) {
    collection.leave(name, `svc has no check for ${url.split('://', 1)[0] || 'its address'}`);
    return;
  }
  const { kept, left } = conditionsOf(textsOf(endpoint['conditions']));
  left.forEach((why) => collection.leave(name, why));
  const client = fieldsOf(endpoint['client']);
  const interval = secondsOf(endpoint['interval']);
  const timeout = secondsOf(client['timeout']);
  const isHttp = /^https?:/.test(url);
  const method = textOf(endpoint['method']);
  const body = textOf(endpoint['body']);
  if (endpoint['graphql'] === true || endpoint['ssh'] !== undefined) {
    collection.leave(name, 'graphql and ssh are not taken');
  }
  collection.check(name, {
    ...where,
    conditions: kept,
    interval_s: within(interval ?? 60, 10, 86_400),
    ...(timeout !== undefined && { timeout_s: within(timeout, 1, 60) }),
    ...(isHttp && method !== undefined && { method: method.toUpperCase() }),
    ...(isHttp && body !== undefined && { body }),
    ...(/^wss?:/.test(url) && body !== undefined && { send: body }),
    ...headersOf(endpoint, /^(?:http|ws)s?:/.test(url)),
    ...(isHttp && client['ignore-redirect'] === true && { max_redirects: 0 }),
    ...(client['insecure'] === true && where['kind'] !== 'tcp' && where['kind'] !== 'ping'
      ? { insecure: true }
      : {}),
    ...(endpoint['enabled'] === false && { paused: true }),
  });
}

function addressDraft(url: string): Draft | undefined {
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.+)$/.exec(url) ?? [];
  return Object.hasOwn(schemes, scheme) ? schemes[scheme]!(rest, url) : undefined;
}

const dnsDraft = (dns: Fields, url: string): Draft => ({
  kind: 'dns',
  target: (textOf(dns['query-name']) ?? '').replace(/\.$/, ''),
  record_type: textOf(dns['query-type']) ?? 'A',
  ...(url !== '' && { server: url.replace(/^[a-z]+:\/\//, '') }),
});

function headersOf({ headers }: Fields, isKnown: boolean): Draft {
  const entries = Object.entries(fieldsOf(headers)).map(([name, value]) => [name, String(value)]);
  return isKnown && entries.length > 0 ? { headers: Object.fromEntries(entries) as Draft } : {};
}

/** Conditions have the same language, but for placeholders that svc has no value for. */
function conditionsOf(texts: readonly string[]): {
  readonly kept: readonly string[];
  readonly left: readonly string[];
} {
  const judged = texts.map((text) => ({ text, condition: conditionOf(text) }));
  return {
    kept: judged.flatMap(({ text, condition }) => ('fault' in condition ? [] : [text])),
    left: judged.flatMap(({ text, condition }) =>
      'fault' in condition ? [`condition ${text}: ${condition.fault.split(';', 1)[0]}`] : [],
    ),
  };
}

/** An endpoint does not say which domain it means; svc watches domains by checks of their own. */
const conditionOf = (text: string): ReturnType<typeof parseCondition> =>
  text.includes('[DOMAIN_EXPIRATION]')
    ? { fault: 'add a check of kind domain instead' }
    : parseCondition(text);
