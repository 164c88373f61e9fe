import {
  Collection,
  type Draft,
  type Fields,
  fieldsOf,
  listOf,
  numberOf,
  type Taken,
  textOf,
  textsOf,
  within,
} from './taken.ts';

/** Takes the monitors of a backup of Uptime Kuma. */
export function fromKuma(file: Fields): Taken {
  const collection = new Collection();
  const monitors = listOf(file['monitorList']);
  const groups = new Map(monitors.map((monitor) => [monitor['id'], monitor]));
  for (const monitor of monitors) {
    const own = textOf(monitor['name']) ?? `monitor ${String(monitor['id'])}`;
    const group = textOf(groups.get(monitor['parent'])?.['name']);
    takeMonitor(
      group === undefined ? own : `${group} ${own}`,
      { ...monitor, active: !isResting(monitor, groups) },
      collection,
    );
  }
  const notifications = listOf(file['notificationList']);
  if (notifications.length > 0) {
    collection.leave('notifications', `${notifications.length} channels; set them up in svc`);
  }
  return collection.taken;
}

/** A group that is paused pauses its members, and theirs. */
function isResting(monitor: Fields, groups: ReadonlyMap<unknown, Fields>): boolean {
  const above = new Set<Fields>();
  for (let at: Fields | undefined = monitor; at && !above.has(at); at = groups.get(at['parent'])) {
    if (isOff(at['active'])) {
      return true;
    }
    above.add(at);
  }
  return false;
}

function takeMonitor(name: string, monitor: Fields, collection: Collection): void {
  const type = textOf(monitor['type']) ?? '';
  const interval = within(numberOf(monitor['interval']) ?? 60, 10, 86_400);
  if (type === 'group') {
    // Its name is in front of those of its members.
    return;
  }
  if (type === 'push') {
    const retries = numberOf(monitor['maxretries']) ?? 0;
    collection.heartbeat(name, {
      period_s: Math.max(30, interval),
      grace_s: within(interval * retries, 10, 604_800),
    });
    return;
  }
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (kind === undefined) {
    collection.leave(name, `svc has no check for monitors of type ${type || 'unknown'}`);
    return;
  }
  if (isOn(monitor['upsideDown'])) {
    collection.leave(name, 'it is upside down: up while its address does not answer');
    return;
  }
  const { left = [], ...draft } = kind(monitor);
  left.forEach((why) => collection.leave(name, why));
  if (Array.isArray(monitor['conditions']) && monitor['conditions'].length > 0) {
    collection.leave(name, 'its conditions; write them as conditions of svc');
  }
  const timeout = numberOf(monitor['timeout']);
  const family = families[textOf(monitor['ipFamily']) ?? ''];
  collection.check(name, {
    ...draft,
    interval_s: interval,
    retries: within(numberOf(monitor['maxretries']) ?? 0, 0, 5),
    ...(timeout !== undefined && timeout > 0 && { timeout_s: within(timeout, 1, 60) }),
    ...(isOn(monitor['ignoreTls']) && httpTypes.includes(type) && { insecure: true }),
    ...(family !== undefined && { ip: family }),
    ...(isOff(monitor['active']) && { paused: true }),
  });
}

const isOff = (value: unknown): boolean => value === false || value === 0;
const isOn = (value: unknown): boolean => value === true || value === 1;

type Kind = (monitor: Fields) => Draft & { readonly left?: readonly string[] };

const families: Readonly<Record<string, string>> = { ipv4: '4', ipv6: '6' };
const httpTypes = ['http', 'keyword', 'json-query'];

const kinds: Readonly<Record<string, Kind>> = {
  http: (monitor) => httpDraft(monitor, []),
  keyword: (monitor) => {
    const keyword = textOf(monitor['keyword']) ?? '';
    const comparison = isOn(monitor['invertKeyword']) ? '!=' : '==';
    return httpDraft(monitor, [`[BODY] ${comparison} pat(*${keyword}*)`]);
  },
  'json-query': (monitor) => {
    const path = /^\$?\.?((?:[\w-]+|\[\d+\])(?:\.[\w-]+|\[\d+\])*)$/.exec(
      textOf(monitor['jsonPath']) ?? '',
    )?.[1];
    const operator = textOf(monitor['jsonPathOperator']) ?? '==';
    const isKnown = path !== undefined && ['==', '!=', '<', '<=', '>', '>='].includes(operator);
    if (isKnown) {
      return httpDraft(monitor, [
        `[BODY]${path.startsWith('[') ? '' : '.'}${path} ${operator} ${String(monitor['expectedValue'])}`,
      ]);
    }
    const { left = [], ...draft } = httpDraft(monitor, []);
    const why = 'its JSON query is an expression; add a condition such as [BODY].status == ok';
    return { ...draft, left: [...left, why] };
  },
  port: (monitor) => ({ kind: 'tcp', target: hostPort(monitor) }),
  ping: ({ hostname }) => ({ kind: 'ping', target: textOf(hostname) ?? '' }),
  dns: ({ hostname, dns_resolve_type: type, dns_resolve_server: server, port }) => ({
    kind: 'dns',
    target: textOf(hostname) ?? '',
    record_type: textOf(type) ?? 'A',
    ...(textOf(server) !== undefined && {
      server: `${textOf(server)!.split(',', 1)[0]!.trim()}:${numberOf(port) ?? 53}`,
    }),
  }),
  smtp: (monitor) => ({
    target: `${monitor['smtpSecurity'] === 'secure' ? 'smtps' : 'smtp'}://${hostPort(monitor, 25)}`,
    ...(monitor['smtpSecurity'] === 'starttls' && { tls: 'required' }),
  }),
  'websocket-upgrade': ({ url, wsSubprotocol: subprotocol }) => ({
    target: textOf(url) ?? '',
    ...(textOf(subprotocol) !== undefined && {
      headers: { 'Sec-WebSocket-Protocol': textOf(subprotocol) },
    }),
  }),
  mqtt: (monitor) => ({
    target: `mqtt://${hostPort({ ...monitor, hostname: textOf(monitor['hostname'])?.replace(/^mqtts?:\/\//, '') }, 1883)}`,
    ...login(textOf(monitor['mqttUsername']), textOf(monitor['mqttPassword'])),
    left: ['the topic that it waits for; svc connects and leaves'],
  }),
  'grpc-keyword': ({ grpcUrl, grpcServiceName: service, grpcEnableTls: tls }) => ({
    target: `${isOn(tls) ? 'grpcs' : 'grpc'}://${(textOf(grpcUrl) ?? '').replace(/^\w+:\/\//, '')}${textOf(service) === undefined ? '' : `/${textOf(service)}`}`,
    left: ['its method and keyword; svc asks for the health of the service'],
  }),
  postgres: (monitor) => databaseDraft(monitor, true),
  mysql: (monitor) => databaseDraft(monitor, false),
  redis: (monitor) => databaseDraft(monitor, false),
};

