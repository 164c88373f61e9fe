/*
 * Functions that run in the page, in a world of their own: scripts of the page cannot change what they use. They are text,
 * because nothing of this process is there. Each returns `{ ok: … }`, or `{ why }` as long as it cannot do its work.
 */

const first = `
  const seen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
  const find = (selector) => {
    let all;
    try { all = [...document.querySelectorAll(selector)]; }
    catch { return { never: selector + ' is not a valid selector' }; }
    if (all.length === 0) return { why: 'no element matches ' + selector };
    const element = all.find(seen);
    return element === undefined ? { why: 'the element ' + selector + ' is not visible' } : { element };
  };`;

const of = (parameters: string, body: string): string =>
  `function (${parameters}) {${first}\n${body}\n}`;

/** Tells whether the document and all of it has loaded, and the status by which the server answered. */
export const loaded = of(
  '',
  `return document.readyState === 'complete'
    ? { ok: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0 }
    : { why: 'the page does not finish loading' };`,
);

/** Finds the point at which to click on an element. */
export const pointOf = of(
  'selector',
  `const { element, ...none } = find(selector);
  if (element === undefined) return none;
  if (element.disabled) return { why: 'the element ' + selector + ' is disabled' };
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const { left, top, width, height } = element.getClientRects()[0];
  const [x, y] = [left + width / 2, top + height / 2];
  const hit = document.elementFromPoint(x, y);
  const isHit = hit !== null && (element.contains(hit) || hit.contains(element) || [...(element.labels ?? [])].some((label) => label.contains(hit)));
  return isHit ? { ok: { x, y } } : { why: 'another element covers ' + selector };`,
);

/** Puts the cursor into an element, with its text selected; chooses from a list by itself. */
export const focused = of(
  'selector, text',
  `const { element, ...none } = find(selector);
  if (element === undefined) return none;
  if (element.disabled || element.readOnly) return { why: 'the element ' + selector + ' is disabled' };
  element.focus();
  if (element instanceof HTMLSelectElement) {
    const option = [...element.options].find((one) => one.value === text || one.label === text);
    if (option === undefined) return { why: 'the list ' + selector + ' has no such choice' };
    element.value = option.value;
    element.dispatchEvent(new Event('input', { bubbles: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
    return { ok: 'chosen' };
  }
  if (element.select) element.select();
  else if (element.isContentEditable) getSelection().selectAllChildren(element);
  else return { never: 'the element ' + selector + ' takes no text' };
  return { ok: 'focused' };`,
);

export const visible = of(
  'selector',
  `const { element, ...none } = find(selector);
  return element === undefined ? none : { ok: true };`,
);

export const hasText = of(
  'text',
  `return document.body?.innerText.includes(text) ? { ok: true } : { why: 'the page does not have the text' };`,
);

export const titleAndUrl = of(
  '',
  `return { ok: { title: document.title.slice(0, 2000), url: location.href.slice(0, 2000) } };`,
);

/** Empties the elements that were filled with secrets, so that no picture shows them. */
export const emptied = of(
  'selectors',
  `for (const selector of selectors) for (const element of document.querySelectorAll(selector)) {
    if ('value' in element) element.value = '';
    else element.textContent = '';
  }
  return { ok: true };`,
);
