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

/** Takes the targets that Prometheus probes through blackbox_exporter, by the modules of that. */
export function fromBlackbox(prometheus: Fields, exporter: Fields): Taken {
  const collection = new Collection();
  const modules = fieldsOf(exporter['modules']);
  const usual = secondsOf(fieldsOf(prometheus['global'])['scrape_interval']) ?? 60;
  for (const job of listOf(prometheus['scrape_configs'])) {
    const jobName = textOf(job['job_name']) ?? 'job';
    const [name] = textsOf(fieldsOf(job['params'])['module']);
    if (name === undefined) {
      // It scrapes, and does not probe.
      continue;
    }
    if (!Object.hasOwn(modules, name)) {
      collection.leave(jobName, `its module ${name} is not in the file of modules`);
      continue;
    }
    const targets = listOf(job['static_configs']).flatMap(({ targets: some }) => textsOf(some));
    if (targets.length === 0) {
      collection.leave(jobName, 'its targets are discovered; only static_configs are taken');
    }
    const interval = within(secondsOf(job['scrape_interval']) ?? usual, 10, 86_400);
    for (const target of targets) {
      takeTarget(target, fieldsOf(modules[name]), interval, collection);
    }
  }
  return collection.taken;
}

type Prober = (target: string, settings: Fields) => { draft: Draft; left: readonly string[] };

const probers: Readonly<Record<string, Prober>> = {
  http(target, settings) {
    const codes = textsOf(settings['valid_status_codes']);
    const patterns = textsOf(settings['fail_if_body_not_matches_regexp']);
    const words = patterns.filter((pattern) => /^[\w -]+$/.test(pattern));
    const { username, password } = fieldsOf(settings['basic_auth']);
    const headers = {
      ...fieldsOf(settings['headers']),
      ...(textOf(username) !== undefined && {
        authorization: `Basic ${Buffer.from(`${String(username)}:${textOf(password) ?? ''}`).toString('base64')}`,
      }),
    };
    const method = textOf(settings['method']);
    const unknown = ['fail_if_body_matches_regexp', 'fail_if_header_matches', 'oauth2'];
    return {
      draft: {
        target: /^https?:\/\//.test(target) ? target : `http://${target}`,
        conditions: [
          ...(codes.length === 0
            ? ['[STATUS] >= 200', '[STATUS] < 300']
            : [`[STATUS] == any(${codes.join(', ')})`]),
          ...words.map((word) => `[BODY] == pat(*${word}*)`),
        ],
        ...(method !== undefined && { method: method.toUpperCase() }),
        ...(Object.keys(headers).length > 0 && { headers }),
        max_redirects: settings['follow_redirects'] === false ? 0 : 10,
      },
      left: [
        ...patterns.filter((pattern) => !words.includes(pattern)).map((one) => `pattern ${one}`),
        ...unknown.filter((field) => settings[field] !== undefined),
      ],
    };
  },
  tcp: (target, settings) => ({
    draft: { kind: settings['tls'] === true ? 'tls' : 'tcp', target },
    left: settings['query_response'] === undefined ? [] : ['query_response'],
  }),
  icmp: (target) => ({ draft: { kind: 'ping', target }, left: [] }),
  dns: (target, settings) => ({
    draft: {
      kind: 'dns',
      target: (textOf(settings['query_name']) ?? '').replace(/\.$/, ''),
      record_type: textOf(settings['query_type']) ?? 'A',
      server: target,
    },
    left: [],
  }),
  grpc: (target, settings) => ({
    draft: {
      target: `${settings['tls'] === true ? 'grpcs' : 'grpc'}://${target}${textOf(settings['service']) === undefined ? '' : `/${textOf(settings['service'])}`}`,
    },
    left: [],
  }),
};

function takeTarget(
  target: string,
  module: Fields,
  interval: number,
  collection: Collection,
): void {
  const prober = textOf(module['prober']) ?? '';
  const settings = fieldsOf(module[prober]);
  const take = Object.hasOwn(probers, prober) ? probers[prober] : undefined;
  if (take === undefined) {
    collection.leave(target, `svc has no prober ${prober}`);
    return;
  }
  const { draft, left } = take(target, settings);
  left.forEach((what) => collection.leave(target, what));
  const timeout = secondsOf(module['timeout']);
  const tls = fieldsOf(settings['tls_config']);
  const serverName = textOf(tls['server_name']);
  const mayHaveTls = draft['kind'] === 'tls' || ['http', 'grpc'].includes(prober);
  collection.check(target.replace(/^https?:\/\//, ''), {
    ...draft,
    interval_s: interval,
    retries: 0,
    ...(timeout !== undefined && { timeout_s: within(timeout, 1, 60) }),
    ...(mayHaveTls && tls['insecure_skip_verify'] === true && { insecure: true }),
    ...(mayHaveTls && serverName !== undefined && { server_name: serverName }),
  });
}
