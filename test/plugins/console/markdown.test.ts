import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Fragment, h, type VNode } from 'preact';

type Shown = VNode<{ readonly children?: unknown; readonly text?: string }>;

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
    return drawn((type as (props: object) => unknown)(props));
  }
  return `<${type}>${drawn(props.children)}</${type}>`;
}

/** The component itself, for which a page is pretended that has nothing but an address. */
async function markdown(): Promise<(text: string) => string> {
  Object.assign(globalThis, {
    location: { pathname: '/', search: '' },
    addEventListener: () => undefined,
    React: { createElement: h, Fragment },
  });
  const file = new URL('../../../plugins/console/web/kit/markdown.tsx', import.meta.url).href;
  const { Markdown } = (await import(file)) as { readonly Markdown: (props: { readonly text: string }) => unknown };
  return (text) => drawn(Markdown({ text }));
}

test('signs behind a backslash are themselves in the console, and no marks', async () => {
  const page = await markdown();
  assert.equal(page(String.raw`CRON\[4211\]: a\_b \*c\* \<d\> http:\/\/evil.example`), '<div><p>CRON[4211]: a_b *c* <d> http://evil.example</p></div>');
  assert.equal(page(String.raw`[Look at \[x\]](/ui/logs?q=x): **a\_b**`), '<div><p><a>Look at [x]</a>: <strong>a_b</strong></p></div>');
  assert.equal(page('- E1 metrics\n\n  ```\n  up{a="b"}\n  ```\n- E2'), '<div><ul><li><p>E1 metrics</p><pre>up{a="b"}</pre></li><li>E2</li></ul></div>');
});
