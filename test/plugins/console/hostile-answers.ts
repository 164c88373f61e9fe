import type { Page } from 'playwright-core';

import { hostile } from './hostile.ts';
import { faultsOf } from './look.ts';

/** What decides how a page is drawn, or where it leads next; all other text of an answer may have been written by strangers. */
const kept = [
  ...[
    'id',
    'uid',
    'next_cursor',
    'result_type',
    'resultType',
    'type',
    'status',
    'state',
    'kind',
    'severity',
    'match_severity_min',
    'source',
    'role',
    'grants',
  ],
  ...[
    'access_token',
    'refresh_token',
    'token_type',
    'rooms',
    'script',
    'channel_type',
    'source_type',
    'scope_type',
    'join_mode',
    'verdict',
    'binding',
    'class',
    'outcome',
  ],
  ...[
    'trace_id',
    'traceID',
    'span_id',
    'spanID',
    'path',
    'plugin',
    'session',
    'args_sha256',
    'rule_key',
    'matcher',
    'op',
    'unit',
  ],
  ...['operationId', '$ref', 'in', 'format', 'x-svc-access', 'x-svc-devices'],
];

/** Whose names are written by strangers as well: one more of them is put in. */
const namedByOthers = ['labels', 'annotations', 'tags', 'metric', 'stream', 'attributes', 'fields'];

/**
 * For a page, before its own scripts: every text of every answer, and of every event that is streamed, becomes one of the hostile strings, another
 * one each time; `globalThis.shift` says which is the first, and `globalThis.refuses` makes every answer a refusal in such words. What a page
 * does with an address, a time or the name of a state is not what is looked at here.
 */
export const hostileAnswers = `(() => {
  const texts = ${JSON.stringify(hostile)};
  const kept = new Set(${JSON.stringify(kept)});
  const namedByOthers = new Set(${JSON.stringify(namedByOthers)});
  const plain = /^$|^\\d{4}-\\d\\d-\\d\\dT|^[-+]?[\\d.]+(?:e[-+]?\\d+)?$|^(?:NaN|[-+]?Inf)$/;
  globalThis.shift = 0;
  globalThis.refuses = false;
  let next = 0;
  const another = () => texts[(globalThis.shift + next++) % texts.length];
  const changed = (value, name) => {
    if (typeof value === 'string') {
      return kept.has(name) || plain.test(value) ? value : another();
    }
    if (Array.isArray(value)) {
      return value.map((one) => changed(one, name));
    }
    if (value === null || typeof value !== 'object') {
      return value;
    }
    const more = namedByOthers.has(name) ? [[another(), another()]] : [];
    return Object.fromEntries([...Object.entries(value).map(([key, one]) => [key, changed(one, key)]), ...more]);
  };
  const changedLine = (line) => {
    try {
      return line.startsWith('data: {') ? 'data: ' + JSON.stringify(changed(JSON.parse(line.slice(6)), '')) : line;
    } catch {
      return line;
    }
  };
  const changedEvents = () => {
    let rest = '';
    return new TransformStream({
      transform(text, out) {
        const lines = (rest + text).split('\\n');
        rest = lines.pop();
        lines.forEach((line) => out.enqueue(changedLine(line) + '\\n'));
      },
    });
  };
  const real = globalThis.fetch;
  globalThis.fetch = async (...asked) => {
    const answer = await real(...asked);
    const type = answer.headers.get('content-type') ?? '';
    if (/\\/auth\\/|\\/console\\/(?:live|start)|\\/me\\b/.test(String(asked[0]))) {
      return answer;
    }
    const { status, headers } = answer;
    next = 0;
    if (globalThis.refuses && !/\\/console\\//.test(String(asked[0]))) {
      const details = [{ path: another(), message: another() }, { path: another(), message: another() }];
      return new Response(JSON.stringify({ error: 'invalid_argument', message: another(), details }), { status: 400, headers });
    }
    if (type.startsWith('text/event-stream')) {
      return new Response(answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(changedEvents()).pipeThrough(new TextEncoderStream()), { status, headers });
    }
    return type.startsWith('application/json') ? new Response(JSON.stringify(changed(await answer.json(), '')), { status, headers }) : answer;
  };
})()`;

/** Loads the page again: what it knows of answers it goes on showing, and refusals of the same would not be seen. */
export async function forgetAnswers(page: Page): Promise<void> {
  await page.reload();
  await page.getByRole('button', { name: 'Search or jump to' }).waitFor();
}

/** What is wrong with a page that shows such texts, and how many of them it shows. */
export async function lookedAt(
  page: Page,
): Promise<{ readonly faults: readonly string[]; readonly shown: number }> {
  const [ran, wrong, shown] = await page.evaluate<[unknown, readonly string[], number]>(
    `(() => {
      const bad = ['img', 'iframe', 'script', 'style', 'base', 'meta', 'link', 'form[action]', 'math', '[onclick]', 'a[href^="javascript"]', 'a[href^="data"]', 'a[href^="http"]:not([rel~="noopener"])'];
      const elements = [...document.querySelectorAll(bad.map((one) => 'main ' + one + ', nav ' + one + ', dialog ' + one).join(', '))];
      return [globalThis.ran, elements.map((element) => element.outerHTML.slice(0, 200)), (document.querySelector('main').innerText.match(/globalThis|\\[U\\+|␛|evil\\.example|مرحبا|שלום|␀/g) ?? []).length];
    })()`,
  );
  const faults = [
    ...(ran === undefined ? [] : ['ran what others wrote']),
    ...wrong.map((html) => `made an element of it: ${html}`),
    ...(await faultsOf(page)),
  ];
  return { faults, shown };
}
