import type { Page } from 'playwright-core';

/** Reports every button that is seen, and every one that is pressed, by the page it stands on and by what it says. */
const watch = `(() => {
  const said = new Set();
  const tell = (kind, button) => {
    if (!button || button.matches('.rowlink, .log-line > button, .waterfall button, [role="option"]')) {
      return;
    }
    const frame = button.closest('.bar, .notices, nav.side');
    const own = (button.getAttribute('aria-label') ?? button.innerText).replaceAll(/\\s+/g, ' ').trim();
    const page = frame ? 'frame' : location.pathname.split('/')[2] ?? (document.querySelector('.welcome') ? 'welcome' : 'overview');
    const key = kind + ' ' + page + ': ' + own;
    if (own !== '' && !said.has(key)) {
      said.add(key);
      globalThis.tellButton(kind, page + ': ' + own);
    }
  };
  const look = () => document.querySelectorAll('button').forEach((button) => button.checkVisibility() && !button.disabled && tell('seen', button));
  let waits = false;
  new MutationObserver(() => {
    if (!waits) {
      waits = true;
      setTimeout(() => { waits = false; look(); }, 30);
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled', 'aria-label'] });
  addEventListener('click', ({ target }) => tell('pressed', target.closest('button')), true);
})()`;

/** Patterns of button texts that contain data: each counts as one button. */
const oneOfMany: readonly (readonly [RegExp, string])[] = [
  [/^[a-z]+: (Close|Copy|Copied|Try again|Show more)$/, 'any: $1'],
  [/: Copied$/, ': Copy'],
  [/: Show as table: .*/, ': Show as table'],
  [/: .*: (Enabled|Disabled)$/, ': $1'],
  [
    /^(dashboards): (Edit|Move|Resize|Remove|Duplicate) (?!dashboard$|variable$).+$/,
    '$1: $2 one panel',
  ],
  [/^(dashboards): ((?:Restore v|V)ersion) \d+$/, '$1: $2'],
  [/^(dashboards): (Open|Close) .+$/, '$1: $2 a row'],
  [/^(frame): \S{1,2}, account menu$/, '$1: account menu'],
  [/^(silences): \S+ =~? .+ \d+ now, \d+ in a day$/, '$1: take a label'],
  [/^(silences): (?:all day|\d\d:\d\d–\d\d:\d\d) .*/, '$1: edit an entry'],
  [/^(agents): [a-z]+_\w+$/, '$1: run a skill'],
  [/^(packs): Roll back to .*/, '$1: Roll back to a version'],
  [/^(frame): Search or jump.*/, '$1: Search or jump'],
];

/** A switch is one button in two states. */
const told = (key: string): string =>
  oneOfMany.reduce((text, [pattern, to]) => text.replace(pattern, to), key);

export class Presses {
  readonly seen = new Set<string>();
  readonly pressed = new Set<string>();

  /** Starts recording, before the page is opened. */
  async follow(page: Page): Promise<void> {
    await page.exposeFunction('tellButton', (kind: 'seen' | 'pressed', key: string) => {
      this[kind].add(told(key));
      // It may be gone again before it is looked for.
      this.seen.add(told(key));
    });
    await page.addInitScript(watch);
  }

  /** Buttons that stood on a page and that nobody pressed. */
  left(): readonly string[] {
    return [...this.seen].filter((key) => !this.pressed.has(key)).toSorted();
  }
}
