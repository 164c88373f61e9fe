import { hostile } from './hostile.ts';

/** What decides how a page is drawn, or where it leads next; all other text of an answer may have been written by strangers. */
const kept = [
  ...['id', 'uid', 'next_cursor', 'result_type', 'resultType', 'type', 'status', 'state', 'kind', 'severity', 'match_severity_min', 'source', 'role', 'grants'],
  ...[
    'access_token',
    'refresh_token',
    'token_type',
    'rooms',
    'channel_type',
    'source_type',
    'scope_type',
    'join_mode',
    'verdict',
    'binding',
    'class',
    'outcome',
  ],
  ...['trace_id', 'traceID', 'span_id', 'spanID', 'path', 'plugin', 'session', 'args_sha256', 'rule_key', 'matcher', 'op', 'unit'],
];

/**
 * For a page, before its own scripts: every text of every answer becomes one of the hostile strings, another one each time, `globalThis.shift`
 * says which is the first. What a page does with an address, a time or the name of a state is not what is looked at here.
 */
export const hostileAnswers = `(() => {
  const texts = ${JSON.stringify(hostile)};
  const kept = new Set(${JSON.stringify(kept)});
  const plain = /^$|^\\d{4}-\\d\\d-\\d\\dT|^[-+]?[\\d.]+(?:e[-+]?\\d+)?$|^(?:NaN|[-+]?Inf)$/;
  globalThis.shift = 0;
  let next = 0;
  const changed = (value, name) => {
    if (typeof value === 'string') {
      return kept.has(name) || plain.test(value) ? value : texts[(globalThis.shift + next++) % texts.length];
    }
    if (Array.isArray(value)) {
      return value.map((one) => changed(one, name));
    }
    return value === null || typeof value !== 'object' ? value : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changed(one, key)]));
  };
  const real = globalThis.fetch;
  globalThis.fetch = async (...asked) => {
    const answer = await real(...asked);
    const isJson = (answer.headers.get('content-type') ?? '').startsWith('application/json');
    if (!isJson || !answer.ok || /\\/(?:auth|me|console)\\b/.test(String(asked[0]))) {
      return answer;
    }
    next = 0;
    return new Response(JSON.stringify(changed(await answer.json(), '')), { status: answer.status, headers: answer.headers });
  };
})()`;