const hostPort = ({ hostname, port }: Fields, usual?: number): string =>
  `${textOf(hostname) ?? ''}:${textOf(port) ?? usual ?? ''}`;

const login = (username: string | undefined, password: string | undefined): Draft => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
});

/** A connection string is an address with a login in front of the host. */
function databaseDraft(monitor: Fields, hasQuery: boolean): ReturnType<Kind> {
  const text = textOf(monitor['databaseConnectionString']) ?? '';
  if (!URL.canParse(text)) {
    return { target: text, left: ['its connection string is no URL'] };
  }
  const url = new URL(text);
  const [username, written] = [url.username, url.password].map((part) => decodeURIComponent(part));
  // That of MySQL is in a field that was made for RADIUS.
  const password = written || textOf(monitor['radiusPassword']);
  const query = textOf(monitor['databaseQuery']);
  return {
    target: `${url.protocol}//${url.host}${url.protocol.startsWith('redis') ? '' : url.pathname}`,
    ...login(username || undefined, password),
    ...(hasQuery && query !== undefined && { send: query }),
    ...(!hasQuery && query !== undefined && { left: ['its query; svc sends a ping'] }),
  };
}

function httpDraft(monitor: Fields, more: readonly string[]): ReturnType<Kind> {
  const { conditions, left } = codesOf(textsOf(monitor['accepted_statuscodes']));
  const [user, password] = [monitor['basic_auth_user'], monitor['basic_auth_pass']].map(textOf);
  const { headers, problem } = headersOf(textOf(monitor['headers']));
  const method = textOf(monitor['method']);
  const body = textOf(monitor['body']);
  const redirects = numberOf(monitor['maxredirects']);
  const auth = textOf(monitor['authMethod']);
  const token = textOf(monitor['bearer_token']);
  const all = {
    ...headers,
    ...(auth === 'bearer' && token !== undefined && { authorization: `Bearer ${token}` }),
    ...(user !== undefined && {
      authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}`,
    }),
  };
  return {
    target: textOf(monitor['url']) ?? '',
    conditions: [...conditions, ...more],
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...(body !== undefined && { body }),
    ...(Object.keys(all).length > 0 && { headers: all }),
    ...(redirects !== undefined && { max_redirects: within(redirects, 0, 10) }),
    left: [
      ...left,
      ...(problem === undefined ? [] : [problem]),
      ...(auth !== undefined && !['basic', 'bearer'].includes(auth)
        ? [`its login by ${auth}`]
        : []),
      ...(numberOf(monitor['proxyId']) === undefined ? [] : ['its proxy']),
    ],
  };
}

/** Ranges such as 200-299 that follow each other are one; codes alone are a list. */
function codesOf(texts: readonly string[]): {
  readonly conditions: readonly string[];
  readonly left: readonly string[];
} {
  const ranges = texts
    .map((text) => /^(\d{3})(?:-(\d{3}))?$/.exec(text))
    .filter((found) => found !== null)
    .map(([, from, to]) => [Number(from), Number(to ?? from)] as const)
    .toSorted(([a], [b]) => a - b);
  const odd = texts.filter((text) => !/^\d{3}(?:-\d{3})?$/.test(text));
  const unread = odd.length === 0 ? [] : [`its status codes ${odd.join(', ')}`];
  const [first] = ranges;
  if (first === undefined) {
    return { conditions: ['[STATUS] >= 200', '[STATUS] < 300'], left: unread };
  }
  if (ranges.every(([from, to]) => from === to)) {
    const codes = ranges.map(([code]) => code);
    return {
      conditions: [`[STATUS] == ${codes.length === 1 ? codes[0] : `any(${codes.join(', ')})`}`],
      left: unread,
    };
  }
  const last = ranges.reduce((end, [, to]) => Math.max(end, to), 0);
  const isWhole = ranges.every(([from], at) => at === 0 || from <= ranges[at - 1]![1] + 1);
  return {
    conditions: [`[STATUS] >= ${first[0]}`, `[STATUS] <= ${last}`],
    left: isWhole
      ? unread
      : [...unread, `status codes between its ranges ${texts.join(', ')} count as well`],
  };
}

function headersOf(text: string | undefined): {
  readonly headers: Draft;
  readonly problem?: string;
} {
  if (text === undefined) {
    return { headers: {} };
  }
  try {
    const entries = Object.entries(fieldsOf(JSON.parse(text)));
    return { headers: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])) };
  } catch {
    return { headers: {}, problem: 'its headers, which are not valid JSON' };
  }
}
