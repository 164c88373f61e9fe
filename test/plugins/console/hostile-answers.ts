import type { Page } from 'playwright-core';

import { hostile } from './hostile.ts';
import { faultsOf } from './look.ts';

/**
 * Fields that decide how a page is drawn, or where it leads next; all other text of an answer may
 * have been written by strangers.
 */
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

/** Objects whose keys are written by strangers as well: one more is added. */
const namedByOthers = ['labels', 'annotations', 'tags', 'metric', 'stream', 'attributes', 'fields'];

/**
 * Script for a page, run before its own: every text of every answer, and of every streamed event,
 * becomes one of the hostile strings, a different one each time; `globalThis.shift` selects the
 * first, and `globalThis.refuses` makes every answer an error with such text. It does not test what
 * a page does with an address, a time or the name of a state.
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

/** Reloads the page: it keeps showing known answers, which would hide refusals. */
export async function forgetAnswers(page: Page): Promise<void> {
  await page.reload();
  await page.getByRole('button', { name: 'Search or jump to' }).waitFor();
}

/** Returns what is wrong with a page that shows such texts, and how many it shows. */
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
