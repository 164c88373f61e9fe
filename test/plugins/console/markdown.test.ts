import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { importSource } from '../../import-source.ts';

interface Shown {
  readonly type: string | ((props: object) => unknown);
  readonly props: { readonly children?: unknown };
}

/** Modules imported by name alone: their types would bring those of browsers into all tests. */
const [preact, component] = [
  'preact',
  fileURLToPath(new URL('../../../plugins/console/web/kit/markdown.tsx', import.meta.url)),
];

/** Elements of a page as text in which the kinds of elements are seen. */
function drawn(shown: unknown): string {
  if (Array.isArray(shown)) {
    return shown.map(drawn).join('');
  }
  if (shown === null || typeof shown !== 'object') {
    return typeof shown === 'string' ? shown : '';
  }
  const { type, props } = shown as Shown;
  if (typeof type === 'function') {
    return drawn(type(props));
  }
  return `<${type}>${drawn(props.children)}</${type}>`;
}

/** The component itself, for which a page is pretended that has nothing but an address. */
async function markdown(): Promise<(text: string) => string> {
  const { h: createElement, Fragment } = (await import(preact)) as Readonly<
    Record<string, unknown>
  >;
  Object.assign(globalThis, {
    location: { pathname: '/', search: '' },
    addEventListener: () => undefined,
    React: { createElement, Fragment },
  });
  const { Markdown } = (await importSource(component)) as {
    readonly Markdown: (props: { readonly text: string }) => unknown;
  };
  return (text) => drawn(Markdown({ text }));
}

test('signs behind a backslash are themselves in the console, and no marks', async () => {
  const page = await markdown();
  assert.equal(
    page(String.raw`CRON\[4211\]: a\_b \*c\* \<d\> http:\/\/evil.example`),
    '<div><p>CRON[4211]: a_b *c* <d> http://evil.example</p></div>',
  );
  assert.equal(
    page('It is full [E12], see [E2](https://a.example) and [EX].'),
    '<div><p>It is full <a>[E12]</a>, see <a>E2</a> and [EX].</p></div>',
  );
  assert.equal(
    page(String.raw`[Look at \[x\]](/ui/logs?q=x): **a\_b**`),
    '<div><p><a>Look at [x]</a>: <strong>a_b</strong></p></div>',
  );
  assert.equal(
    page('- E1 metrics\n\n  ```\n  up{a="b"}\n  ```\n- E2'),
    '<div><ul><li><p>E1 metrics</p><pre>up{a="b"}</pre></li><li>E2</li></ul></div>',
  );
});
